//! The protocol between a coordinator and its agents: one JSON value per line, in this order. Each
//! line, and all lines together, are limited in length, and each wait in time.
//!
//! | coordinator | agent |
//! |---|---|
//! | `plan` | `ready`, or `refused` and the end |
//! | `begin`, to all agents at the same time | `interval`s; `alive` where there is nothing else |
//! | `stop`, if the run is interrupted | `run`, and the end |

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use vervet_report::{Interval, Run, RunSettings};

/// The maximum length of a plan in bytes.
pub(super) const PLAN_BYTES_MAX: usize = 1 << 20;
/// The maximum length of a message of an agent in bytes: a run with a histogram for each step,
/// without its intervals.
pub(super) const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// The maximum length of all messages of an agent during a run in bytes.
pub(super) const MESSAGES_BYTES_MAX: u64 = 1 << 30;
/// How long the other side may take to receive a message.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// A message of a coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CoordinatorMessage {
    /// Prepare this command line, with the share of this agent.
    Plan(Vec<String>),
    /// Start the run this many microseconds after the message is read.
    Begin { within_us: u64 },
    /// Stop the run now and send its results.
    Stop,
}

/// A message of an agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentMessage {
    /// The run is prepared and can start.
    Ready(Box<Ready>),
    /// The plan is invalid; one sentence per error.
    Refused(Vec<String>),
    /// The run is in progress.
    Alive,
    /// An interval of the run has ended.
    Interval(Box<Interval>),
    /// The run has ended. It is the last message, without the intervals, which were sent before.
    Run(Box<Run>),
}

/// The program and the plan of an agent that is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    /// The program, with its version.
    pub(super) tool: String,
    /// The agent's share of the run.
    pub(super) asked: RunSettings,
}

/// Sends a message as a line.
pub(super) fn send(mut stream: &TcpStream, message: &impl Serialize) -> Result<(), LineError> {
    let mut line =
        serde_json::to_vec(message).unwrap_or_else(|_| unreachable!("all keys are text"));
    line.push(b'\n');
    stream.write_all(&line).map_err(LineError::System)
}

/// Reads lines from a stream.
#[derive(Debug)]
pub(super) struct LineReader {
    stream: BufReader<TcpStream>,
    line_bytes_max: usize,
    /// How many bytes may still be received.
    bytes_left: u64,
}

/// How long to wait for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The longest time without any byte.
    pub(super) silence: Duration,
    /// The longest time until the line is complete.
    pub(super) line: Duration,
}

impl Wait {
    /// One limit for the whole line.
    pub(super) fn line(line: Duration) -> Self {
        Self { silence: line, line }
    }
}

/// Why no line was received.
#[derive(Debug)]
pub(super) enum LineError {
    /// Nothing was received for this time.
    Silent(Duration),
    /// The line was incomplete after this time.
    Incomplete(Duration),
    /// The other side has closed the connection.
    Closed,
    /// The line is longer than this number of bytes.
    TooLong(usize),
    /// All lines together are too long.
    TooMuch,
    /// A system call failed.
    System(io::Error),
}

impl LineReader {
    /// A reader with limits for a line and for all lines together.
    pub(super) fn new(stream: TcpStream, line_bytes_max: usize, bytes_max: u64) -> Self {
        Self {
            stream: BufReader::with_capacity(16 << 10, stream),
            line_bytes_max,
            bytes_left: bytes_max,
        }
    }

    /// Reads the next line, without its end.
    pub(super) fn next(&mut self, wait: Wait) -> Result<Vec<u8>, LineError> {
        let begun = Instant::now();
        let mut line = Vec::new();
        loop {
            let left = wait.line.saturating_sub(begun.elapsed());
            let limit = if left < wait.silence { wait.line } else { wait.silence };
            let is_silent = left.is_zero() || !self.receive(left.min(wait.silence))?;
            if is_silent && line.is_empty() {
                return Err(LineError::Silent(limit));
            }
            if is_silent {
                return Err(LineError::Incomplete(limit));
            }
            let piece = self.stream.buffer();
            let end = piece.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            let consumed = end.map_or(piece.len(), |end| end + 1);
            self.stream.consume(consumed);
            let left = self.bytes_left.checked_sub(consumed as u64);
            self.bytes_left = left.ok_or(LineError::TooMuch)?;
            if line.len() > self.line_bytes_max {
                return Err(LineError::TooLong(self.line_bytes_max));
            }
            if end.is_some() {
                return Ok(line);
            }
        }
    }

    /// Fills the buffer unless it has bytes; false if nothing was received within the time.
    fn receive(&mut self, within: Duration) -> Result<bool, LineError> {
        let timeout = self.stream.get_ref().set_read_timeout(Some(within));
        timeout.map_err(LineError::System)?;
        match self.stream.fill_buf() {
            Ok([]) => Err(LineError::Closed),
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => Ok(true),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(false),
                io::ErrorKind::ConnectionReset => Err(LineError::Closed),
                _ => Err(LineError::System(error)),
            },
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(time) => write!(f, "sent nothing for {time:.0?}"),
            Self::Incomplete(time) => write!(f, "sent an incomplete line within {time:.0?}"),
            Self::Closed => f.write_str("closed the connection"),
            Self::TooLong(bytes) => write!(f, "sent a line of more than {bytes} bytes"),
            Self::TooMuch => f.write_str("sent too many bytes for one run"),
            Self::System(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const PATIENT: Wait =
        Wait { silence: vervet_testkit::PATIENCE, line: vervet_testkit::PATIENCE };
    const SHORT: Duration = Duration::from_millis(20);

    /// Lines of at most 8 bytes, and 24 in all, from a peer that has sent this and keeps the
    /// connection open.
    fn lines(sent: &str) -> (LineReader, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        other.write_all(sent.as_bytes()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        (LineReader::new(stream, 8, 24), other)
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
        let closed = "closed the connection";
        check("a\n\nlonger\n", &["a", "", "longer"], closed);
        check("12345678\n", &["12345678"], closed);
        for long in ["123456789", "123456789\n"] {
            check(long, &[], "sent a line of more than 8 bytes");
        }
        check("a\nunended", &["a"], closed);
        check(&"123\n".repeat(6), &["123"; 6], closed);
        check(&"1234\n".repeat(5), &["1234"; 4], "sent too many bytes for one run");
    }

    #[test]
    fn no_wait_is_unlimited() {
        let silent = Wait { silence: SHORT, ..PATIENT };
        let slow = Wait { line: SHORT, ..PATIENT };
        for wait in [silent, slow] {
            let (mut nothing, _other) = lines("");
            assert!(matches!(nothing.next(wait), Err(LineError::Silent(_))));
            let (mut half, _other) = lines("hal");
            assert!(matches!(half.next(wait), Err(LineError::Incomplete(_))));
        }
    }
}
