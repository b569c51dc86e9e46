//! A load run as it was asked: everything resolved, nothing begun.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use vervet_engine::reactor::Outgoing;
use vervet_report::{Asked, Mode, Reuse, Stop};

use crate::check::Check;
use crate::pacer::{Arrival, Pacer};
use crate::script::Scripts;
use crate::share::Share;

/// Most connections of one run. More descriptors are a matter of the system's limits, which say so
/// themselves.
pub const CONNECTIONS_MAX: u32 = 1_000_000;
/// Most requests that wait for their answers on one connection.
pub const PIPELINING_MAX: u32 = 1024;
/// Most threads of one run.
pub const THREADS_MAX: usize = 256;
/// The shortest interval of a series.
pub const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// The maximum length of a run.
pub const DURATION_MAX: Duration = Duration::from_hours(30 * 24);

/// A load run as it was asked.
#[derive(Clone)]
pub struct Plan {
    /// What is loaded, for people: the URL, or the name of a scenario.
    pub target: String,
    /// Whom to connect to. Several (addresses of a name, sources) are taken in turn.
    pub outgoing: Vec<Outgoing>,
    /// What each user asks.
    pub scripts: Arc<dyn Scripts>,
    /// What answers must be, at the numbers that [`Request::check`](crate::script::Request::check)
    /// has.
    pub checks: Vec<Check>,
    /// Closed or open load.
    pub load: Load,
    /// Connections at once: users in closed load, the most that may be in use in open load.
    pub connections: u32,
    /// How long a connection is used.
    pub reuse: Reuse,
    /// Requests that may wait for their answers on one connection; 1 disables pipelining. More
    /// needs closed load and scripts that read no answers.
    pub pipelining: u32,
    /// Connections begun per second at most.
    pub connect_rate: Option<f64>,
    /// The length of the window, without the warm-up.
    pub duration: Option<Duration>,
    /// Requests begun in the window at most.
    pub requests: Option<u64>,
    /// Time before the window, whose requests are made and not counted.
    pub warm_up: Duration,
    /// The distance of the points of the series.
    pub interval: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long an answer may take from the sent time. Looked at every 128 ms: so much later an
    /// answer may still count.
    pub response_timeout: Duration,
    /// Threads that make the load.
    pub threads: usize,
    /// Processors that they are bound to, in turn; none: the system decides.
    pub cores: Vec<usize>,
    /// Which share of a run of several machines this is. Connections, requests and due times are
    /// those of the whole; each machine does its share of them. The scripts have to be of the same
    /// share.
    pub part: Share,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plan").field(&self.asked()).finish()
    }
}

/// Who decides when a request is sent.
#[derive(Clone, Debug)]
pub enum Load {
    /// Each user sends its next request when the answer to the last has come.
    Closed,
    /// A pacer says when, however slow the target is.
    Open {
        /// The shape.
        pacer: Arc<dyn Pacer>,
        /// How requests lie around it.
        arrival: Arrival,
    },
}

impl Plan {
    /// One connection, ten seconds, closed load, keep-alive: what is changed from.
    pub fn new(target: impl Into<String>, outgoing: Outgoing, scripts: Arc<dyn Scripts>) -> Self {
        Self {
            target: target.into(),
            outgoing: vec![outgoing],
            scripts,
            checks: vec![Check::default()],
            load: Load::Closed,
            connections: 1,
            reuse: Reuse::KeepAlive,
            pipelining: 1,
            connect_rate: None,
            duration: Some(Duration::from_secs(10)),
            requests: None,
            warm_up: Duration::ZERO,
            interval: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(30),
            threads: 1,
            cores: Vec::new(),
            part: Share::WHOLE,
        }
    }

    /// What is wrong with it, if something is.
    ///
    /// # Errors
    /// The first thing that cannot be.
    pub fn verify(&self) -> Result<(), PlanError> {
        let is_open = matches!(self.load, Load::Open { .. });
        let reads_answers = self.scripts.user(0).reads_answers();
        let pipelines = self.pipelining > 1;
        let rules = [
            (self.outgoing.is_empty(), PlanError::NoAddress),
            (
                !(1..=CONNECTIONS_MAX).contains(&self.connections),
                PlanError::Connections,
            ),
            (
                !(1..=PIPELINING_MAX).contains(&self.pipelining),
                PlanError::Pipelining,
            ),
            (
                !(1..=THREADS_MAX).contains(&self.threads),
                PlanError::Threads,
            ),
            (
                self.duration.is_none() && self.requests.is_none(),
                PlanError::Endless,
            ),
            (
                self.duration
                    .is_some_and(|it| it.is_zero() || it > DURATION_MAX)
                    || self.warm_up > DURATION_MAX,
                PlanError::Duration,
            ),
            (self.requests == Some(0), PlanError::NoRequests),
            (self.interval < INTERVAL_MIN, PlanError::Interval),
            (
                self.connect_timeout.is_zero() || self.response_timeout.is_zero(),
                PlanError::Timeout,
            ),
            (
                self.connect_rate
                    .is_some_and(|rate| !(rate > 0.0 && rate.is_finite())),
                PlanError::ConnectRate,
            ),
            (
                matches!(self.reuse, Reuse::Requests { requests: 0 }),
                PlanError::Reuse,
            ),
            (
                self.part.index >= self.part.of || self.part.of > self.connections,
                PlanError::Part,
            ),
            (pipelines && is_open, PlanError::PipeliningOpen),
            (pipelines && reads_answers, PlanError::PipeliningAnswers),
        ];
        match rules.into_iter().find(|(broken, _)| *broken) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Threads that have something to do: no more than connections.
    pub(crate) fn threads_used(&self) -> u32 {
        u32::try_from(self.threads)
            .unwrap_or(u32::MAX)
            .clamp(1, (self.connections / self.part.of).max(1))
    }

    /// The share of one of this machine's threads in the whole run: agents are threads elsewhere.
    pub(crate) fn share(&self, thread: u32) -> Share {
        self.part.thread(thread, self.threads_used())
    }

    /// What of a count of the whole run this machine does.
    fn own(&self, whole: u64) -> u64 {
        let shares = (0..self.threads_used()).map(|thread| self.share(thread));
        shares.map(|share| share.part(whole)).sum()
    }

    /// Requests that one connection carries; `None`: as many as the target lets.
    pub(crate) fn requests_per_connection(&self) -> Option<u64> {
        match self.reuse {
            Reuse::KeepAlive => None,
            Reuse::Close => Some(1),
            Reuse::Requests { requests } => Some(requests),
        }
    }

    /// The plan as a report holds it.
    pub(crate) fn asked(&self) -> Asked {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Asked {
            target: self.target.clone(),
            mode: match &self.load {
                Load::Closed => Mode::Closed,
                Load::Open { pacer, arrival } => Mode::Open {
                    pacers: BTreeSet::from([format!("{pacer}, {arrival}")]),
                    rate_max_milli: milli(pacer.rate_max() / f64::from(self.part.of)),
                },
            },
            connections: self.own(self.connections.into()),
            reuse: self.reuse,
            pipelining: self.pipelining,
            stop: Stop {
                after_ms: self.duration.map(milliseconds),
                after_requests: self.requests.map(|all| self.own(all)),
            },
            warm_up_ms: milliseconds(self.warm_up),
            timeout_ms: milliseconds(self.response_timeout),
            threads: self.threads_used().into(),
            checks: self.checks.iter().flat_map(Check::sentences).collect(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is between 0 and RATE_MAX"
)]
fn milli(rate: f64) -> u64 {
    (rate * 1000.0).round() as u64
}

/// What cannot be asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The target has no address.
    NoAddress,
    /// Too few or too many connections.
    Connections,
    /// Too deep, or not at all.
    Pipelining,
    /// Too few or too many threads.
    Threads,
    /// Neither a duration nor a count ends it.
    Endless,
    /// A duration that is none, or too long.
    Duration,
    /// No request at all.
    NoRequests,
    /// The points of the series are too close.
    Interval,
    /// No time at all for an answer.
    Timeout,
    /// No rate.
    ConnectRate,
    /// Connections that carry nothing.
    Reuse,
    /// No part, or fewer connections than parts.
    Part,
    /// Pipelining is for closed load.
    PipeliningOpen,
    /// A script that waits for answers sends one request after another.
    PipeliningAnswers,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress => f.write_str("the target has no address"),
            Self::Connections => write!(f, "connections must be 1 to {CONNECTIONS_MAX}"),
            Self::Pipelining => write!(f, "pipelining must be 1 to {PIPELINING_MAX} requests deep"),
            Self::Threads => write!(f, "threads must be 1 to {THREADS_MAX}"),
            Self::Endless => f.write_str("a run needs an end: a duration or a number of requests"),
            Self::Duration => write!(
                f,
                "a run takes more than no time, and at most {} days",
                DURATION_MAX.as_secs() / 86_400
            ),
            Self::NoRequests => f.write_str("a run makes one request at least"),
            Self::Interval => write!(f, "an interval is at least {} ms", INTERVAL_MIN.as_millis()),
            Self::Timeout => f.write_str("a time limit of nothing lets no answer pass"),
            Self::ConnectRate => f.write_str("the connect rate must be above 0"),
            Self::Reuse => f.write_str("a connection carries one request at least"),
            Self::Part => f.write_str("each agent needs a connection at least: raise -c"),
            Self::PipeliningOpen => f.write_str(
                "pipelining is for closed load: in open load each request has its own time",
            ),
            Self::PipeliningAnswers => f.write_str(
                "pipelining is for requests that do not depend on answers, and this scenario reads them",
            ),
        }
    }
}

impl std::error::Error for PlanError {}
