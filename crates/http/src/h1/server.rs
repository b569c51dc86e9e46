//! The server role: receives requests and sends responses.

use super::HeadLimits;
use super::head::{HeadError, explain, explain_request_line, parse_request};
use super::machine::{Continue, Framing, Length, Machine, Next, Received, StreamEnd};
use super::misuse::SendError;
use super::section::{Section, Span, find_end};
use super::state::{Event, Persistence, Proposal, Role, State};
use super::violation::Violation;
use crate::field::{FieldBlock, FieldSlots, is_token_byte};
use crate::method::Method;
use crate::status::Status;
use crate::version::Version;

/// One connection in the server role. See [`crate::h1::state`] for the state machine.
#[derive(Debug)]
pub struct Server(Machine);

/// A response head to be sent.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    /// The status code, which determines the framing.
    pub status: Status,
    /// Status line and field lines, each with its CRLF, without Content-Length, Transfer-Encoding,
    /// Connection and Date, so that they can be cached. Made by [`Status::write_line`] and a
    /// [`FieldBlock`], which prevent header injection.
    pub encoded: &'a [u8],
    /// The length of the content that follows, or for HEAD and 304 would follow a GET.
    pub length: Length,
    /// The complete line `Date: ...` with its CRLF, or nothing.
    pub date: &'a [u8],
}

impl Server {
    /// Creates the state of a new connection.
    pub const fn new() -> Self {
        Self(Machine::NEW)
    }

    /// Returns the next event at the start of `input`, which is everything received and not yet
    /// consumed. After a violation a response may be sent, nothing more is read, and the connection
    /// closes.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a>, Violation> {
        match self.0.pair.client {
            State::Idle => self
                .receive_head(input, slots, limits)
                .map_err(|violation| self.0.fail(Role::Client, violation)),
            State::SendBody => self.0.receive_content(Role::Client, input, slots, limits),
            State::Done | State::MightSwitch => Ok(Received::Paused),
            State::Switched => Ok(Received::Opaque),
            State::SendResponse | State::MustClose | State::Closed | State::Error => {
                Ok(Received::Closed)
            }
        }
    }

    /// Returns whether the request ends after its head, as most do: what [`Self::receive`] would
    /// report as [`Received::End`], and counts as reported.
    pub fn take_end(&mut self) -> bool {
        self.0.take_end(Role::Client)
    }

    fn receive_head<'a>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a>, Violation> {
        // A head that comes whole is parsed at once; one that does not is searched for its end,
        // each byte once.
        if self.0.scanned != 0 && self.find_end(input, limits)?.is_none() {
            return Ok(Received::NeedMore);
        }
        let from = if input.starts_with(b"\r\n") { 2 } else { 0 };
        let (head, consumed) = match parse_request(input, from, slots, limits) {
            Ok(parsed) => parsed,
            Err(HeadError::Violation(violation)) => return Err(violation),
            Err(HeadError::Refused(refused)) => {
                return match self.find_end(input, limits)? {
                    None => Ok(Received::NeedMore),
                    Some(span) => {
                        Err(explain(&input[span.from..span.to], refused, explain_request_line))
                    }
                };
            }
        };
        let machine = &mut self.0;
        machine.method = head.method;
        machine.version = head.version;
        // Asked to drain before the head came: that stays.
        if machine.persistence == Persistence::Persist {
            machine.persistence = head.persistence();
        }
        let proposes = head.method == Method::Connect || head.proposes_upgrade();
        machine.proposal = if proposes { Proposal::Pending } else { Proposal::None };
        machine.owes_continue =
            if head.expects_continue() { Continue::Owed } else { Continue::NotOwed };
        machine.expect_content(head.content);
        // Legal: the client is Idle, and the server with it unless it refused what came before.
        if machine.apply(Role::Client, Event::Request).is_err() {
            return Ok(Received::Closed);
        }
        Ok(Received::Head { head, consumed })
    }

    fn find_end(&mut self, input: &[u8], limits: &HeadLimits) -> Result<Option<Span>, Violation> {
        check_beginning(input, self.0.scanned as usize, limits)?;
        find_end(input, &mut self.0.scanned, Section::Head, limits.head_bytes_max)
    }

    /// Handles the end of the client's stream, with the input that was not consumed. The response
    /// may still be sent.
    pub fn end_of_stream(&mut self, unconsumed: &[u8]) -> Result<StreamEnd, Violation> {
        self.0.end_of_stream(Role::Client, unconsumed)
    }

    /// Writes a response head with the fields that belong to the connection, and returns how the
    /// content must be framed.
    ///
    /// A 1xx head other than 101 is interim: no content follows it, and an HTTP/1.0 client does not
    /// receive it (RFC 9110 §15.2).
    pub fn send_head(
        &mut self,
        out: &mut Vec<u8>,
        head: &ResponseHead<'_>,
    ) -> Result<Framing, SendError> {
        if !head.status.is_final() {
            return self.send_interim(out, head);
        }
        let switches = self.switches(head.status)?;
        let event = if switches { Event::Switch } else { Event::Response };
        let machine = &mut self.0;
        let answers_nothing =
            machine.pair.client == State::Idle || machine.pair.client == State::Error;
        machine.pair.apply(Role::Server, event)?;
        // A client that got a final response instead of 100 may or may not send the content (RFC
        // 9110 §10.1.1), so it is unknown whether the next bytes are content or a request.
        if answers_nothing || machine.owes_continue == Continue::Owed {
            machine.persistence = Persistence::Close;
        }
        let framing = if switches { Framing::None } else { self.framing(head) };
        if framing == Framing::UntilClose {
            self.0.persistence = Persistence::Close;
        }
        out.reserve(head.encoded.len() + head.date.len() + FRAMING_BYTES_MAX);
        out.extend_from_slice(head.encoded);
        out.extend_from_slice(head.date);
        self.write_framing(out, head, framing);
        self.write_connection(out, head.status);
        out.extend_from_slice(b"\r\n");
        self.0.owe_content(framing);
        self.0.settle();
        Ok(framing)
    }

    fn send_interim(
        &mut self,
        out: &mut Vec<u8>,
        head: &ResponseHead<'_>,
    ) -> Result<Framing, SendError> {
        self.0.apply(Role::Server, Event::Informational)?;
        if self.0.version == Version::Http11 {
            out.extend_from_slice(head.encoded);
            out.extend_from_slice(b"\r\n");
            if head.status == Status::CONTINUE {
                self.0.owes_continue = Continue::NotOwed;
            }
        }
        Ok(Framing::None)
    }

    /// Returns whether the connection leaves HTTP/1.1 with this status.
    fn switches(&self, status: Status) -> Result<bool, SendError> {
        let is_pending = self.0.proposal == Proposal::Pending;
        match (status, self.0.method) {
            (Status::SWITCHING_PROTOCOLS, Method::Connect) => Err(SendError::NotProposed),
            (Status::SWITCHING_PROTOCOLS, _) if !is_pending => Err(SendError::NotProposed),
            (Status::SWITCHING_PROTOCOLS, _) => Ok(true),
            (_, Method::Connect) => Ok(is_pending && (200..300).contains(&status.code())),
            _ => Ok(false),
        }
    }

    /// RFC 9112 §6.3 and RFC 9110 §15.3.6 for the sender.
    fn framing(&self, head: &ResponseHead<'_>) -> Framing {
        if !head.status.allows_content()
            || self.0.method == Method::Head
            || head.status == Status::RESET_CONTENT
        {
            return Framing::None;
        }
        match (head.length, self.0.version) {
            (Length::Known(length), _) => Framing::Length(length),
            (Length::Unknown, Version::Http11) => Framing::Chunked,
            (Length::Unknown, Version::Http10) => Framing::UntilClose,
        }
    }

    fn write_framing(&self, out: &mut Vec<u8>, head: &ResponseHead<'_>, framing: Framing) {
        let switches = self.0.pair.server == State::Switched;
        match (framing, head.length) {
            (Framing::Chunked, _) => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            (Framing::Length(length), _) => write_length(out, length),
            // 205 has content of length 0, and must say so (RFC 9110 §15.3.6).
            (Framing::None, _) if head.status == Status::RESET_CONTENT => write_length(out, 0),
            // To HEAD the length a GET would have; 1xx, 204 and a tunnel must not have one (RFC
            // 9110 §8.6), and 304 need not.
            (Framing::None, Length::Known(length)) if !switches && head.status.allows_content() => {
                write_length(out, length);
            }
            (Framing::None | Framing::UntilClose, _) => {}
        }
    }

    fn write_connection(&self, out: &mut Vec<u8>, status: Status) {
        let line: &[u8] = match (self.0.pair.server, self.0.persistence, self.0.version) {
            (State::Switched, ..) if status == Status::SWITCHING_PROTOCOLS => {
                b"Connection: upgrade\r\n"
            }
            (State::Switched, ..) | (_, Persistence::Persist, Version::Http11) => return,
            (_, Persistence::Close, _) => b"Connection: close\r\n",
            (_, Persistence::Persist, Version::Http10) => b"Connection: keep-alive\r\n",
        };
        out.extend_from_slice(line);
    }

    /// Writes a piece of content, as a chunk if the framing is chunked. Dropped if the framing is
    /// `None`.
    pub fn send_content(&mut self, out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), SendError> {
        self.0.send_content(Role::Server, out, bytes)
    }

    /// Records that `bytes` of content were sent without this machine, such as by sendfile. Not for
    /// chunked content.
    pub fn sent(&mut self, bytes: u64) -> Result<(), SendError> {
        self.0.sent(Role::Server, bytes)
    }

    /// Ends the response. Trailers are sent with chunked content and dropped otherwise (RFC 9110
    /// §6.5.1).
    #[inline]
    pub fn send_end(
        &mut self,
        out: &mut Vec<u8>,
        trailers: Option<&FieldBlock>,
    ) -> Result<(), SendError> {
        self.0.send_end(Role::Server, out, trailers)
    }

    /// Writes `100 Continue` if the client waits for it and has sent no content; otherwise nothing.
    pub fn send_continue(&mut self, out: &mut Vec<u8>) {
        let awaited =
            self.0.owes_continue == Continue::Owed && self.0.pair.server == State::SendResponse;
        if awaited {
            self.0.owes_continue = Continue::NotOwed;
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    /// Starts the next request if both sides are done and the connection persists.
    pub fn start_next(&mut self) -> Next {
        self.0.start_next()
    }

    /// Makes the current or next exchange the last one; announced if its head has not been sent
    /// yet.
    pub fn close_after_this(&mut self) {
        self.0.close_after_this();
    }

    /// Returns the state of the client.
    pub const fn receiving(&self) -> State {
        self.0.pair.client
    }

    /// Returns the state of the server.
    pub const fn sending(&self) -> State {
        self.0.pair.server
    }

    /// Returns whether the client still has to send content of the current request.
    pub fn awaits_content(&self) -> bool {
        self.0.awaits_content()
    }

    /// Returns how many bytes of content the client has announced and not sent: the rest of the
    /// content if its length is known, otherwise of the chunk whose line may be at the start of
    /// `input`, which was not consumed.
    pub fn content_announced(&self, input: &[u8]) -> u64 {
        self.0.content_announced(input)
    }

    /// Returns whether `send_continue` would write anything.
    pub fn owes_continue(&self) -> bool {
        self.0.owes_continue == Continue::Owed
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

/// Content-Length with 20 digits and a Connection line, and the empty line.
const FRAMING_BYTES_MAX: usize = 64;

pub(super) fn write_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"Content-Length: ");
    match short_decimal(length) {
        Some((digits, count)) => {
            // All eight at once, and back: a copy of a known length is one instruction.
            out.extend_from_slice(&digits);
            out.truncate(out.len() - digits.len() + count);
        }
        None => out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes()),
    }
    out.extend_from_slice(b"\r\n");
}

/// Returns the digits of a number of at most eight digits, and their count. They are assembled in a
/// register: most lengths are short, and a table of digits would cost a cache line that nothing
/// else touches.
fn short_decimal(mut number: u64) -> Option<([u8; 8], usize)> {
    let mut digits = 0;
    for count in 1..=8 {
        digits = (digits << 8) + u64::from(b'0') + number % 10;
        number /= 10;
        if number == 0 {
            return Some((digits.to_le_bytes(), count));
        }
    }
    None
}

/// Rejects input before the head is complete: bytes that begin no method (such as a TLS
/// `ClientHello`), a first line that exceeds its limit, and one that is complete and invalid.
fn check_beginning(input: &[u8], scanned: usize, limits: &HeadLimits) -> Result<(), Violation> {
    let Some(&first) = input.first() else {
        return Ok(());
    };
    let begins_head = is_token_byte(first) || matches!(first, b'\r' | b'\n');
    if !begins_head {
        return Err(Violation::MethodToken);
    }
    let line_bytes_max = limits.line_bytes_max();
    let crosses = scanned <= line_bytes_max && input.len() > line_bytes_max;
    if crosses && memchr::memchr(b'\n', &input[..line_bytes_max]).is_none() {
        return Err(Violation::TargetTooLong);
    }
    check_request_line(input, scanned, limits)
}

/// Rejects an invalid request line when it has ended: nothing that follows can make it valid.
fn check_request_line(input: &[u8], scanned: usize, limits: &HeadLimits) -> Result<(), Violation> {
    // A line that ends beyond the limit of the head is refused for that, however it arrives.
    let input = &input[..input.len().min(limits.head_bytes_max)];
    let from = if input.starts_with(b"\r\n") { 2 } else { 0 };
    let new = input.get(scanned.max(from)..).unwrap_or_default();
    if memchr::memchr(b'\n', new).is_none() {
        return Ok(());
    }
    let line_bytes = memchr::memchr(b'\n', &input[from..]).unwrap_or_default();
    let line = input[from..from + line_bytes].strip_suffix(b"\r");
    // One that ended before was checked then. An empty one, and one that ends with LF alone, are
    // left to `find_end`.
    let is_new = from + line_bytes >= scanned;
    let Some(line) = line.filter(|line| is_new && !line.is_empty()) else {
        return Ok(());
    };
    let target_bytes = line.split(|&byte| byte == b' ').nth(1).map_or(0, <[u8]>::len);
    match explain_request_line(line) {
        Some(violation) => Err(violation),
        None if target_bytes > limits.target_bytes_max => Err(Violation::TargetTooLong),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::write_length;

    #[test]
    fn a_length_is_written_in_decimal_without_leading_zeros() {
        for length in [0, 9, 10, 13, 100, 65_536, 99_999_999, 100_000_000, u64::MAX] {
            let mut line = Vec::new();
            write_length(&mut line, length);
            let expected = format!("Content-Length: {length}\r\n");
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
