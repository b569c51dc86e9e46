//! A line as a list of pieces, sorted by when they are known.
//!
//! What the request's head decides is written down while the head is there, in segments: runs of pieces that stand side
//! by side in the line. At the end the segments are copied between the pieces that are known only then.

use super::end_value::{self, Line};
use super::escape::{Delimiter, push_json, push_text};
use super::facts::RequestFacts;
use super::number::push_number;
use super::record::Record;
use super::request_value;
use super::short::Constant;
use super::variable::{Stage, Value};

/// Some text and a value behind it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) before: Vec<u8>,
    pub(super) value: Value,
    pub(super) form: Form,
}

/// How a value stands in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Escaped text; `-` where it is not known.
    Text(Delimiter),
    /// The text of a JSON member that begins in `before`; nothing at all where it is not known.
    Member,
    /// As it is; nothing at all, `before` neither, where it is not known.
    Optional,
}

/// A value, looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// It is not known.
    Nothing,
    /// Text of our own, which needs no escape.
    Own(&'a [u8]),
    /// Text of others, to be escaped.
    Foreign(&'a [u8]),
    /// A number.
    Number(u64),
    /// It is known, and put together when it is written.
    Composed,
}

/// A line that is ready to be written again and again.
#[derive(Debug)]
pub(super) struct Layout {
    segments: Vec<Segment>,
    responses: Vec<Part>,
    steps: Vec<Step>,
    tail: Constant,
}

/// A piece as it is written.
#[derive(Debug)]
struct Part {
    before: Constant,
    value: Value,
    form: Form,
}

#[derive(Debug)]
struct Segment {
    parts: Vec<Part>,
    /// What stands there for a request that nobody could read.
    absent: Vec<u8>,
}

#[derive(Debug)]
enum Step {
    Segment(usize),
    Response(usize),
    End(Part),
}

impl Layout {
    /// A line of these pieces, and what ends it.
    pub(super) fn new(pieces: Vec<Piece>, mut tail: Vec<u8>) -> Self {
        tail.push(b'\n');
        let mut layout = Self {
            segments: Vec::new(),
            responses: Vec::new(),
            steps: Vec::new(),
            tail: Constant::new(&tail),
        };
        for piece in pieces {
            layout.add(Part::from(piece));
        }
        for segment in &mut layout.segments {
            for part in &segment.parts {
                let found = request_value::find_absent(&part.value);
                part.push(&mut segment.absent, found, |_| {});
            }
        }
        layout
    }

    fn add(&mut self, part: Part) {
        match part.value.stage() {
            Stage::End => self.steps.push(Step::End(part)),
            Stage::Response => {
                self.steps.push(Step::Response(self.responses.len()));
                self.responses.push(part);
            }
            Stage::Request => {
                if !matches!(self.steps.last(), Some(Step::Segment(_))) {
                    self.steps.push(Step::Segment(self.segments.len()));
                    self.segments.push(Segment {
                        parts: Vec::new(),
                        absent: Vec::new(),
                    });
                }
                if let Some(segment) = self.segments.last_mut() {
                    segment.parts.push(part);
                }
            }
        }
    }

    /// Whether a value of this kind stands in the line.
    pub(super) fn has(&self, matches: impl Fn(&Value) -> bool) -> bool {
        let steps = self.steps.iter().filter_map(|step| match step {
            Step::End(part) => Some(part),
            Step::Segment(_) | Step::Response(_) => None,
        });
        let segments = self.segments.iter().flat_map(|segment| &segment.parts);
        segments
            .chain(&self.responses)
            .chain(steps)
            .any(|part| matches(&part.value))
    }

    /// How many segments a request leaves in its record.
    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// How many fields of the response it leaves there.
    pub(super) fn responses(&self) -> usize {
        self.responses.len()
    }

    /// Writes down what the request decides.
    pub(super) fn note_request(&self, record: &mut Record, facts: &RequestFacts<'_>) {
        for segment in &self.segments {
            record.add_segment(|out| {
                for part in &segment.parts {
                    let (value, form) = (&part.value, part.form);
                    part.push(out, request_value::find(value, facts), |out| {
                        request_value::compose(out, value, facts, form);
                    });
                }
            });
        }
    }

    /// Writes down what a response's head decides: status line and field lines, each with CRLF.
    pub(super) fn note_response(&self, record: &mut Record, head: &[u8]) {
        for part in &self.responses {
            let Value::Response(name) = &part.value else {
                continue;
            };
            let value = response_field(head, name);
            record.add_response(|out| match value {
                Some(value) => {
                    put(out, value, part.form);
                    true
                }
                None => false,
            });
        }
    }

    /// Appends the line with its end.
    pub(super) fn push_line(&self, out: &mut Vec<u8>, line: &Line<'_>) {
        for step in &self.steps {
            match step {
                Step::Segment(index) => {
                    let segment = line.segment(*index);
                    let absent = || self.segments[*index].absent.as_slice();
                    out.extend_from_slice(segment.unwrap_or_else(absent));
                }
                Step::End(part) => {
                    let value = &part.value;
                    part.push(out, end_value::find(value, line), |out| {
                        end_value::compose(out, value, line);
                    });
                }
                Step::Response(index) => {
                    // It was escaped when it was noted.
                    let found = line.response(*index).map_or(Found::Nothing, Found::Own);
                    self.responses[*index].push(out, found, |_| {});
                }
            }
        }
        self.tail.push(out);
    }
}

impl From<Piece> for Part {
    fn from(piece: Piece) -> Self {
        Self {
            before: Constant::new(&piece.before),
            value: piece.value,
            form: piece.form,
        }
    }
}

impl Part {
    /// Appends the text before and the value, which `compose` appends where it is composed.
    fn push(&self, out: &mut Vec<u8>, found: Found<'_>, compose: impl FnOnce(&mut Vec<u8>)) {
        match (found, self.form) {
            (Found::Nothing, Form::Text(_)) => {
                self.before.push(out);
                out.push(b'-');
                return;
            }
            (Found::Nothing, Form::Member | Form::Optional) => return,
            _ => self.before.push(out),
        }
        match found {
            Found::Composed => compose(out),
            found => found.push(out, self.form),
        }
        if self.form == Form::Member {
            out.push(b'"');
        }
    }
}

impl<'a> Found<'a> {
    /// Text of others, if it is known.
    pub(super) fn foreign(text: Option<&'a [u8]>) -> Self {
        text.map_or(Self::Nothing, Self::Foreign)
    }

    /// Appends what is there as such.
    pub(super) fn push(self, out: &mut Vec<u8>, form: Form) {
        match self {
            Self::Own(text) => out.extend_from_slice(text),
            Self::Foreign(text) => put(out, text, form),
            Self::Number(number) => push_number(out, number),
            Self::Nothing | Self::Composed => {}
        }
    }
}

/// Appends bytes of a peer as the form wants them.
pub(super) fn put(out: &mut Vec<u8>, bytes: &[u8], form: Form) {
    match form {
        Form::Text(delimiter) => push_text(out, bytes, delimiter),
        Form::Member => push_json(out, bytes),
        Form::Optional => push_text(out, bytes, Delimiter::QUOTE),
    }
}

/// The value of the first field line of this name.
fn response_field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let (field, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        field
            .eq_ignore_ascii_case(name.as_bytes())
            .then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_response_are_found_by_their_whole_name() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag:\"x\"\r\nX: \r\n";
        let check = |name: &str, expected: Option<&[u8]>| {
            assert_eq!(response_field(head, name), expected, "{name}");
        };
        check("content-type", Some(b"text/plain"));
        check("ETAG", Some(b"\"x\""));
        check("x", Some(b""));
        check("content", None);
        check("http/1.1 200 ok", None);
    }
}
