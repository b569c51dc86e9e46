//! The canned-response server: it sends the same bytes for every request, directly on the engine's
//! reactor. Its rate is an upper bound for any server on this machine: the ceiling of a lab, and
//! `vervet load --canned`.
//!
//! It does not parse. A request ends at a blank line, wherever the pieces are cut; requests must
//! not have a body.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use bytes::Bytes;
use memchr::memmem::Finder;
use rustix::io::Errno;
use vervet_engine::listener::{BindError, ListenAddress, ListenOptions, Listener};
use vervet_engine::reactor::{
    Accepted, Admission, Closing, FileSlice, Handle, Io, Protocol, Reactor, ReactorOptions, Reason,
};

/// The default content: 13 bytes.
pub const CONTENT: &[u8] = b"Hello, world\n";
/// The maximum size of the content in bytes.
pub const CONTENT_BYTES_MAX: usize = 1 << 30;
/// Responses up to this size are copied into one send per loop iteration; larger ones are not
/// copied.
const COPY_BYTES_MAX: usize = 16 << 10;
/// From this length on the content of a file costs less by sendfile(2).
const SENDFILE_BYTES_MIN: u64 = 16 << 10;
/// Maximum number of responses per read: more than one read of the reactor can contain.
const ANSWERS_PER_READ_MAX: usize = 4096;
/// Headers of a plain file server, so that the response for a file has the same length.
const FILE_FIELDS: &str = "Server: canned\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
    Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"2ebc9c81-d\"\r\nAccept-Ranges: bytes\r\n";

/// The response of the canned server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannedAnswer {
    /// The status code, from 200 to 599.
    pub status: u16,
    /// The content of the response.
    pub content: CannedContent,
    /// Whether the connection stays open after the response.
    pub connection: CannedConnection,
}

/// The content of a canned response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CannedContent {
    /// The 13 bytes of [`CONTENT`].
    Default,
    /// A number of bytes, at most [`CONTENT_BYTES_MAX`].
    Bytes(usize),
    /// A file, read once if it is small, otherwise sent by sendfile(2).
    File(PathBuf),
}

/// Whether the connection stays open after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannedConnection {
    /// As the first request of the connection requests (RFC 9112 §9.3).
    AsRequested,
    /// The end of the connection.
    Close,
}

impl Default for CannedAnswer {
    fn default() -> Self {
        Self {
            status: 200,
            content: CannedContent::Default,
            connection: CannedConnection::AsRequested,
        }
    }
}

/// A response that is ready to be sent.
#[derive(Clone, Debug)]
enum Reply {
    Memory(Bytes),
    File { head: Bytes, content: FileSlice },
}

impl CannedAnswer {
    /// The response for a connection with this persistence, which its Connection field names:
    /// clients of HTTP/1.0 would wait for the end otherwise.
    fn reply(&self, persistence: Persistence) -> io::Result<Reply> {
        let mut fields = "";
        let content = match &self.content {
            CannedContent::Default => CONTENT.to_vec(),
            CannedContent::Bytes(bytes) => {
                let digits = b"0123456789abcdef".iter().copied().cycle();
                digits.take((*bytes).min(CONTENT_BYTES_MAX)).collect()
            }
            CannedContent::File(path) => {
                fields = FILE_FIELDS;
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                if length >= SENDFILE_BYTES_MIN {
                    let content = FileSlice { file: Arc::new(file), offset: 0, length };
                    let head = self.head(length, fields, persistence).into();
                    return Ok(Reply::File { head, content });
                }
                std::fs::read(path)?
            }
        };
        let head = self.head(content.len() as u64, fields, persistence);
        Ok(Reply::Memory([head, content].concat().into()))
    }

    fn head(&self, length: u64, fields: &str, persistence: Persistence) -> Vec<u8> {
        let connection = if persistence == Persistence::Close { "close" } else { "keep-alive" };
        let status = self.status;
        format!(
            "HTTP/1.1 {status} Canned\r\n{fields}Content-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: {connection}\r\n\r\n"
        )
        .into_bytes()
    }

    /// The persistence of a new connection.
    fn first(&self) -> Persistence {
        match self.connection {
            CannedConnection::AsRequested => Persistence::Unknown,
            CannedConnection::Close => Persistence::Close,
        }
    }
}

/// A canned-response server, which runs on its own thread until it is dropped.
#[derive(Debug)]
pub struct Canned {
    address: Option<SocketAddr>,
    handle: Handle<()>,
    thread: Option<JoinHandle<()>>,
}

/// Why the canned-response server does not start.
#[derive(Debug)]
pub enum CannedError {
    /// It cannot listen at its address.
    Bind(Box<BindError>),
    /// The file with the content cannot be read.
    Content(io::Error),
    /// The system refused something else.
    System(Errno),
}

impl Canned {
    /// Starts the server on a thread.
    ///
    /// # Errors
    /// An address that cannot be bound, a file that cannot be read, or a system without a free
    /// thread.
    pub fn start(address: &ListenAddress, answer: &CannedAnswer) -> Result<Self, CannedError> {
        let answers = Answers::new(answer).map_err(CannedError::Content)?;
        let listener = bind(address)?;
        let bound = listener.endpoint().local_address();
        let (handle_to, handle) = std::sync::mpsc::channel();
        let serve = move || {
            let Ok(mut reactor) = reactor(listener, answers) else {
                return;
            };
            // Fails when the caller has gone already.
            let _ = handle_to.send(reactor.handle());
            while matches!(reactor.wait_and_turn(), Ok(turn) if !turn.done) {}
        };
        let builder = std::thread::Builder::new().name("canned".to_owned());
        let thread = builder.spawn(serve).map_err(|error| {
            CannedError::System(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))
        })?;
        let handle = handle.recv().map_err(|_| CannedError::System(Errno::MFILE))?;
        Ok(Self { address: bound, handle, thread: Some(thread) })
    }

    /// The address that it listens on; none for a unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops the server from another thread, such as one for signals.
    pub fn handle(&self) -> Handle<()> {
        self.handle.clone()
    }

    /// Waits until the server has stopped.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.handle.stop();
            let _ = thread.join();
        }
    }
}

fn bind(address: &ListenAddress) -> Result<Arc<Listener>, CannedError> {
    let options = ListenOptions::default();
    let listener = Listener::bind(address, &options);
    listener.map(Arc::new).map_err(|error| CannedError::Bind(Box::new(error)))
}

fn reactor(listener: Arc<Listener>, answers: Answers) -> Result<Reactor<Answers>, CannedError> {
    let options = ReactorOptions::uncapped();
    let mut reactor = Reactor::new(options, |_, _| answers).map_err(CannedError::System)?;
    reactor.listen(listener).map_err(CannedError::System)?;
    Ok(reactor)
}

/// The protocol: counts blank lines.
struct Answers {
    first: Persistence,
    keep: Reply,
    close: Reply,
    blank_line: Finder<'static>,
    says_close: Finder<'static>,
    is_old: Finder<'static>,
    says_keep: Finder<'static>,
}

/// The state of a connection: how much of a blank line the last piece ended with, and whether it
/// stays open.
struct ConnectionState {
    matched: u8,
    persistence: Persistence,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Persistence {
    /// No request was received yet.
    Unknown,
    Keep,
    Close,
}

impl Answers {
    fn new(answer: &CannedAnswer) -> io::Result<Self> {
        Ok(Self {
            first: answer.first(),
            keep: answer.reply(Persistence::Keep)?,
            close: answer.reply(Persistence::Close)?,
            blank_line: Finder::new(b"\r\n\r\n"),
            says_close: Finder::new(b"onnection: close"),
            is_old: Finder::new(b" HTTP/1.0\r\n"),
            says_keep: Finder::new(b"eep-"),
        })
    }

    /// The persistence that a first request requests (RFC 9112 §9.3).
    fn persistence(&self, request: &[u8]) -> Persistence {
        let has = |finder: &Finder<'_>| finder.find(request).is_some();
        let old = has(&self.is_old) && !has(&self.says_keep);
        if old || has(&self.says_close) { Persistence::Close } else { Persistence::Keep }
    }

    /// The number of requests that end in this piece.
    fn ends(&self, state: &mut ConnectionState, bytes: &[u8]) -> usize {
        if state.matched == 0 && bytes.ends_with(b"\r\n\r\n") {
            let found = self.blank_line.find(bytes);
            // One whole request, as nearly always.
            if found == Some(bytes.len() - 4) {
                return 1;
            }
        }
        let mut ends = 0;
        let mut matched = state.matched;
        for byte in bytes {
            matched = match (matched, byte) {
                (0 | 2, b'\r') | (1 | 3, b'\n') => matched + 1,
                (_, b'\r') => 1,
                _ => 0,
            };
            if matched == 4 {
                (ends, matched) = (ends + 1, 0);
            }
        }
        state.matched = matched;
        ends
    }
}

impl Protocol for Answers {
    type Connection = ConnectionState;
    type Message = ();

    fn on_accept(&mut self, _: &mut Io<'_>, _: &Accepted) -> Admission<ConnectionState> {
        Admission::Admit(ConnectionState { matched: 0, persistence: self.first })
    }

    fn on_data(&mut self, io: &mut Io<'_>, state: &mut ConnectionState, bytes: &[u8]) {
        if state.persistence == Persistence::Unknown {
            state.persistence = self.persistence(bytes);
        }
        let ends = self.ends(state, bytes).min(ANSWERS_PER_READ_MAX);
        let answer = if state.persistence == Persistence::Close { &self.close } else { &self.keep };
        for _ in 0..ends {
            match answer {
                Reply::Memory(bytes) if bytes.len() <= COPY_BYTES_MAX => {
                    io.out().extend_from_slice(bytes);
                }
                Reply::Memory(bytes) => io.send_shared(bytes.clone()),
                Reply::File { head, content } => {
                    io.out().extend_from_slice(head);
                    io.send_file(content.clone());
                }
            }
        }
        if ends > 0 && state.persistence == Persistence::Close {
            io.close(Closing::AfterSent);
        }
    }

    fn on_eof(&mut self, io: &mut Io<'_>, _: &mut ConnectionState) {
        io.close(Closing::AfterSent);
    }

    fn on_sent(&mut self, _: &mut Io<'_>, _: &mut ConnectionState) {}
    fn on_deadline(&mut self, _: &mut Io<'_>, _: &mut ConnectionState) {}
    fn on_progress(&mut self, _: &mut Io<'_>, _: &mut ConnectionState) {}
    fn on_message(&mut self, _: &mut Io<'_>, _: &mut ConnectionState, (): ()) {}
    fn on_command(&mut self, (): ()) {}
    fn on_drain(&mut self, io: &mut Io<'_>, _: &mut ConnectionState) {
        io.close(Closing::AfterSent);
    }
    fn on_close(&mut self, _: ConnectionState, _: Reason) {}
}

impl std::fmt::Display for CannedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Content(error) => write!(f, "cannot read the canned body: {error}"),
            Self::System(errno) => write!(f, "cannot serve canned responses: {errno}"),
        }
    }
}

impl std::error::Error for CannedError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&str], expected: &[usize]) {
        let answers = Answers::new(&CannedAnswer::default()).unwrap();
        let mut state = ConnectionState { matched: 0, persistence: Persistence::Unknown };
        let ends: Vec<_> =
            pieces.iter().map(|piece| answers.ends(&mut state, piece.as_bytes())).collect();
        assert_eq!(ends, expected, "{pieces:?}");
    }

    #[test]
    fn counts_requests_however_they_are_cut() {
        check(&["GET / HTTP/1.1\r\nHost: a\r\n"], &[0]);
        check(&["\r\n\r", "\r\n", "\r\n"], &[0, 0, 1]);
        check(&["a\r\n\r\n"], &[1]);
        check(&["a\r\n\r\nb\r\n\r\n"], &[2]);
        check(&["a\r", "\n", "\r\nb\r\n\r", "\n"], &[0, 0, 1, 1]);
        check(&["a\r\n\r\nb", "c\r\n\r\n"], &[1, 1]);
    }

    #[test]
    fn answers_with_the_configured_response() {
        let bytes = |answer: &CannedAnswer, persistence| match answer.reply(persistence).unwrap() {
            Reply::Memory(bytes) => bytes.to_vec(),
            Reply::File { .. } => panic!("no file was asked for"),
        };
        let small = String::from_utf8(bytes(&CannedAnswer::default(), Persistence::Keep)).unwrap();
        assert!(small.starts_with("HTTP/1.1 200 "), "{small}");
        assert!(
            small.ends_with("Content-Length: 13\r\nConnection: keep-alive\r\n\r\nHello, world\n")
        );
        let large = CannedAnswer {
            status: 503,
            content: CannedContent::Bytes(200_000),
            ..CannedAnswer::default()
        };
        let bytes = bytes(&large, Persistence::Close);
        assert!(bytes.starts_with(b"HTTP/1.1 503 "));
        assert!(bytes.windows(19).any(|at| at == b"\r\nConnection: close"));
        let head = bytes.windows(4).position(|at| at == b"\r\n\r\n").unwrap();
        assert_eq!(bytes.len() - head - 4, 200_000);
    }

    #[test]
    fn closes_for_those_who_ask_for_it() {
        let answers = Answers::new(&CannedAnswer::default()).unwrap();
        let persistence =
            |request: &str| answers.persistence(request.as_bytes()) == Persistence::Close;
        assert!(persistence("GET / HTTP/1.0\r\n\r\n"));
        assert!(persistence("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!(!persistence("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
        assert!(!persistence("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
}
