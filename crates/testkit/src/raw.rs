//! A client that sends the bytes it is given and reads responses one by one, over TCP or a unix
//! socket.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::response::{self, Method, Response, Source};
use crate::wait::PATIENCE;

/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// One connection to a server under test. Every wait ends after [`PATIENCE`], or what
/// [`RawClient::patience`] set, with a panic.
#[derive(Debug)]
pub struct RawClient {
    socket: Socket,
    left: Vec<u8>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl RawClient {
    /// Connects to a TCP listener. Small writes leave at once.
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)
            .unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"));
        stream.set_nodelay(true).expect("an option of our own socket");
        Self::over(Socket::Tcp(stream))
    }

    /// Connects to a unix listener.
    #[track_caller]
    pub fn connect_unix(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let stream = UnixStream::connect(path)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", path.display()));
        Self::over(Socket::Unix(stream))
    }

    fn over(socket: Socket) -> Self {
        let client = Self { socket, left: Vec::new() };
        client.patience(PATIENCE);
        client
    }

    /// Sets how long a read or a write may wait.
    pub fn patience(&self, patience: Duration) {
        let set = match &self.socket {
            Socket::Tcp(stream) => stream
                .set_read_timeout(Some(patience))
                .and_then(|()| stream.set_write_timeout(Some(patience))),
            Socket::Unix(stream) => stream
                .set_read_timeout(Some(patience))
                .and_then(|()| stream.set_write_timeout(Some(patience))),
        };
        set.expect("a time that is not zero");
    }

    /// The address of this end; panics for a unix socket.
    #[track_caller]
    pub fn local_address(&self) -> SocketAddr {
        match &self.socket {
            Socket::Tcp(stream) => stream.local_addr().expect("a connected socket has an address"),
            Socket::Unix(_) => panic!("a unix connection has no address and port"),
        }
    }

    /// Sends all bytes to the server.
    #[track_caller]
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).unwrap_or_else(|error| panic!("cannot send: {error}"));
    }

    /// Sends all bytes, or says why the peer takes no more: for servers that refuse in the middle
    /// of a request.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        match &mut self.socket {
            Socket::Tcp(stream) => stream.write_all(bytes.as_ref()),
            Socket::Unix(stream) => stream.write_all(bytes.as_ref()),
        }
    }

    /// Shuts down the sending side; reading continues.
    pub fn finish(&mut self) {
        let done = match &self.socket {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
        // The peer may have closed already, which is for the next read to tell.
        drop(done);
    }

    /// Sends a request and reads its response.
    #[track_caller]
    pub fn exchange(&mut self, request: impl AsRef<[u8]>) -> Response {
        self.send(request);
        self.read_response()
    }

    /// Reads exactly one response with content by length, chunked or until the close. A 1xx is a
    /// response too.
    #[track_caller]
    pub fn read_response(&mut self) -> Response {
        self.try_read_response().expect("a response, where the connection was closed")
    }

    /// Reads one response, or none when the server closes without a byte.
    #[track_caller]
    pub fn try_read_response(&mut self) -> Option<Response> {
        response::read(&mut self.left, &mut self.socket, Method::Other)
    }

    /// Reads exactly one response to a HEAD request, which has no content whatever its fields say.
    #[track_caller]
    pub fn read_head_response(&mut self) -> Response {
        response::read(&mut self.left, &mut self.socket, Method::Head)
            .expect("a response, where the connection was closed")
    }

    /// Reads everything up to the close by the server. A reset counts as a close.
    #[track_caller]
    pub fn read_to_close(&mut self) -> Vec<u8> {
        while let Some(bytes) = self.socket.more() {
            self.left.extend_from_slice(&bytes);
        }
        std::mem::take(&mut self.left)
    }

    /// Reads exactly `length` bytes; panics when the server closes before.
    #[track_caller]
    pub fn read_exact(&mut self, length: usize) -> Vec<u8> {
        while self.left.len() < length {
            let bytes = self.socket.more();
            let bytes = bytes
                .unwrap_or_else(|| panic!("closed after {} bytes of {length}", self.left.len()));
            self.left.extend_from_slice(&bytes);
        }
        self.left.drain(..length).collect()
    }

    /// Waits for the close by the server; panics when it sends anything before.
    #[track_caller]
    pub fn expect_close(&mut self) {
        let rest = self.read_to_close();
        assert!(rest.is_empty(), "instead of a close came {:?}", String::from_utf8_lossy(&rest));
    }

    /// Whether nothing comes, not even a close, for this time.
    pub fn is_silent_for(&mut self, time: Duration) -> bool {
        self.patience(time);
        let mut byte = [0];
        let result = self.socket.read(&mut byte);
        self.patience(PATIENCE);
        match result {
            Err(error) => {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
                    && self.left.is_empty()
            }
            Ok(count) => {
                self.left.extend_from_slice(&byte[..count]);
                false
            }
        }
    }
}

impl Socket {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Source for Socket {
    fn more(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => {
                    buffer.truncate(count);
                    return Some(buffer);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came from the server: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// A server that takes one connection, sends `answer`, and reads until the client has finished.
    fn answering(answer: &'static [u8]) -> RawClient {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        });
        RawClient::connect(address)
    }

    #[test]
    #[should_panic(expected = "cannot connect to 127.0.0.1")]
    fn a_closed_port_is_named() {
        RawClient::connect(([127, 0, 0, 1], crate::free_port()).into());
    }

    #[test]
    #[should_panic(expected = "nothing came from the server")]
    fn a_silent_server_fails_the_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = RawClient::connect(listener.local_addr().unwrap());
        assert!(client.is_silent_for(Duration::from_millis(5)));
        client.patience(Duration::from_millis(5));
        client.read_response();
    }

    #[test]
    #[should_panic(expected = "instead of a close came")]
    fn bytes_are_no_close() {
        answering(b"HTTP").expect_close();
    }

    #[test]
    fn reads_pipelined_responses_one_by_one() {
        let mut client = answering(
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 Not Found\r\n\r\nrest",
        );
        let first = client.exchange("GET / HTTP/1.1\r\n\r\n");
        assert_eq!((first.status, first.text()), (200, "a"));
        let second = client.read_response();
        assert_eq!((second.status, second.text()), (404, "rest"));
        assert_eq!(client.try_read_response(), None);
        client.finish();
    }

    #[test]
    fn reads_what_is_asked_for() {
        let mut client = answering(b"abcdef");
        assert_eq!(client.read_exact(2), b"ab");
        assert!(!client.is_silent_for(Duration::from_millis(5)));
        assert_eq!(client.read_to_close(), b"cdef");
        client.expect_close();
    }

    #[test]
    fn speaks_over_a_unix_socket() {
        let tree = crate::TempTree::new();
        let path = tree.join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            stream.read_to_string(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            request
        });
        let mut client = RawClient::connect_unix(&path);
        client.send("GET / HTTP/1.1\r\n\r\n");
        client.finish();
        assert_eq!(client.read_response().status, 204);
        assert_eq!(server.join().unwrap(), "GET / HTTP/1.1\r\n\r\n");
    }
}
