//! What is kept of a request's head until its line is written: the parts of the line that it decides, as they will
//! stand there. The buffers are used again, so that in the steady state nothing is allocated.

use vervet_engine::http::h1::RequestHead;

use super::format::Format;

/// A buffer that has grown past this, in bytes, is not kept for the next request.
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// The parts of a line that the head decides.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: Vec<u8>,
    request_end: usize,
}

impl Record {
    /// What says method, target and version.
    pub(super) fn request(&self) -> &[u8] {
        &self.text[..self.request_end]
    }

    /// What comes after status and size.
    pub(super) fn rest(&self) -> &[u8] {
        &self.text[self.request_end..]
    }

    fn fill(&mut self, format: Format, head: &RequestHead<'_>) {
        self.text.clear();
        format.push_request(&mut self.text, head);
        self.request_end = self.text.len();
        format.push_rest(&mut self.text, head);
    }
}

/// The records of one reactor, by the tag of their exchange.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Record>,
    free: Vec<u32>,
}

impl Records {
    /// Keeps what is needed of a head.
    pub(super) fn add(&mut self, format: Format, head: &RequestHead<'_>) -> u32 {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.records.push(Record::default());
            // As many as exchanges under way: fewer than descriptors.
            u32::try_from(self.records.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(record) = self.records.get_mut(tag as usize) {
            record.fill(format, head);
        }
        tag
    }

    /// The record of an exchange that has ended.
    pub(super) fn get(&self, tag: u32) -> Option<&Record> {
        self.records.get(tag as usize)
    }

    /// Lets the record be used again. Call it once for each tag.
    pub(super) fn release(&mut self, tag: u32) {
        if let Some(record) = self.records.get_mut(tag as usize) {
            if record.text.capacity() > KEPT_BYTES_MAX {
                record.text = Vec::new();
            }
            self.free.push(tag);
        }
    }
}

#[cfg(test)]
mod tests {
    use vervet_engine::http::field::FieldSlots;
    use vervet_engine::http::h1::{HeadLimits, Received, Server};

    use super::*;

    /// Keeps what is needed of a request whose target has so many bytes.
    fn add(records: &mut Records, target_bytes: usize) -> u32 {
        let limits = HeadLimits {
            head_bytes_max: 65_536,
            fields_max: 8,
            target_bytes_max: 32_768,
            trailer_bytes_max: 0,
        };
        let target = "x".repeat(target_bytes - 1);
        let request = format!("GET /{target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut slots = FieldSlots::new();
        match Server::new().receive(request.as_bytes(), &mut slots, &limits) {
            Ok(Received::Head { head, .. }) => records.add(Format::Common, &head),
            other => panic!("{other:?}"),
        }
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
}
