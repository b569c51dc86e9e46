//! Reads responses: from bytes to samples.

use vervet_engine::reactor::{Closing, Io};
use vervet_http::field::FieldSlots;
use vervet_http::h1::state::Persistence;
use vervet_http::h1::{AnswerHead, ContentLength};
use vervet_report::ErrorClass;

use super::connection::{ANSWER_CONTENT_BYTES_MAX, AnswerEvent, Connection, Persists};
use super::stats::Sample;
use super::users::Users;
use crate::check::CompiledCheck;
use crate::script::{Answer, ContentOfAnswer, Verdict};

/// Less is read in any case: two more calls cost as much as copying this.
const DISCARD_BYTES_MIN: u64 = 16 << 10;

/// The last response head and its interpretation. Equal bytes are not parsed again: targets repeat
/// themselves within a second, so one head per second is parsed.
#[derive(Debug, Default)]
pub(crate) struct KnownHead {
    bytes: Vec<u8>,
    status: u16,
    content_bytes: usize,
    persists: Persists,
}

impl KnownHead {
    /// Length of the response at the start of the input, if it has this head and is complete.
    fn whole(&self, input: &[u8]) -> Option<usize> {
        let length = self.bytes.len() + self.content_bytes;
        let is_whole = !self.bytes.is_empty() && input.len() >= length;
        (is_whole && begins_with(input, &self.bytes)).then_some(length)
    }

    /// Remembers a head with Content-Length.
    fn learn(&mut self, bytes: &[u8], head: &AnswerHead<'_>) {
        let length = match head.content() {
            ContentLength::Length(length) => usize::try_from(length).ok(),
            ContentLength::None => Some(0),
            ContentLength::Chunked | ContentLength::UntilClose => None,
        };
        let Some(length) = length else {
            return;
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.status = head.status.code();
        self.content_bytes = length;
        self.persists = match head.persistence() {
            Persistence::Persist => Persists::Yes,
            Persistence::Close => Persists::No,
        };
    }
}

/// What is compared at once: two registers.
const BLOCK: usize = 32;

/// `input.starts_with(head)` without a call: musl's `memcmp`, which the static program has, takes
/// bytes one by one.
fn begins_with(input: &[u8], head: &[u8]) -> bool {
    let Some(input) = input.get(..head.len()) else {
        return false;
    };
    let (Some(end), Some(input_end)) = (head.last_chunk::<BLOCK>(), input.last_chunk()) else {
        return input == head;
    };
    let blocks = head.as_chunks::<BLOCK>().0.iter();
    let mut pairs = blocks.zip(input.as_chunks::<BLOCK>().0);
    // The last block may lie over the one before it.
    pairs.all(|(one, other)| one == other) && end == input_end
}

/// Whether to go on with the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Continue,
    Stop,
}

impl Users {
    /// Reads received bytes of a connection.
    pub(crate) fn read(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        bytes: &[u8],
        now_ns: u64,
    ) {
        let mut joined = Vec::new();
        let mut input = bytes;
        if !connection.left().is_empty() {
            joined = connection.take_left();
            joined.extend_from_slice(bytes);
            input = &joined;
        }
        while !input.is_empty() {
            let (then, consumed) = self.read_once(io, connection, input, now_ns);
            input = &input[consumed..];
            if then == Then::Stop {
                break;
            }
        }
        if input.is_empty() {
            self.discard_unseen(io, connection);
        } else if !io.is_closing() {
            let at = joined.len().saturating_sub(input.len());
            let left = if joined.is_empty() { input.to_vec() } else { joined.split_off(at) };
            connection.keep_left(left);
        }
    }

    /// Has content dropped that neither a check nor a script looks at, where that is worth a call
    /// of its own.
    fn discard_unseen(&self, io: &mut Io<'_>, connection: &Connection) {
        let bytes = connection.unseen_bytes();
        if bytes < DISCARD_BYTES_MIN {
            return;
        }
        let user = self.all.get(connection.user as usize);
        if user.is_some_and(|user| user.kept.is_none()) {
            io.discard(bytes);
        }
    }

    /// Counts discarded body bytes.
    pub(crate) fn skip(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        bytes: u64,
        now_ns: u64,
    ) {
        if connection.skip(bytes).is_err() {
            self.fail_all(connection, ErrorClass::Malformed, now_ns);
            io.close(Closing::Abort);
        }
    }

    /// Reads one element at the start of the input, and returns its length.
    fn read_once(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        input: &[u8],
        now_ns: u64,
    ) -> (Then, usize) {
        connection.begin_answer(now_ns);
        if let Some(length) = self.whole(connection, input) {
            let then = self.complete(io, connection, now_ns, &input[length..]);
            return (then, length);
        }
        self.parse_once(io, connection, input, now_ns)
    }

    /// The same by the parser, whose room for field lines is large: kept off the stack of the many
    /// that need none.
    #[inline(never)]
    fn parse_once(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        input: &[u8],
        now_ns: u64,
    ) -> (Then, usize) {
        let mut slots = FieldSlots::new();
        let (found, consumed) = connection.find(input, &mut slots);
        match found {
            AnswerEvent::NeedMore => (Then::Stop, consumed),
            AnswerEvent::Head(head) => {
                if head.status.is_final() {
                    self.begin_answer(connection, &head, &input[..consumed]);
                    // The end of an answer without content needs no more input, and there may be
                    // none.
                    if consumed == input.len() {
                        return (self.try_end(io, connection, now_ns), consumed);
                    }
                }
                (Then::Continue, consumed)
            }
            AnswerEvent::Content(piece) => {
                self.read_content(connection, piece);
                if consumed == input.len() {
                    return (self.try_end(io, connection, now_ns), consumed);
                }
                (Then::Continue, consumed)
            }
            AnswerEvent::End => {
                let then = self.complete(io, connection, now_ns, &input[consumed..]);
                (then, consumed)
            }
            AnswerEvent::Broken => {
                self.fail_all(connection, ErrorClass::Malformed, now_ns);
                io.close(Closing::Abort);
                (Then::Stop, input.len())
            }
        }
    }

    /// Ends the response if it is complete without further input.
    fn try_end(&mut self, io: &mut Io<'_>, connection: &mut Connection, now_ns: u64) -> Then {
        let mut slots = FieldSlots::new();
        match connection.find(&[], &mut slots) {
            (AnswerEvent::End, _) => self.complete(io, connection, now_ns, &[]),
            _ => Then::Stop,
        }
    }

    /// The fast path without the parser: the same head as before, followed by all of its content.
    fn whole(&mut self, connection: &mut Connection, input: &[u8]) -> Option<usize> {
        let front = connection.front().filter(|_| connection.is_fresh())?;
        if front.content != ContentOfAnswer::AsFramed {
            return None;
        }
        let length = self.known.whole(input)?;
        let head_bytes = self.known.bytes.len();
        let status = self.known.status;
        self.stats.status(status);
        let judging = self.check_of(connection).and_then(CompiledCheck::judging);
        let is_looked_at = judging.is_some() || self.keeps_answers(connection);
        connection.judge(status, judging);
        if is_looked_at {
            self.keep_fields(connection, &input[..head_bytes]);
            self.read_content(connection, &input[head_bytes..length]);
        }
        connection.count_whole(length, length - head_bytes, self.known.persists);
        Some(length)
    }

    fn begin_answer(&mut self, connection: &mut Connection, head: &AnswerHead<'_>, bytes: &[u8]) {
        let status = head.status.code();
        let framed =
            connection.front().is_some_and(|front| front.content == ContentOfAnswer::AsFramed);
        if framed {
            self.known.learn(bytes, head);
        }
        self.stats.status(status);
        let judging = self.check_of(connection).and_then(CompiledCheck::judging);
        connection.judge(status, judging);
        self.keep_fields(connection, bytes);
    }

    fn check_of(&self, connection: &Connection) -> Option<&CompiledCheck> {
        let number = connection.front()?.check;
        self.checks.get(usize::from(number))
    }

    /// Whether the script of a connection reads responses.
    fn keeps_answers(&self, connection: &Connection) -> bool {
        let user = self.all.get(connection.user as usize);
        user.is_some_and(|user| user.kept.is_some())
    }

    /// Keeps the header lines for a script that reads responses.
    fn keep_fields(&mut self, connection: &Connection, head: &[u8]) {
        let Some(user) = self.all.get_mut(connection.user as usize) else {
            return;
        };
        let Some(kept) = &mut user.kept else { return };
        let line = memchr::memchr(b'\n', head).map_or(head.len(), |at| at + 1);
        let end = head.len().saturating_sub(b"\r\n".len());
        kept.fields.clear();
        kept.content.clear();
        kept.fields.extend_from_slice(head.get(line..end).unwrap_or_default());
    }

    fn read_content(&mut self, connection: &mut Connection, piece: &[u8]) {
        if let Some(user) = self.all.get_mut(connection.user as usize)
            && let Some(kept) = &mut user.kept
        {
            let room = ANSWER_CONTENT_BYTES_MAX.saturating_sub(kept.content.len());
            kept.content.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        let number = connection.front().map(|front| usize::from(front.check));
        if let Some(judging) = connection.judging()
            && let Some(check) = number.and_then(|number| self.checks.get(number))
        {
            check.read(judging, piece);
        }
    }

    /// Completes the response to the front request; `rest` follows it.
    #[inline]
    fn complete(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        now_ns: u64,
        rest: &[u8],
    ) -> Then {
        if !rest.is_empty() && connection.waiting() == 1 {
            // It answers twice, or lies about its length: which of both was meant, nobody knows.
            self.fail_all(connection, ErrorClass::Malformed, now_ns);
            io.close(Closing::Abort);
            return Then::Stop;
        }
        let judged = self.judge(connection);
        let Some(pending) = connection.take_front() else {
            return Then::Stop;
        };
        self.stats.leave(now_ns, pending.sent_ns);
        match judged {
            Ok(()) => {
                self.stats.good(&Sample {
                    step: pending.step,
                    status: connection.status(),
                    due_ns: pending.due_ns,
                    sent_ns: pending.sent_ns,
                    first_byte_ns: connection.first_byte_ns(),
                    end_ns: now_ns,
                    content_bytes: connection.content_bytes(),
                    received_bytes: connection.received_bytes(),
                });
                if let Some(user) = self.all.get_mut(connection.user as usize) {
                    user.answers += 1;
                }
            }
            Err(class) => self.stats.bad(pending.step, class),
        }
        let persists = connection.next_answer();
        if persists == Persists::No || (self.is_used_up(connection) && connection.waiting() == 0) {
            self.drop_unread(connection, now_ns);
            self.release(io, connection, now_ns);
            return Then::Stop;
        }
        self.proceed(io, connection, now_ns);
        Then::Continue
    }

    /// Removes pipelined requests after the last one that the target responds to on this
    /// connection: it has not processed them.
    fn drop_unread(&mut self, connection: &mut Connection, now_ns: u64) {
        while let Some(pending) = connection.take_front() {
            self.stats.leave(now_ns, pending.sent_ns);
            if let Some(left) = &mut self.left {
                *left += 1;
            }
        }
    }

    /// Checks the front response, and passes it to its script.
    fn judge(&mut self, connection: &mut Connection) -> Result<(), ErrorClass> {
        let (status, content_bytes) = (connection.status(), connection.content_bytes());
        let Some(front) = connection.front().copied() else {
            return Ok(());
        };
        let check = self.checks.get(usize::from(front.check));
        let verdict = match check {
            Some(check) => {
                check.verdict(status, content_bytes, connection.judging().map(|it| &*it))
            }
            None => Ok(()),
        };
        let Some(user) = self.all.get_mut(connection.user as usize) else {
            return verdict;
        };
        if let Some(kept) = &user.kept {
            let answer =
                Answer { status, fields: &kept.fields, content: &kept.content, content_bytes };
            let judged = user.script.judge(&answer);
            user.remember(status, content_bytes);
            if let Verdict::Failed(assertion) = judged {
                self.stats.broken(front.step, assertion);
                return verdict.and(Err(ErrorClass::WrongContent));
            }
        }
        verdict
    }

    /// The target sends no more.
    pub(crate) fn end_of_stream(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        now_ns: u64,
    ) {
        let ends_answer = connection.ends_answer();
        if ends_answer {
            self.complete(io, connection, now_ns, &[]);
        }
        if connection.waiting() > 0 {
            self.fail_all(connection, ErrorClass::ClosedEarly, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, begins_with};

    proptest! {
        #[test]
        fn a_head_is_known_by_every_byte_of_it(head in prop::collection::vec(any::<u8>(), 0..4 * BLOCK), at in any::<prop::sample::Index>()) {
            let mut input = head.clone();
            input.extend_from_slice(b"content");
            prop_assert!(begins_with(&input, &head));
            prop_assert!(begins_with(&head, &head));
            if !head.is_empty() {
                let at = at.index(head.len());
                input[at] ^= 1;
                prop_assert!(!begins_with(&input, &head));
                prop_assert!(!begins_with(&head[..at], &head));
            }
        }
    }
}
