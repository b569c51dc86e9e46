//! A response as a test sees it: a parser of its own, small and strict, that shares nothing with
//! the server's.
//!
//! It takes only what RFC 9112 lets a server send and panics at anything else, with the bytes
//! shown. It owns no socket: [`RawClient`](crate::RawClient) feeds it.

/// How the end of the content was found (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body: a response to HEAD or CONNECT, 1xx, 204 or 304.
    NoContent,
    /// `Content-Length` with this number of bytes.
    Length(usize),
    /// `Transfer-Encoding: chunked`, without a length.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// One response, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The head as it came, with its empty line.
    pub head: Vec<u8>,
    /// The minor version: 1 of `HTTP/1.1`.
    pub version_minor: u8,
    /// The status code, such as 200.
    pub status: u16,
    /// The reason phrase, perhaps empty.
    pub reason: String,
    /// The fields in their order: the name as it came, the value without the space around it.
    pub fields: Vec<(String, String)>,
    /// How the end of the content was found.
    pub framing: Framing,
    /// The content, chunks joined.
    pub content: Vec<u8>,
    /// The trailer fields of a chunked response.
    pub trailers: Vec<(String, String)>,
}

impl Response {
    /// The value of the only field of this name; none when there is none. Panics when there are
    /// several.
    #[track_caller]
    pub fn field(&self, name: &str) -> Option<&str> {
        let values = self.field_values(name);
        assert!(values.len() <= 1, "{name} is there {} times: {values:?}", values.len());
        values.first().copied()
    }

    /// The values of all fields of this name, in their order.
    pub fn field_values(&self, name: &str) -> Vec<&str> {
        let same = self.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        same.map(|(_, value)| value.as_str()).collect()
    }

    /// The content as text; panics if it is not UTF-8.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.content).expect("content that is text")
    }
}

/// The request method, which determines whether a response has a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// HEAD: the response has no body.
    Head,
    /// Any other method.
    Other,
}

/// Where the bytes of a response come from.
pub(crate) trait Source {
    /// More bytes, at least one; none at the end of the connection.
    fn more(&mut self) -> Option<Vec<u8>>;
}

/// Reads exactly one response from what is `left` over and from `source`; what follows it stays in
/// `left`. None when the connection ends before the first byte.
#[track_caller]
pub(crate) fn read(
    left: &mut Vec<u8>,
    source: &mut impl Source,
    method: Method,
) -> Option<Response> {
    let mut reader = Reader { left, source };
    if reader.left.is_empty() && !reader.fill() {
        return None;
    }
    let head = reader.until(b"\r\n\r\n");
    let mut response = parse_head(&head);
    response.framing = framing(&response, method);
    match response.framing {
        Framing::NoContent => {}
        Framing::Length(length) => response.content = reader.exactly(length),
        Framing::Chunked => (response.content, response.trailers) = reader.chunked(),
        Framing::UntilClose => {
            while reader.fill() {}
            response.content = std::mem::take(reader.left);
        }
    }
    Some(response)
}

#[track_caller]
fn parse_head(head: &[u8]) -> Response {
    let shown = String::from_utf8_lossy(head).into_owned();
    let text =
        std::str::from_utf8(head).unwrap_or_else(|_| panic!("a head that is text: {shown:?}"));
    let (status_line, fields) = text.split_once("\r\n").expect("a head ends with an empty line");
    let (version, rest) =
        status_line.split_once(' ').unwrap_or_else(|| panic!("no status line: {shown:?}"));
    // RFC 9112 §4: the space after the status code is there even when the reason phrase is empty.
    let (status, reason) =
        rest.split_once(' ').unwrap_or_else(|| panic!("no space after the status: {shown:?}"));
    let version_minor = match version {
        "HTTP/1.1" => 1,
        "HTTP/1.0" => 0,
        _ => panic!("no HTTP/1 version: {shown:?}"),
    };
    assert!(
        status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit()),
        "no status code: {shown:?}"
    );
    Response {
        head: head.to_vec(),
        version_minor,
        status: status.parse().expect("three digits"),
        reason: reason.to_owned(),
        fields: parse_fields(fields),
        framing: Framing::NoContent,
        content: Vec::new(),
        trailers: Vec::new(),
    }
}

/// Field lines up to the empty line (RFC 9112 §5): a token, a colon, a value; no folding.
#[track_caller]
fn parse_fields(lines: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for line in lines.split("\r\n").take_while(|line| !line.is_empty()) {
        let (name, value) =
            line.split_once(':').unwrap_or_else(|| panic!("no colon in the field {line:?}"));
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        assert!(
            !name.is_empty() && name.bytes().all(token),
            "no token before the colon of {line:?}"
        );
        assert!(!value.contains(['\r', '\n', '\0']), "a control byte in the value of {line:?}");
        fields.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
    }
    fields
}

/// RFC 9112 §6.3, the rules for responses.
#[track_caller]
fn framing(response: &Response, method: Method) -> Framing {
    let coding = response.field("Transfer-Encoding");
    let length = response.field("Content-Length");
    assert!(
        coding.is_none() || length.is_none(),
        "both Content-Length and Transfer-Encoding: {:?}",
        response.fields
    );
    let bare = matches!(response.status, 100..=199 | 204);
    assert!(
        !bare || (coding.is_none() && length.is_none()),
        "content is announced for a {}",
        response.status
    );
    if bare || method == Method::Head || response.status == 304 {
        return Framing::NoContent;
    }
    match (coding, length) {
        (Some(coding), _) => {
            assert_eq!(
                coding.to_ascii_lowercase(),
                "chunked",
                "the only coding that was asked for"
            );
            assert_eq!(response.version_minor, 1, "chunked in an answer to HTTP/1.0");
            Framing::Chunked
        }
        (None, Some(length)) => {
            let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
            assert!(digits, "Content-Length is not a number: {length:?}");
            Framing::Length(length.parse().expect("a length that fits"))
        }
        (None, None) => Framing::UntilClose,
    }
}

struct Reader<'a, S> {
    left: &'a mut Vec<u8>,
    source: &'a mut S,
}

impl<S: Source> Reader<'_, S> {
    fn fill(&mut self) -> bool {
        let more = self.source.more();
        more.is_some_and(|bytes| {
            self.left.extend_from_slice(&bytes);
            true
        })
    }

    #[track_caller]
    fn need(&mut self, what: &str) {
        let filled = self.fill();
        assert!(
            filled,
            "the connection ended within {what}, after {:?}",
            String::from_utf8_lossy(self.left)
        );
    }

    /// Up to and with `end`.
    #[track_caller]
    fn until(&mut self, end: &[u8]) -> Vec<u8> {
        let mut seen = 0;
        loop {
            if let Some(at) = self.left[seen..].windows(end.len()).position(|window| window == end)
            {
                return self.left.drain(..seen + at + end.len()).collect();
            }
            seen = self.left.len().saturating_sub(end.len() - 1);
            self.need("a line or a head");
        }
    }

    #[track_caller]
    fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.left.len() < length {
            let missing = length - self.left.len();
            let filled = self.fill();
            assert!(
                filled,
                "the connection ended {missing} bytes before the end of the content of {length}"
            );
        }
        self.left.drain(..length).collect()
    }

    /// RFC 9112 §7.1.
    #[track_caller]
    fn chunked(&mut self) -> (Vec<u8>, Vec<(String, String)>) {
        let mut content = Vec::new();
        loop {
            let line = String::from_utf8(self.until(b"\r\n")).expect("a chunk line that is text");
            let size = line.trim_end_matches("\r\n").split(';').next().unwrap_or_default();
            let hex = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(hex, "no chunk size: {line:?}");
            let size = usize::from_str_radix(size, 16).expect("a chunk size that fits");
            if size == 0 {
                return (content, self.trailers());
            }
            content.extend(self.exactly(size));
            assert_eq!(self.exactly(2), b"\r\n", "the end of a chunk of {size}");
        }
    }

    #[track_caller]
    fn trailers(&mut self) -> Vec<(String, String)> {
        let mut lines = String::new();
        loop {
            let line = String::from_utf8(self.until(b"\r\n")).expect("a trailer that is text");
            lines.push_str(&line);
            if line == "\r\n" {
                return parse_fields(&lines);
            }
        }
    }
}

#[cfg(test)]
mod tests;
