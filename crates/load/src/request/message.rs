//! A compiled request: it appends itself to a buffer.

use crate::script::ContentOfAnswer;
use crate::template::{Template, Values};

/// Bytes of a head without method, target and fields: two spaces, the version, the ends of the
/// request line and of the head.
const FRAME_BYTES: usize = b"  HTTP/1.1\r\n\r\n".len();

/// A compiled request, which appends itself to a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    method: String,
    target: Template,
    /// Lines with their CRLF.
    fields: Template,
    body: Body,
}

/// What follows the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// No content and no word of it.
    None,
    /// The same bytes each time, and the Content-Length line.
    Fixed { length_line: Vec<u8>, bytes: Vec<u8> },
    /// Content with variables; its length is known when they are filled in.
    Filled(Template, LengthLine),
}

/// Whether content with variables has its Content-Length written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthLine {
    Written,
    LeftToTheUser,
}

/// What is different in one request from the message it is made by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// A target instead of the message's, ready for the wire.
    pub target: Option<&'a [u8]>,
    /// More field lines, each with its CRLF.
    pub fields: &'a [u8],
}

impl Body {
    pub(super) fn fixed(bytes: Vec<u8>) -> Self {
        Self::Fixed {
            length_line: format!("Content-Length: {}\r\n", bytes.len()).into_bytes(),
            bytes,
        }
    }

    pub(super) fn new(template: Template) -> Self {
        match template.as_fixed() {
            Some(bytes) => Self::fixed(bytes.to_vec()),
            None => Self::Filled(template, LengthLine::Written),
        }
    }

    /// Without a generated Content-Length: the user wrote one.
    pub(super) fn unframed(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Fixed { bytes, .. } => Self::Fixed { length_line: Vec::new(), bytes },
            Self::Filled(template, _) => Self::Filled(template, LengthLine::LeftToTheUser),
        }
    }
}

impl Message {
    pub(super) fn new(method: &str, target: Template, fields: Template, body: Body) -> Self {
        Self { method: method.to_owned(), target, fields, body }
    }

    /// Appends the request with its variables filled in and with what is different this time.
    pub fn render(&self, values: &mut Values, extra: Extra<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        match extra.target {
            Some(target) => out.extend_from_slice(target),
            None => self.target.render(values, out),
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        self.fields.render(values, out);
        out.extend_from_slice(extra.fields);
        match &self.body {
            Body::None => out.extend_from_slice(b"\r\n"),
            Body::Fixed { length_line, bytes } => {
                for part in [length_line.as_slice(), b"\r\n", bytes] {
                    out.extend_from_slice(part);
                }
            }
            Body::Filled(template, LengthLine::LeftToTheUser) => {
                out.extend_from_slice(b"\r\n");
                template.render(values, out);
            }
            Body::Filled(template, LengthLine::Written) => {
                let mut content = values.take_scratch();
                template.render(values, &mut content);
                out.extend_from_slice(b"Content-Length: ");
                let mut digits = itoa::Buffer::new();
                out.extend_from_slice(digits.format(content.len()).as_bytes());
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(&content);
                values.give_scratch(content);
            }
        }
    }

    /// Appends the target alone.
    pub fn render_target(&self, values: &mut Values, out: &mut Vec<u8>) {
        self.target.render(values, out);
    }

    /// The bytes, if they are the same each time.
    pub fn as_fixed(&self) -> Option<Vec<u8>> {
        let target = self.target.as_fixed()?;
        let fields = self.fields.as_fixed()?;
        // Content may be large: the room is asked for once.
        let content = match &self.body {
            Body::Fixed { length_line, bytes } => length_line.len() + bytes.len(),
            Body::None | Body::Filled(..) => 0,
        };
        let head = self.method.len() + target.len() + fields.len();
        let mut out = Vec::with_capacity(head + content + FRAME_BYTES);
        for part in [self.method.as_bytes(), b" ", target, b" HTTP/1.1\r\n", fields] {
            out.extend_from_slice(part);
        }
        match &self.body {
            Body::None => out.extend_from_slice(b"\r\n"),
            Body::Fixed { length_line, bytes } => {
                for part in [length_line.as_slice(), b"\r\n", bytes] {
                    out.extend_from_slice(part);
                }
            }
            Body::Filled(..) => return None,
        }
        Some(out)
    }

    /// Whether it uses a column of the feed.
    pub fn uses_feed(&self) -> bool {
        let content = match &self.body {
            Body::Filled(template, _) => template.columns().next(),
            Body::None | Body::Fixed { .. } => None,
        };
        let head = self.target.columns().chain(self.fields.columns()).next();
        head.or(content).is_some()
    }

    /// Whether a response to it has a body.
    pub fn content_of_answer(&self) -> ContentOfAnswer {
        match self.method.as_str() {
            "HEAD" => ContentOfAnswer::Never,
            _ => ContentOfAnswer::AsFramed,
        }
    }

    /// The method of the request.
    pub fn method(&self) -> &str {
        &self.method
    }
}
