//! Lines of somebody on the network: each of them bounded in length and in time, and all together
//! in length.

use std::fmt;
use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What is read at once.
const PIECE_BYTES: usize = 16 << 10;

/// A stream read line by line.
#[derive(Debug)]
pub(super) struct Lines {
    stream: TcpStream,
    line_bytes_max: usize,
    /// What may still come.
    bytes_left: u64,
    buffer: Vec<u8>,
}

/// How long a line is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// For its first piece, and from one piece to the next.
    pub(super) silence: Duration,
    /// For the whole.
    pub(super) whole: Duration,
}

impl Wait {
    /// For the whole, however it comes.
    pub(super) fn whole(whole: Duration) -> Self {
        Self {
            silence: whole,
            whole,
        }
    }
}

/// Why there is no line.
#[derive(Debug)]
pub(super) enum NoLine {
    /// Nothing came for this long.
    Silent(Duration),
    /// It had begun, and was not whole after this long.
    Slow(Duration),
    /// The other side has ended the connection.
    Ended,
    /// It is longer than so many bytes.
    TooLong(usize),
    /// All lines together are too long.
    TooMuch,
    /// The system says no.
    System(io::Error),
}

impl Lines {
    /// Lines of at most so many bytes each, and all together of at most so many.
    pub(super) fn new(stream: TcpStream, line_bytes_max: usize, bytes_max: u64) -> Self {
        Self {
            stream,
            line_bytes_max,
            bytes_left: bytes_max,
            buffer: Vec::new(),
        }
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self, wait: Wait) -> Result<Vec<u8>, NoLine> {
        let begun = Instant::now();
        let mut looked_at = 0;
        loop {
            let new = &self.buffer[looked_at..];
            let end = new.iter().position(|byte| *byte == b'\n');
            if let Some(end) = end.map(|end| looked_at + end) {
                if end > self.line_bytes_max {
                    return Err(NoLine::TooLong(self.line_bytes_max));
                }
                let rest = self.buffer.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.truncate(end);
                return Ok(line);
            }
            looked_at = self.buffer.len();
            if looked_at > self.line_bytes_max {
                return Err(NoLine::TooLong(self.line_bytes_max));
            }
            let left = wait.whole.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(self.nothing_within(wait.whole));
            }
            let (within, limit) = if left < wait.silence {
                (left, wait.whole)
            } else {
                (wait.silence, wait.silence)
            };
            if !self.read_piece(within)? {
                return Err(self.nothing_within(limit));
            }
        }
    }

    /// Whether something came.
    fn read_piece(&mut self, within: Duration) -> Result<bool, NoLine> {
        self.stream
            .set_read_timeout(Some(within))
            .map_err(NoLine::System)?;
        let mut piece = [0; PIECE_BYTES];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(NoLine::Ended),
            Ok(length) => {
                let left = self.bytes_left.checked_sub(length as u64);
                self.bytes_left = left.ok_or(NoLine::TooMuch)?;
                self.buffer.extend_from_slice(&piece[..length]);
                Ok(true)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => Ok(true),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(false),
                io::ErrorKind::ConnectionReset => Err(NoLine::Ended),
                _ => Err(NoLine::System(error)),
            },
        }
    }

    fn nothing_within(&self, time: Duration) -> NoLine {
        if self.buffer.is_empty() {
            NoLine::Silent(time)
        } else {
            NoLine::Slow(time)
        }
    }
}

impl fmt::Display for NoLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(time) => write!(f, "said nothing for {time:.0?}"),
            Self::Slow(time) => write!(f, "stopped in the middle of a line for {time:.0?}"),
            Self::Ended => f.write_str("ended the connection"),
            Self::TooLong(bytes) => write!(f, "sent a line of more than {bytes} bytes"),
            Self::TooMuch => f.write_str("sent more than a run can be"),
            Self::System(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    const PATIENT: Wait = Wait {
        silence: vervet_testkit::PATIENCE,
        whole: vervet_testkit::PATIENCE,
    };
    const SHORT: Duration = Duration::from_millis(20);

    /// Lines of at most 8 bytes, and 24 in all, of somebody who has sent this and holds the
    /// connection.
    fn lines(sent: &str) -> (Lines, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        other.write_all(sent.as_bytes()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        (Lines::new(stream, 8, 24), other)
    }

    #[track_caller]
    fn check(sent: &str, expected: &[&str], end: &str) {
        let (mut lines, other) = lines(sent);
        other.shutdown(std::net::Shutdown::Write).unwrap();
        for line in expected {
            assert_eq!(lines.next(PATIENT).unwrap(), line.as_bytes());
        }
        assert_eq!(lines.next(PATIENT).unwrap_err().to_string(), end);
    }

    #[test]
    fn lines_are_bounded_at_their_edge() {
        check(
            "a\n\nlonger\n",
            &["a", "", "longer"],
            "ended the connection",
        );
        check("12345678\n", &["12345678"], "ended the connection");
        for long in ["123456789", "123456789\n"] {
            check(long, &[], "sent a line of more than 8 bytes");
        }
        check("a\nunended", &["a"], "ended the connection");
        check(&"123\n".repeat(6), &["123"; 6], "ended the connection");
        check(&"1234\n".repeat(5), &[], "sent more than a run can be");
    }

    #[test]
    fn nobody_is_waited_for_without_a_limit() {
        let silent = Wait {
            silence: SHORT,
            ..PATIENT
        };
        let slow = Wait {
            whole: SHORT,
            ..PATIENT
        };
        for wait in [silent, slow] {
            let (mut nothing, _other) = lines("");
            assert!(matches!(nothing.next(wait), Err(NoLine::Silent(_))));
            let (mut half, _other) = lines("hal");
            assert!(matches!(half.next(wait), Err(NoLine::Slow(_))));
        }
    }
}
