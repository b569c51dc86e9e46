//! What is kept of a request until its lines are written: the segments that its head decides, as they will stand there.
//! The buffers are used again, so that in the steady state nothing is allocated.

use std::net::IpAddr;
use std::rc::Rc;

use super::condition::Matched;
use super::desk::Desk;
use super::plan::Origin;

/// A buffer that has grown past this, in bytes, is not kept for the next request.
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// A log that gets a line of the request, if its rules let the status pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The log's number in the plan.
    pub(super) log: u16,
    /// What is known of its rules.
    pub(super) matched: Matched,
}

/// What is kept of one request.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: Vec<u8>,
    segment_ends: Vec<usize>,
    response: Vec<u8>,
    /// Begin and end of each; none where the response does not have the field.
    response_places: Vec<Option<(usize, usize)>>,
    pub(super) entries: Vec<Entry>,
    /// The logs as they were when the request came.
    pub(super) desk: Option<Rc<Desk>>,
    client: Option<IpAddr>,
    origin: Origin,
}

impl Record {
    /// Begins anew.
    pub(super) fn begin(&mut self, desk: &Rc<Desk>, client: Option<IpAddr>, origin: Origin) {
        self.text.clear();
        self.segment_ends.clear();
        self.response.clear();
        self.response_places.clear();
        self.entries.clear();
        self.desk = Some(Rc::clone(desk));
        self.client = client;
        self.origin = origin;
    }

    /// Adds one segment, which `push` appends.
    pub(super) fn add_segment(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        push(&mut self.text);
        self.segment_ends.push(self.text.len());
    }

    /// Adds one field of the response, which `push` appends if it is there.
    pub(super) fn add_response(&mut self, push: impl FnOnce(&mut Vec<u8>) -> bool) {
        let begin = self.response.len();
        let known = push(&mut self.response);
        let place = (begin, self.response.len());
        self.response_places.push(known.then_some(place));
    }

    /// Forgets the fields of a response that another has taken the place of.
    pub(super) fn clear_response(&mut self) {
        self.response.clear();
        self.response_places.clear();
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
        let (begin, end) = (*self.response_places.get(index)?)?;
        self.response.get(begin..end)
    }

    /// The client, where it is not the peer.
    pub(super) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// The site and the route.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    fn release(&mut self) {
        self.desk = None;
        for buffer in [&mut self.text, &mut self.response] {
            if buffer.capacity() > KEPT_BYTES_MAX {
                *buffer = Vec::new();
            }
        }
    }
}

/// The records of one reactor, by the tag of their exchange.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Record>,
    free: Vec<u32>,
}

impl Records {
    /// A record, and the tag that it is found by.
    pub(super) fn take(&mut self) -> (u32, &mut Record) {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.records.push(Record::default());
            // As many as exchanges under way: fewer than descriptors.
            u32::try_from(self.records.len() - 1).unwrap_or(u32::MAX)
        });
        (tag, &mut self.records[tag as usize])
    }

    /// The record of an exchange under way.
    pub(super) fn get(&self, tag: u32) -> Option<&Record> {
        self.records.get(tag as usize)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, tag: u32) -> Option<&mut Record> {
        self.records.get_mut(tag as usize)
    }

    /// Lets the record be used again. Call it once for each tag.
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
    fn records_are_used_again_and_large_ones_are_not_kept() {
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
        let mut record = Record::default();
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
        assert_eq!(
            segments,
            [Some(&b"one"[..]), Some(b""), Some(b"three"), None]
        );
        let fields: Vec<_> = (0..4).map(|index| record.response(index)).collect();
        assert_eq!(fields, [Some(&b"a"[..]), None, Some(b""), None]);
    }
}
