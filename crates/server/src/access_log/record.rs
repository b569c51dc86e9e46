//! What is kept of a request until its lines are written: the segments that its head decides, as
//! the lines will have them. Buffers are reused, so that in the steady state nothing is allocated.

use std::net::IpAddr;
use std::rc::Rc;

use super::condition::RuleMatches;
use super::plan::Origin;
use super::writer::ReactorLogs;

/// A buffer that has grown past this, in bytes, is not kept for the next request.
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// A log that gets a line of the request, if its rules accept the status.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingLine {
    /// The log's number in the plan.
    pub(super) log: u16,
    /// The rules that the head of the request matches.
    pub(super) matches: RuleMatches,
}

/// What is kept of one request until its lines are written.
#[derive(Debug, Default)]
pub(super) struct RequestRecord {
    text: Vec<u8>,
    segment_ends: Vec<usize>,
    response: Vec<u8>,
    /// Begin and end of each; `None` if the response does not have the field.
    response_ranges: Vec<Option<(usize, usize)>>,
    pub(super) lines: Vec<PendingLine>,
    /// The logs as they were when the request arrived.
    pub(super) logs: Option<Rc<ReactorLogs>>,
    client: Option<IpAddr>,
    origin: Origin,
}

impl RequestRecord {
    /// Clears the record for another request.
    pub(super) fn begin(&mut self, logs: &Rc<ReactorLogs>, client: Option<IpAddr>, origin: Origin) {
        self.text.clear();
        self.segment_ends.clear();
        self.response.clear();
        self.response_ranges.clear();
        self.lines.clear();
        self.logs = Some(Rc::clone(logs));
        self.client = client;
        self.origin = origin;
    }

    /// Adds one segment, which `push` appends.
    pub(super) fn add_segment(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        push(&mut self.text);
        self.segment_ends.push(self.text.len());
    }

    /// Adds one field of the response, which `push` appends if the response has it.
    pub(super) fn add_response(&mut self, push: impl FnOnce(&mut Vec<u8>) -> bool) {
        let begin = self.response.len();
        let known = push(&mut self.response);
        let range = (begin, self.response.len());
        self.response_ranges.push(known.then_some(range));
    }

    /// Forgets the fields of a response that another one replaces.
    pub(super) fn clear_response(&mut self) {
        self.response.clear();
        self.response_ranges.clear();
    }

    /// The segment of this number.
    pub(super) fn segment(&self, index: usize) -> Option<&[u8]> {
        let begin = match index.checked_sub(1) {
            Some(before) => *self.segment_ends.get(before)?,
            None => 0,
        };
        self.text.get(begin..*self.segment_ends.get(index)?)
    }

    /// The response's field of this number.
    pub(super) fn response(&self, index: usize) -> Option<&[u8]> {
        let (begin, end) = (*self.response_ranges.get(index)?)?;
        self.response.get(begin..end)
    }

    /// The client, if it is not the peer.
    pub(super) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// The site and the route.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    fn release(&mut self) {
        self.logs = None;
        for buffer in [&mut self.text, &mut self.response] {
            if buffer.capacity() > KEPT_BYTES_MAX {
                *buffer = Vec::new();
            }
        }
    }
}

/// The records of one reactor, by the tags of their exchanges.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<RequestRecord>,
    free: Vec<u32>,
}

impl Records {
    /// A record and its tag.
    pub(super) fn take(&mut self) -> (u32, &mut RequestRecord) {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.records.push(RequestRecord::default());
            // As many as active exchanges: fewer than descriptors.
            u32::try_from(self.records.len() - 1).unwrap_or(u32::MAX)
        });
        (tag, &mut self.records[tag as usize])
    }

    /// The record of an active exchange.
    pub(super) fn get(&self, tag: u32) -> Option<&RequestRecord> {
        self.records.get(tag as usize)
    }

    /// The record of an active exchange, to be changed.
    pub(super) fn get_mut(&mut self, tag: u32) -> Option<&mut RequestRecord> {
        self.records.get_mut(tag as usize)
    }

    /// Frees the record for another request. Call it once for each tag.
    pub(super) fn release(&mut self, tag: u32) {
        if let Some(record) = self.records.get_mut(tag as usize) {
            record.release();
            self.free.push(tag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(records: &mut Records, bytes: usize) -> u32 {
        let (tag, record) = records.take();
        record.begin(&Rc::default(), None, Origin::default());
        record.add_segment(|out| out.resize(bytes, b'x'));
        tag
    }

    #[test]
    fn records_are_reused_and_large_buffers_are_freed() {
        let mut records = Records::default();
        let (first, second) = (add(&mut records, 10), add(&mut records, KEPT_BYTES_MAX + 1));
        assert_eq!((first, second), (0, 1));
        records.release(first);
        records.release(second);
        let kept = |records: &Records, tag| records.get(tag).unwrap().text.capacity();
        assert!(kept(&records, first) > 0);
        assert_eq!(kept(&records, second), 0);
        assert_eq!(add(&mut records, 10), second);
        assert_eq!(add(&mut records, 10), first);
        assert_eq!(add(&mut records, 10), 2);
    }

    #[test]
    fn segments_and_fields_keep_their_numbers() {
        let mut record = RequestRecord::default();
        for text in ["one", "", "three"] {
            record.add_segment(|out| out.extend_from_slice(text.as_bytes()));
        }
        for text in [Some("a"), None, Some("")] {
            record.add_response(|out| {
                out.extend_from_slice(text.unwrap_or_default().as_bytes());
                text.is_some()
            });
        }
        let segments: Vec<_> = (0..4).map(|index| record.segment(index)).collect();
        assert_eq!(segments, [Some(&b"one"[..]), Some(b""), Some(b"three"), None]);
        let fields: Vec<_> = (0..4).map(|index| record.response(index)).collect();
        assert_eq!(fields, [Some(&b"a"[..]), None, Some(b""), None]);
    }
}
