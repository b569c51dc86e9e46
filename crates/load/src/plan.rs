//! The plan of a load run: everything resolved, nothing started.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use vervet_engine::reactor::Outgoing;
use vervet_report::{Mode, Reuse, RunSettings, Stop};

use crate::check::Check;
use crate::pacer::{Arrival, Pacer};
use crate::script::Scripts;
use crate::share::Share;

/// Maximum number of connections of one run. The limit of open files may be lower.
pub const CONNECTIONS_MAX: u32 = 1_000_000;
/// Maximum number of outstanding requests on one connection.
pub const PIPELINING_MAX: u32 = 1024;
/// Most threads of one run.
pub const THREADS_MAX: usize = 256;
/// The shortest interval of a series.
pub const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// The maximum length of a run.
pub const DURATION_MAX: Duration = Duration::from_hours(30 * 24);

/// The plan of a load run.
#[derive(Clone)]
pub struct Plan {
    /// The target in reports: the URL, or the name of a scenario.
    pub target: String,
    /// Addresses to connect to. Several (addresses of a name, local addresses) are used in turn.
    pub outgoing: Vec<Outgoing>,
    /// The scripts of the users.
    pub scripts: Arc<dyn Scripts>,
    /// Checks of responses, indexed by [`Request::check`](crate::script::Request::check).
    pub checks: Vec<Check>,
    /// Closed or open load.
    pub load: Load,
    /// Connections at once: users in closed load, the most that may be in use in open load.
    pub connections: u32,
    /// How long a connection is used.
    pub reuse: Reuse,
    /// Maximum outstanding requests per connection; 1 disables pipelining. More needs closed load
    /// and scripts that do not read responses.
    pub pipelining: u32,
    /// Maximum rate of new connections per second.
    pub connect_rate: Option<f64>,
    /// The length of the window, without the warm-up.
    pub duration: Option<Duration>,
    /// Maximum number of requests in the window.
    pub requests: Option<u64>,
    /// Time before the window, whose requests are made and not counted.
    pub warm_up: Duration,
    /// The distance of the points of the series.
    pub interval: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// Timeout of a response from the sent time. Checked every 128 ms: a response that is late by
    /// less may still count.
    pub response_timeout: Duration,
    /// Threads that make the load.
    pub threads: usize,
    /// CPU cores to pin the threads to, in turn; empty for no pinning.
    pub cores: Vec<usize>,
    /// Which share of a run of several machines this is. Connections, requests and due times are
    /// those of the whole; each machine does its share of them. The scripts have to be of the same
    /// share.
    pub part: Share,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plan").field(&self.settings()).finish()
    }
}

/// What decides when a request is sent.
#[derive(Clone, Debug)]
pub enum Load {
    /// Each user sends its next request when it has the response to the last.
    Closed,
    /// A pacer decides, however slow the target is.
    Open {
        /// The shape of the rate over time.
        pacer: Arc<Pacer>,
        /// The distribution of requests around it.
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

    /// Checks the plan.
    ///
    /// # Errors
    /// The first value that is invalid, or that cannot be combined with another.
    pub fn verify(&self) -> Result<(), PlanError> {
        let is_open = matches!(self.load, Load::Open { .. });
        let reads_answers = self.scripts.user(0).reads_answers();
        let pipelines = self.pipelining > 1;
        let is_valid_time = |time: Duration| !time.is_zero() && time <= DURATION_MAX;
        let is_valid_rate = |rate: f64| rate > 0.0 && rate.is_finite();
        let days = DURATION_MAX.as_secs() / 86_400;
        let rules = [
            (!self.outgoing.is_empty(), "the target has no address".to_owned()),
            (
                (1..=CONNECTIONS_MAX).contains(&self.connections),
                format!("connections must be 1 to {CONNECTIONS_MAX}"),
            ),
            (
                (1..=PIPELINING_MAX).contains(&self.pipelining),
                format!("pipelined requests must be 1 to {PIPELINING_MAX}"),
            ),
            (
                (1..=THREADS_MAX).contains(&self.threads),
                format!("threads must be 1 to {THREADS_MAX}"),
            ),
            (
                self.duration.is_some() || self.requests.is_some(),
                "a run needs an end: a duration or a number of requests".to_owned(),
            ),
            (
                self.duration.is_none_or(is_valid_time) && self.warm_up <= DURATION_MAX,
                format!("the duration must be above 0 and at most {days} days"),
            ),
            (
                self.requests != Some(0),
                "the number of requests must be at least 1".to_owned(),
            ),
            (
                self.interval >= INTERVAL_MIN,
                format!("the interval must be at least {} ms", INTERVAL_MIN.as_millis()),
            ),
            (
                !self.connect_timeout.is_zero() && !self.response_timeout.is_zero(),
                "timeouts must be above 0".to_owned(),
            ),
            (
                self.connect_rate.is_none_or(is_valid_rate),
                "the connect rate must be above 0".to_owned(),
            ),
            (
                !matches!(self.reuse, Reuse::Requests { requests: 0 }),
                "the number of requests per connection must be at least 1".to_owned(),
            ),
            (
                self.part.index < self.part.of && self.part.of <= self.connections,
                "each agent needs at least one connection: raise -c".to_owned(),
            ),
            (
                !(pipelines && is_open),
                "pipelining needs closed load: in open load each request has its own due time".to_owned(),
            ),
            (
                !(pipelines && reads_answers),
                "pipelining needs requests that do not depend on responses, but this scenario reads \
                 them".to_owned(),
            ),
        ];
        match rules.into_iter().find(|(is_met, _)| !is_met) {
            Some((_, message)) => Err(PlanError(message)),
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
    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings {
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
                after_ms: self.duration.map(crate::clock::ms),
                after_requests: self.requests.map(|all| self.own(all)),
            },
            warm_up_ms: crate::clock::ms(self.warm_up),
            timeout_ms: crate::clock::ms(self.response_timeout),
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

/// An invalid value of a plan, or values that cannot be combined, as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}
