//! A line as a list of pieces, sorted by when their values are known.
//!
//! Values of the request are written while its head is in memory, in segments: runs of pieces that
//! are adjacent in the line. At the end the segments are copied between the pieces that are known
//! only then.

use std::net::IpAddr;

use vervet_engine::exchange::Finished;

use super::bytes::FixedText;
use super::clock::Clock;
use super::plan::{Names, Origin};
use super::record::RequestRecord;
use super::request::RequestInfo;
use super::value_writer::{Form, ValueWriter, end_value};
use super::variable::{Stage, Value};

/// Some text followed by a value.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) before: Vec<u8>,
    pub(super) value: Value,
    pub(super) form: Form,
}

/// All that a line is written from when an exchange has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// What was recorded of the request; `None` if the engine refused it.
    pub(super) record: Option<&'a RequestRecord>,
    /// Where the segments and response fields of this line begin in the record.
    pub(super) first: RecordOffset,
    pub(super) finished: &'a Finished<'a>,
    pub(super) names: &'a Names,
    pub(super) clock: &'a Clock,
    /// How many requests the line stands for.
    pub(super) sample: u32,
}

/// Numbers of a segment and of a response field in a record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordOffset {
    segment: usize,
    response: usize,
}

impl<'a> Line<'a> {
    fn segment(&self, index: usize) -> Option<&'a [u8]> {
        self.record?.segment(self.first.segment + index)
    }

    fn response(&self, index: usize) -> Option<&'a [u8]> {
        self.record?.response(self.first.response + index)
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.finished.peer.map(|peer| peer.ip())
    }

    pub(super) fn client(&self) -> Option<IpAddr> {
        let client = self.record.and_then(RequestRecord::client);
        client.or_else(|| self.peer())
    }

    pub(super) fn origin(&self) -> Origin {
        self.record.map(RequestRecord::origin).unwrap_or_default()
    }
}

/// A line that is ready to be written repeatedly.
#[derive(Debug)]
pub(super) struct Layout {
    segments: Vec<Segment>,
    responses: Vec<LinePart>,
    steps: Vec<Step>,
    tail: FixedText,
}

/// A piece as it is written.
#[derive(Debug)]
struct LinePart {
    before: FixedText,
    value: Value,
    form: Form,
}

#[derive(Debug)]
struct Segment {
    parts: Vec<LinePart>,
    /// The text for a request that could not be parsed.
    absent: Vec<u8>,
}

#[derive(Debug)]
enum Step {
    Segment(usize),
    Response(usize),
    End(LinePart),
}

impl Layout {
    /// A line of these pieces, followed by `tail` and a line feed.
    pub(super) fn new(pieces: Vec<Piece>, mut tail: Vec<u8>) -> Self {
        tail.push(b'\n');
        let mut layout = Self {
            segments: Vec::new(),
            responses: Vec::new(),
            steps: Vec::new(),
            tail: FixedText::new(&tail),
        };
        for piece in pieces {
            layout.add(LinePart::from(piece));
        }
        for segment in &mut layout.segments {
            for part in &segment.parts {
                part.push(&mut segment.absent, |_| false);
            }
        }
        layout
    }

    fn add(&mut self, part: LinePart) {
        match part.value.stage() {
            Stage::End => self.steps.push(Step::End(part)),
            Stage::Response => {
                self.steps.push(Step::Response(self.responses.len()));
                self.responses.push(part);
            }
            Stage::Request => {
                if !matches!(self.steps.last(), Some(Step::Segment(_))) {
                    self.steps.push(Step::Segment(self.segments.len()));
                    self.segments.push(Segment { parts: Vec::new(), absent: Vec::new() });
                }
                if let Some(segment) = self.segments.last_mut() {
                    segment.parts.push(part);
                }
            }
        }
    }

    pub(super) fn needs_request_ids(&self) -> bool {
        let mut parts = self.segments.iter().flat_map(|segment| &segment.parts);
        parts.any(|part| part.value.needs_request_id())
    }

    pub(super) fn needs_responses(&self) -> bool {
        !self.responses.is_empty()
    }

    /// Where the next line of a record begins if this one begins at `first`.
    pub(super) fn end(&self, first: RecordOffset) -> RecordOffset {
        RecordOffset {
            segment: first.segment + self.segments.len(),
            response: first.response + self.responses.len(),
        }
    }

    /// Records the values of a request.
    pub(super) fn record_request(&self, record: &mut RequestRecord, info: &RequestInfo<'_>) {
        for segment in &self.segments {
            record.add_segment(|out| {
                for part in &segment.parts {
                    part.push(out, |out| part.value.write_request(out, info));
                }
            });
        }
    }

    /// Records the values of the head of a response: status line and field lines, each with CRLF.
    pub(super) fn record_response(&self, record: &mut RequestRecord, head: &[u8]) {
        for part in &self.responses {
            record.add_response(|out| {
                let mut writer = ValueWriter::new(out, part.form);
                part.value.write_response(&mut writer, head)
            });
        }
    }

    /// Appends the line and its line feed.
    pub(super) fn push_line(&self, out: &mut Vec<u8>, line: &Line<'_>) {
        for step in &self.steps {
            match step {
                Step::Segment(index) => {
                    let absent = || self.segments[*index].absent.as_slice();
                    out.extend_from_slice(line.segment(*index).unwrap_or_else(absent));
                }
                Step::End(part) => part.push(out, |out| part.value.write_end(out, line)),
                Step::Response(index) => {
                    // It was escaped when it was recorded.
                    let value = line.response(*index);
                    let write =
                        |out: &mut ValueWriter<'_>| value.is_some_and(|text| out.plain(text));
                    self.responses[*index].push(out, write);
                }
            }
        }
        self.tail.push(out);
    }
}

impl From<Piece> for LinePart {
    fn from(piece: Piece) -> Self {
        Self { before: FixedText::new(&piece.before), value: piece.value, form: piece.form }
    }
}

impl LinePart {
    /// Appends the text before the value, and the value if `write` knows it.
    fn push(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ValueWriter<'_>) -> bool) {
        let begin = out.len();
        self.before.push(out);
        let value = out.len();
        let is_known = write(&mut ValueWriter::new(out, self.form));
        match self.form {
            Form::Member | Form::Optional | Form::Parenthesized if !is_known => out.truncate(begin),
            Form::Text(_) | Form::Optional if is_known => {}
            Form::Member => out.push(b'"'),
            form => {
                if !is_known {
                    out.push(b'-');
                }
                end_value(out, value, form);
            }
        }
    }
}
