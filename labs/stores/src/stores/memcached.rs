//! memcached, by the few lines of its text protocol that are needed (`doc/protocol.txt` of its source).

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::store::{Connection, Place, Store, getting, putting};
use crate::problem::Problem;

pub(super) static STORE: Store = Store { name: "memcached", version: None, create, connect };

/// The longest line of an answer, in bytes: a key has at most 250.
const LINE_BYTES_MAX: u64 = 1024;
/// The longest value: what the server takes by default.
const VALUE_BYTES_MAX: usize = 1 << 20;

/// A connection.
struct Client {
    stream: BufReader<UnixStream>,
    request: Vec<u8>,
}

fn create(place: &Place) -> Result<(), Problem> {
    let mut client = open(place).map_err(Problem::of("connect to memcached"))?;
    let emptied = client.ask(b"flush_all\r\n").and_then(|()| client.line());
    let answer = emptied.map_err(Problem::of("empty memcached"))?;
    expect(&answer, "OK").map_err(Problem::of("empty memcached"))
}

fn connect(place: &Place) -> Result<Box<dyn Connection>, Problem> {
    let client = open(place).map_err(Problem::of("connect to memcached"))?;
    Ok(Box::new(client))
}

fn open(place: &Place) -> io::Result<Client> {
    Ok(Client { stream: BufReader::new(UnixStream::connect(&place.at)?), request: Vec::new() })
}

impl Client {
    fn ask(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(request)
    }

    /// A line of an answer, without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(LINE_BYTES_MAX).read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended")),
        }
    }

    fn set(&mut self, key: &str, value: &[u8]) -> io::Result<()> {
        let mut request = std::mem::take(&mut self.request);
        request.clear();
        write!(request, "set {key} 0 0 {}\r\n", value.len())?;
        request.extend_from_slice(value);
        request.extend_from_slice(b"\r\n");
        let sent = self.ask(&request);
        self.request = request;
        sent?;
        expect(&self.line()?, "STORED")
    }

    fn value(&mut self, key: &str) -> io::Result<Option<Vec<u8>>> {
        self.ask(format!("get {key}\r\n").as_bytes())?;
        let head = self.line()?;
        if head == "END" {
            return Ok(None);
        }
        let mut words = head.split(' ');
        let begins = words.next() == Some("VALUE") && words.next() == Some(key);
        let length = words.nth(1).and_then(|word| word.parse::<usize>().ok());
        let length = length.filter(|length| begins && *length <= VALUE_BYTES_MAX);
        let length = length.ok_or_else(|| unexpected(&head))?;
        // With the end of its line.
        let mut value = vec![0; length + 2];
        self.stream.read_exact(&mut value)?;
        value.truncate(length);
        expect(&self.line()?, "END")?;
        Ok(Some(value))
    }
}

impl Connection for Client {
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Problem> {
        self.set(key, value).map_err(Problem::of(putting(key)))
    }

    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Problem> {
        self.value(key).map_err(Problem::of(getting(key)))
    }

    fn close(mut self: Box<Self>) -> Result<(), Problem> {
        let ended = self.ask(b"quit\r\n").and_then(|()| self.stream.read_to_end(&mut Vec::new()));
        ended.map(drop).map_err(Problem::of("take leave of memcached"))
    }
}

fn expect(answer: &str, expected: &str) -> io::Result<()> {
    if answer == expected { Ok(()) } else { Err(unexpected(answer)) }
}

fn unexpected(answer: &str) -> io::Error {
    io::Error::other(format!("memcached answers `{}`", answer.escape_debug()))
}
