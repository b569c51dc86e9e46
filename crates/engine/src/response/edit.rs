//! Changing the status and the field lines of a finished response.
//!
//! An encoded, shared head is copied at the first change. Names are compared case-insensitively
//! (RFC 9110 §5.1). The fields that the engine writes itself (`Content-Length`,
//! `Transfer-Encoding`, `Connection`) are not part of the head and cannot be set.

use std::ops::Range;

use vervet_http::field::{FieldBlock, FieldError};
use vervet_http::status::Status;

use super::{Head, Response};

/// Spare capacity of a head that is copied, so that the next change need not move it again.
const SPARE_BYTES: usize = 128;

impl Response {
    /// Returns the value of the first field line with this name.
    pub fn field_value(&self, name: &str) -> Option<&[u8]> {
        let head = self.head_bytes();
        let line = &head[lines_named(head, name).next()?];
        Some(line[name.len() + 1..].trim_ascii())
    }

    /// Returns whether a field line with this name exists.
    pub fn has_field(&self, name: &str) -> bool {
        self.field_value(name).is_some()
    }

    /// Appends a field line.
    ///
    /// # Errors
    ///
    /// Changes nothing if name or value is invalid, or the field is written by the engine.
    pub fn add_field(&mut self, name: &str, value: &[u8]) -> Result<(), FieldError> {
        let line = line(name, value)?;
        self.append(line.as_bytes());
        Ok(())
    }

    /// Makes this the only field line of its name, at the position of the first existing one.
    ///
    /// # Errors
    ///
    /// As [`Self::add_field`].
    pub fn set_field(&mut self, name: &str, value: &[u8]) -> Result<(), FieldError> {
        let line = line(name, value)?;
        let Some(first) = lines_named(self.head_bytes(), name).next() else {
            self.append(line.as_bytes());
            return Ok(());
        };
        self.remove_from(first.end, name);
        let line = line.as_bytes();
        self.change(line.len(), |head| {
            head.splice(first, line.iter().copied());
        });
        Ok(())
    }

    /// Removes all field lines with this name.
    pub fn remove_field(&mut self, name: &str) {
        self.remove_from(0, name);
    }

    /// Replaces the status; field lines and content are kept.
    pub fn set_status(&mut self, status: Status) {
        self.status = status;
        let mut line = Vec::with_capacity(64);
        status.write_line(&mut line);
        let end = status_line_end(self.head_bytes());
        self.change(line.len(), |head| {
            head.splice(..end, line);
        });
    }

    /// Removes the lines of a name from this offset of the head on.
    fn remove_from(&mut self, place: usize, name: &str) {
        let is_there = |line: &Range<usize>| line.start >= place;
        // From the last to the first, so that the offsets of the others stay valid.
        while let Some(last) = lines_named(self.head_bytes(), name).filter(is_there).last() {
            self.change(0, |head| {
                head.drain(last);
            });
        }
    }

    /// Appends lines that are well formed.
    pub(super) fn append(&mut self, lines: &[u8]) {
        self.change(lines.len(), |head| head.extend_from_slice(lines));
    }

    /// Changes the head, which is not shared then and has capacity for this many more bytes.
    fn change(&mut self, more_bytes: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let mut own = match std::mem::take(&mut self.head) {
            Head::Built(own) => own,
            Head::Encoded(shared) => {
                let mut own = Vec::with_capacity(shared.len() + more_bytes + SPARE_BYTES);
                own.extend_from_slice(&shared);
                own
            }
        };
        change(&mut own);
        self.head = Head::Built(own);
    }
}

/// Encodes one field line.
fn line(name: &str, value: &[u8]) -> Result<FieldBlock, FieldError> {
    let mut block = FieldBlock::new();
    block.push(name.as_bytes(), value)?;
    Ok(block)
}

fn status_line_end(head: &[u8]) -> usize {
    let newline = head.iter().position(|byte| *byte == b'\n');
    newline.map_or(head.len(), |at| at + 1)
}

/// Returns the ranges of the field lines with this name, each with its CRLF.
fn lines_named<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut start = status_line_end(head);
    let lines = head[start..].split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(move |line| {
        let range = start..start + line.len();
        start = range.end;
        let (spelled, rest) = line.split_at_checked(name.len())?;
        let is_named = rest.first() == Some(&b':') && spelled.eq_ignore_ascii_case(name.as_bytes());
        is_named.then_some(range)
    })
}
