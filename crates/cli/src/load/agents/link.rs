//! The coordinator's connection to one agent: a thread that passes on the agent's messages, and
//! ends by a timeout at the latest.

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use vervet_report::Run;

use super::coordinator::Event;
use super::messages::{AgentMessage, CoordinatorMessage, LineError, LineReader, Wait, send};
use super::messages::{MESSAGE_BYTES_MAX, MESSAGES_BYTES_MAX, SEND_TIMEOUT};

/// How much of an invalid message is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// How long a coordinator waits for an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// Until it is connected.
    pub(super) connect: Duration,
    /// Until it has accepted the plan: it looks up names and reads files, one plan after another.
    pub(super) ready: Duration,
    /// Between two messages during the run.
    pub(super) silence: Duration,
    /// Until a message is complete.
    pub(super) line: Duration,
    /// For the result, from the planned end of the run, or from the order to stop.
    pub(super) result: Duration,
}

impl Timeouts {
    pub(super) const DEFAULT: Self = Self {
        connect: Duration::from_secs(5),
        ready: Duration::from_secs(30),
        silence: Duration::from_secs(10),
        line: Duration::from_mins(1),
        result: Duration::from_mins(1),
    };

    /// Until all agents are ready. No other limit includes the time of name lookups.
    pub(super) const fn all_ready(self) -> Duration {
        self.connect.saturating_add(self.ready).saturating_add(self.silence)
    }
}

/// The connection to one agent.
#[derive(Debug)]
pub(super) struct Link {
    /// The number of the agent.
    pub(super) number: usize,
    /// The address of the agent.
    pub(super) name: String,
    pub(super) timeouts: Timeouts,
    pub(super) events: Sender<Event>,
    /// Receives the start of the run, with the time by which its result must be there: none, if the
    /// run has no time limit.
    pub(super) start: Receiver<Option<Instant>>,
}

/// Why an agent has no result.
#[derive(Debug)]
pub(super) enum AgentError {
    /// The connection failed.
    Connect(io::Error),
    /// It did not accept the plan.
    NotReady(LineError),
    /// It refused the plan.
    Refused(Vec<String>),
    /// Its message is invalid or unexpected.
    Message(String),
    /// The connection failed during the run.
    Lost(LineError),
    /// The run has ended without a result.
    NoResult,
    /// Its run differs from that of the other agents.
    Different(String),
    /// The coordinator has given up because of another agent.
    Abandoned,
}

impl Link {
    /// Sends the plan and passes on the agent's messages until the agent has ended.
    pub(super) fn attend(self, arguments: Vec<String>) {
        let ended = self.converse(arguments);
        // Fails if the coordinator has ended before.
        let _ = self.events.send(Event::Ended(self.number, ended));
    }

    fn converse(&self, arguments: Vec<String>) -> Result<Box<Run>, AgentError> {
        let stream = self.connect().map_err(AgentError::Connect)?;
        let plan = CoordinatorMessage::Plan(arguments);
        send(&stream, &plan).map_err(AgentError::NotReady)?;
        let reading = stream.try_clone().map_err(AgentError::Connect)?;
        let mut lines = LineReader::new(reading, MESSAGE_BYTES_MAX, MESSAGES_BYTES_MAX);
        let first = lines.next(Wait::line(self.timeouts.ready));
        match parse(&first.map_err(AgentError::NotReady)?)? {
            AgentMessage::Ready(ready) => self.pass(Event::Ready(self.number, ready, stream))?,
            AgentMessage::Refused(why) => return Err(AgentError::Refused(why)),
            _ => return Err(AgentError::Message("a run before its start".to_owned())),
        }
        let result_by = self.start.recv().map_err(|_| AgentError::Abandoned)?;
        self.follow(&mut lines, result_by)
    }

    /// Connects to the first address that accepts, all within one time limit.
    fn connect(&self) -> io::Result<TcpStream> {
        let until = Instant::now() + self.timeouts.connect;
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.name.to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now());
            let left = left.max(Duration::from_millis(1));
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(SEND_TIMEOUT))?;
                    return Ok(stream);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Passes on messages until the run is there.
    fn follow(
        &self,
        lines: &mut LineReader,
        result_by: Option<Instant>,
    ) -> Result<Box<Run>, AgentError> {
        loop {
            let left = result_by.map(|by| by.saturating_duration_since(Instant::now()));
            let line = self.timeouts.line.min(left.unwrap_or(Duration::MAX));
            let message = lines.next(Wait { silence: self.timeouts.silence, line });
            let is_late = result_by.is_some_and(|by| Instant::now() >= by);
            match message {
                Err(_) if is_late => return Err(AgentError::NoResult),
                Err(why) => return Err(AgentError::Lost(why)),
                Ok(message) => match parse(&message)? {
                    AgentMessage::Alive => {}
                    AgentMessage::Interval(interval) => {
                        self.pass(Event::Interval(self.number, interval))?;
                    }
                    AgentMessage::Run(run) => return Ok(run),
                    AgentMessage::Refused(why) => return Err(AgentError::Refused(why)),
                    AgentMessage::Ready(_) => {
                        return Err(AgentError::Message("ready for a second time".to_owned()));
                    }
                },
            }
        }
    }

    fn pass(&self, event: Event) -> Result<(), AgentError> {
        self.events.send(event).map_err(|_| AgentError::Abandoned)
    }
}

fn parse(line: &[u8]) -> Result<AgentMessage, AgentError> {
    serde_json::from_slice(line).map_err(|_| {
        // A character has at most four bytes.
        let begin = &line[..line.len().min(SHOWN_CHARS_MAX * 4)];
        let text = String::from_utf8_lossy(begin);
        let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        AgentError::Message(shown.escape_debug().to_string())
    })
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => {
                write!(f, "cannot connect: {error} (start it with: vervet load --agent ADDRESS)")
            }
            Self::NotReady(why) => write!(
                f,
                "{why} before it accepted the plan (it may be busy with another run, or not be a vervet agent)"
            ),
            Self::Refused(why) => f.write_str(&why.join("; ")),
            Self::Message(message) => write!(
                f,
                "unexpected message from the agent: \"{message}\" (is it an agent of the same version?)"
            ),
            Self::Lost(why) => write!(
                f,
                "{why} during the run (check its machine and the network, then run again)"
            ),
            Self::NoResult => {
                f.write_str("sent no result after its run (check its machine, then run again)")
            }
            Self::Different(why) => f.write_str(why),
            Self::Abandoned => f.write_str("was abandoned because another agent was not available"),
        }
    }
}
