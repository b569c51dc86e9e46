//! The way to one agent, from the connection to its run: one thread that says what the agent told,
//! and ends by a limit at the latest.

use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use vervet_report::Run;

use super::coordinator::Event;
use super::limits::{LINE_BYTES_MAX, Patience, SEND_WITHIN, TOLD_BYTES_MAX};
use super::lines::{Lines, NoLine, Wait};
use super::lost::Lost;
use super::messages::{News, Order, line};

/// The way to one agent.
#[derive(Debug)]
pub(super) struct Link {
    /// The agent's number.
    pub(super) number: usize,
    /// Where it is.
    pub(super) name: String,
    pub(super) patience: Patience,
    pub(super) events: Sender<Event>,
    /// Tells that the run has begun.
    pub(super) begin: Receiver<Began>,
}

/// The run has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Began {
    /// When its result has to be there; none, where the run is bounded by no time.
    pub(super) ends_by: Option<Instant>,
}

impl Link {
    /// Gives the plan, and says what the agent tells until it has told all.
    pub(super) fn attend(self, arguments: Vec<String>) {
        let ended = self.converse(arguments);
        // Nobody listens where the coordinator has ended before.
        let _ = self.events.send(Event::Ended(self.number, ended));
    }

    fn converse(&self, arguments: Vec<String>) -> Result<Box<Run>, Lost> {
        let mut stream = self.connect().map_err(Lost::Unreachable)?;
        let plan = line(&Order::Plan(arguments));
        let sent = stream.write_all(&plan);
        sent.map_err(|error| Lost::NotReady(NoLine::System(error)))?;
        let reading = stream.try_clone().map_err(Lost::Unreachable)?;
        let mut lines = Lines::new(reading, LINE_BYTES_MAX, TOLD_BYTES_MAX);
        let first = lines.next(Wait::whole(self.patience.ready));
        match news(&first.map_err(Lost::NotReady)?)? {
            News::Ready(ready) => self.tell(Event::Ready(self.number, ready, stream))?,
            News::Refused(why) => return Err(Lost::Refused(why)),
            News::Alive | News::Interval(_) | News::Run(_) => {
                return Err(Lost::NoNews("a run that has not begun".to_owned()));
            }
        }
        let began = self.begin.recv().map_err(|_| Lost::GivenUp)?;
        self.follow(&mut lines, began)
    }

    /// To the first of its addresses that takes it, all within one limit.
    fn connect(&self) -> io::Result<TcpStream> {
        let until = Instant::now() + self.patience.connect;
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.name.to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now());
            let left = left.max(Duration::from_millis(1));
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(SEND_WITHIN))?;
                    return Ok(stream);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Until the run is there.
    fn follow(&self, lines: &mut Lines, began: Began) -> Result<Box<Run>, Lost> {
        loop {
            let left = began
                .ends_by
                .map(|by| by.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Lost::NoResult);
            }
            let whole = left.map_or(self.patience.line, |left| left.min(self.patience.line));
            let told = lines.next(Wait {
                silence: self.patience.silence,
                whole,
            });
            let told = told.map_err(|why| match began.ends_by {
                Some(by) if Instant::now() >= by => Lost::NoResult,
                _ => Lost::InTheMiddle(why),
            });
            match news(&told?)? {
                News::Alive => {}
                News::Interval(interval) => self.tell(Event::Interval(self.number, interval))?,
                News::Run(run) => return Ok(run),
                News::Refused(why) => return Err(Lost::Refused(why)),
                News::Ready(_) => {
                    return Err(Lost::NoNews("ready for a second time".to_owned()));
                }
            }
        }
    }

    fn tell(&self, event: Event) -> Result<(), Lost> {
        self.events.send(event).map_err(|_| Lost::GivenUp)
    }
}

fn news(line: &[u8]) -> Result<News, Lost> {
    serde_json::from_slice(line).map_err(|_| Lost::no_news(line))
}
