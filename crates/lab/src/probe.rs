//! A simple HTTP client for the ready check and the fairness gate, which need the exact bytes. Not
//! for load.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The most bytes of a head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most fields of a head.
const FIELDS_MAX: usize = 128;
/// The most bytes of content.
const CONTENT_BYTES_MAX: usize = 1 << 31;
/// What is read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// How many bytes the head has, with its empty line.
    pub(crate) head_bytes: usize,
    /// The fields in their order, names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    /// The content, out of its chunks.
    pub(crate) content: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum ProbeError {
    /// The connection.
    Connection(io::Error),
    /// The connection was closed before the end of the response.
    Ended,
    /// It is not HTTP.
    Malformed(String),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Ended => f.write_str("the connection was closed before the end of the response"),
            Self::Malformed(why) => write!(f, "the response is not valid HTTP: {why}"),
        }
    }
}

impl ProbeError {
    /// Whether nothing more than time was missing.
    pub(crate) fn is_late(&self) -> bool {
        let late = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        matches!(self, Self::Connection(error) if late.contains(&error.kind()))
    }
}

impl From<io::Error> for ProbeError {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

impl Answer {
    /// The value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A connection for requests one after another.
pub(crate) struct Probe {
    stream: TcpStream,
    left: Vec<u8>,
}

/// One request on a connection of its own.
pub(crate) fn once(
    address: SocketAddr,
    request: &[u8],
    within: Duration,
) -> Result<Answer, ProbeError> {
    Probe::connect(address, within)?.ask(request)
}

impl Probe {
    /// A connection; each read and write may take so long.
    pub(crate) fn connect(address: SocketAddr, within: Duration) -> Result<Self, ProbeError> {
        let stream = TcpStream::connect_timeout(&address, within)?;
        stream.set_read_timeout(Some(within))?;
        stream.set_write_timeout(Some(within))?;
        Ok(Self { stream, left: Vec::new() })
    }

    /// Sends a request and reads its response.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Answer, ProbeError> {
        self.stream.write_all(request)?;
        let mut answer = loop {
            if let Some(answer) = head(&self.left)? {
                break answer;
            }
            if self.left.len() > HEAD_BYTES_MAX {
                return Err(ProbeError::Malformed("the head does not end".to_owned()));
            }
            if self.more()? == 0 {
                return Err(ProbeError::Ended);
            }
        };
        self.left.drain(..answer.head_bytes);
        let headless = request.starts_with(b"HEAD ") || matches!(answer.status, 204 | 304);
        if headless {
            return Ok(answer);
        }
        let chunked = answer
            .field("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        if chunked {
            answer.content = self.chunks()?;
            return Ok(answer);
        }
        let length = answer.field("content-length").map(|length| {
            length.parse::<usize>().map_err(|_| ProbeError::Malformed("invalid length".to_owned()))
        });
        answer.content = match length.transpose()? {
            Some(length) => self.take(length)?,
            None => self.rest()?,
        };
        Ok(answer)
    }

    fn more(&mut self) -> Result<usize, ProbeError> {
        let before = self.left.len();
        if before > CONTENT_BYTES_MAX {
            return Err(ProbeError::Malformed(format!(
                "the body has more than {CONTENT_BYTES_MAX} bytes"
            )));
        }
        self.left.resize(before + PIECE_BYTES, 0);
        let read = self.stream.read(&mut self.left[before..]);
        self.left.truncate(before + read.as_ref().map_or(0, |count| *count));
        Ok(read?)
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, ProbeError> {
        while self.left.len() < length {
            if self.more()? == 0 {
                return Err(ProbeError::Ended);
            }
        }
        Ok(self.left.drain(..length).collect())
    }

    fn rest(&mut self) -> Result<Vec<u8>, ProbeError> {
        while self.more()? > 0 {}
        Ok(std::mem::take(&mut self.left))
    }

    fn line(&mut self) -> Result<String, ProbeError> {
        let end = loop {
            match self.left.windows(2).position(|two| two == b"\r\n") {
                Some(end) => break end,
                None if self.more()? == 0 => return Err(ProbeError::Ended),
                None => {}
            }
        };
        let line = self.left.drain(..end + 2).collect::<Vec<u8>>();
        Ok(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    fn chunks(&mut self) -> Result<Vec<u8>, ProbeError> {
        let mut content = Vec::new();
        loop {
            let line = self.line()?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16)
                .map_err(|_| ProbeError::Malformed("invalid chunk size".to_owned()))?;
            if size == 0 {
                while !self.line()?.is_empty() {}
                return Ok(content);
            }
            if size > CONTENT_BYTES_MAX - content.len().min(CONTENT_BYTES_MAX) {
                return Err(ProbeError::Malformed("a chunk is too large".to_owned()));
            }
            content.extend(self.take(size)?);
            self.line()?;
        }
    }
}

/// The head of a response, once it is complete. Interim responses are not expected to a plain GET.
fn head(bytes: &[u8]) -> Result<Option<Answer>, ProbeError> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    let malformed = |error: httparse::Error| ProbeError::Malformed(error.to_string());
    let httparse::Status::Complete(head_bytes) = response.parse(bytes).map_err(malformed)? else {
        return Ok(None);
    };
    let fields = response.headers.iter().map(|field| {
        let value = String::from_utf8_lossy(field.value).trim().to_owned();
        (field.name.to_ascii_lowercase(), value)
    });
    Ok(Some(Answer {
        status: response.code.unwrap_or_default(),
        head_bytes,
        fields: fields.collect(),
        content: Vec::new(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What comes of an answer that a server sends in two pieces, split at each byte.
    #[track_caller]
    fn check(sent: &str, expected: Result<(u16, &str), &str>) {
        for cut in [1, sent.len() / 2, sent.len()] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let bytes = sent.as_bytes().to_vec();
            let cut = cut.min(bytes.len());
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 64];
                let _ = stream.read(&mut request).unwrap();
                stream.write_all(&bytes[..cut]).unwrap();
                stream.flush().unwrap();
                // The other side may have seen enough.
                let _ = stream.write_all(&bytes[cut..]);
            });
            let answer = once(address, b"GET / HTTP/1.1\r\n\r\n", Duration::from_secs(20));
            let answer =
                answer.map(|answer| (answer.status, String::from_utf8(answer.content).unwrap()));
            let answer = answer.as_ref().map(|(status, text)| (*status, text.as_str()));
            let answer = answer.map_err(ToString::to_string);
            assert_eq!(
                answer.as_ref().map_err(String::as_str),
                expected.as_ref().map_err(|text| *text),
                "{sent:?}"
            );
            server.join().unwrap();
        }
    }

    #[test]
    fn answers_that_are_none() {
        check("", Err("the connection was closed before the end of the response"));
        check(
            "HTTP/1.1 200 OK\r\nContent-Le",
            Err("the connection was closed before the end of the response"),
        );
        check("SSH-2.0-x\r\n\r\n", Err("the response is not valid HTTP: invalid HTTP version"));
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            Err("the response is not valid HTTP: invalid length"),
        );
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            Err("the connection was closed before the end of the response"),
        );
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{chunks}z\r\n"), Err("the response is not valid HTTP: invalid chunk size"));
        check(
            &format!("{chunks}5\r\nab"),
            Err("the connection was closed before the end of the response"),
        );
    }

    #[test]
    fn each_way_to_end_content() {
        check("HTTP/1.1 204 No Content\r\n\r\n", Ok((204, "")));
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", Ok((200, "abc")));
        check("HTTP/1.0 200 OK\r\n\r\nuntil the end", Ok((200, "until the end")));
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nA: b\r\n\r\n",
            Ok((200, "abcde")),
        );
    }
}
