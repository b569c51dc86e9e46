//! Merges the runs of several agents, without loss and in any order: sums of counts and histograms,
//! the earliest start, the longest window and the worst verdicts.

use std::collections::BTreeMap;
use std::fmt;

use crate::audit::Finding;
use crate::interval::Interval;
use crate::interval::StepFigures;
use crate::machine::{Generator, KernelCounters};
use crate::plan::{Mode, RunSettings, Stop};
use crate::run::{Achieved, Run};

/// Why two runs cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The programs or the versions of the documents differ.
    Version {
        /// Program and version of the first run.
        one: String,
        /// Program and version of the other run.
        other: String,
    },
    /// A setting of the runs differs.
    Settings {
        /// The setting that differs.
        what: &'static str,
    },
}

impl Run {
    /// Adds the run of another agent, made at the same time with the same plan.
    ///
    /// The window is the longest of both, since the agents worked at the same time. Findings of the
    /// audit are kept by rule, the worst of each; to get them for the whole run, audit the merged
    /// one.
    pub fn merge(mut self, other: &Self) -> Result<Self, MergeError> {
        if (self.version, &self.tool) != (other.version, &other.tool) {
            let named = |run: &Self| format!("{} (version {})", run.tool, run.version);
            return Err(MergeError::Version { one: named(&self), other: named(other) });
        }
        self.asked = settings(self.asked, &other.asked)?;
        self.steps = steps(self.steps, &other.steps)?;
        self.intervals = intervals(self.intervals, &other.intervals);
        self.started_unix_ms = self.started_unix_ms.min(other.started_unix_ms);
        self.agents = self.agents.saturating_add(other.agents);
        self.achieved = achieved(self.achieved, &other.achieved);
        self.timings.connect.merge(&other.timings.connect);
        self.timings.first_byte.merge(&other.timings.first_byte);
        self.timings.response.merge(&other.timings.response);
        self.timings.service.merge(&other.timings.service);
        self.errors.merge(&other.errors);
        for (status, count) in &other.statuses {
            let sum = self.statuses.entry(*status).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.censored.count = self.censored.count.saturating_add(other.censored.count);
        self.censored.longest_ns = self.censored.longest_ns.max(other.censored.longest_ns);
        self.findings = findings(self.findings, &other.findings);
        self.conditions.clear();
        self.search = None;
        self.generator = generator(self.generator, &other.generator);
        self.kernel = kernel(self.kernel, &other.kernel);
        self.watched.extend_from_slice(&other.watched);
        self.watched.sort();
        for request in other.slowest.requests() {
            self.slowest.add(request.clone());
        }
        for (name, values) in &other.environment {
            let ours = self.environment.entry(name.clone()).or_default();
            ours.extend(values.iter().cloned());
        }
        Ok(self)
    }
}

fn settings(mut ours: RunSettings, theirs: &RunSettings) -> Result<RunSettings, MergeError> {
    let parts = [
        ("the target", ours.target == theirs.target),
        ("the reuse of connections", ours.reuse == theirs.reuse),
        ("pipelining", ours.pipelining == theirs.pipelining),
        ("the duration", ours.stop.after_ms == theirs.stop.after_ms),
        ("the warm-up", ours.warm_up_ms == theirs.warm_up_ms),
        ("the timeout", ours.timeout_ms == theirs.timeout_ms),
        ("the list of checks", ours.checks == theirs.checks),
    ];
    if let Some((what, _)) = parts.into_iter().find(|(_, same)| !same) {
        return Err(MergeError::Settings { what });
    }
    ours.mode = match (ours.mode, &theirs.mode) {
        (Mode::Closed, Mode::Closed) => Mode::Closed,
        (
            Mode::Open { mut pacers, rate_max_milli },
            Mode::Open { pacers: more, rate_max_milli: rate },
        ) => {
            pacers.extend(more.iter().cloned());
            Mode::Open { pacers, rate_max_milli: rate_max_milli.saturating_add(*rate) }
        }
        _ => {
            return Err(MergeError::Settings { what: "the kind of load" });
        }
    };
    ours.connections = ours.connections.saturating_add(theirs.connections);
    ours.threads = ours.threads.saturating_add(theirs.threads);
    ours.stop = Stop {
        after_ms: ours.stop.after_ms,
        after_requests: sum(ours.stop.after_requests, theirs.stop.after_requests),
    };
    Ok(ours)
}

/// The sum of the known values; `None` if both are unknown.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (known, None) | (None, known) => known,
    }
}

fn achieved(ours: Achieved, theirs: &Achieved) -> Achieved {
    Achieved {
        window_us: ours.window_us.max(theirs.window_us),
        ended: ours.ended.max(theirs.ended),
        asked: sum(ours.asked, theirs.asked),
        done: ours.done.saturating_add(theirs.done),
        bytes_received: ours.bytes_received.saturating_add(theirs.bytes_received),
        bytes_sent: ours.bytes_sent.saturating_add(theirs.bytes_sent),
        content_bytes: ours.content_bytes.saturating_add(theirs.content_bytes),
        connections_opened: ours.connections_opened.saturating_add(theirs.connections_opened),
    }
}

fn steps(
    mut ours: Vec<StepFigures>,
    theirs: &[StepFigures],
) -> Result<Vec<StepFigures>, MergeError> {
    let names = |steps: &[StepFigures]| -> Vec<String> {
        steps.iter().map(|step| step.name.clone()).collect()
    };
    if names(&ours) != names(theirs) {
        return Err(MergeError::Settings { what: "the list of steps" });
    }
    for (step, more) in ours.iter_mut().zip(theirs) {
        step.done = step.done.saturating_add(more.done);
        step.bytes = step.bytes.saturating_add(more.bytes);
        step.errors.merge(&more.errors);
        step.response.merge(&more.response);
        for (text, count) in &more.assertions {
            let sum = step.assertions.entry(text.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    Ok(ours)
}

/// Intervals that begin together become one, as long as the longer; others are kept as they are.
fn intervals(ours: Vec<Interval>, theirs: &[Interval]) -> Vec<Interval> {
    let mut by_start: BTreeMap<u64, Interval> =
        ours.into_iter().map(|interval| (interval.start_ms, interval)).collect();
    for more in theirs {
        let Some(interval) = by_start.get_mut(&more.start_ms) else {
            by_start.insert(more.start_ms, more.clone());
            continue;
        };
        *interval = std::mem::take(interval).beside(more);
    }
    by_start.into_values().collect()
}

fn findings(ours: Vec<Finding>, theirs: &[Finding]) -> Vec<Finding> {
    let mut worst: BTreeMap<String, Finding> = BTreeMap::new();
    for finding in ours.into_iter().chain(theirs.iter().cloned()) {
        match worst.get_mut(&finding.rule) {
            Some(known) if *known >= finding => {}
            _ => {
                worst.insert(finding.rule.clone(), finding);
            }
        }
    }
    worst.into_values().collect()
}

fn generator(mut ours: Generator, theirs: &Generator) -> Generator {
    ours.cpu_user_us = ours.cpu_user_us.saturating_add(theirs.cpu_user_us);
    ours.cpu_system_us = ours.cpu_system_us.saturating_add(theirs.cpu_system_us);
    ours.busiest_thread_permille = ours.busiest_thread_permille.max(theirs.busiest_thread_permille);
    ours.occupied_thread_permille =
        ours.occupied_thread_permille.max(theirs.occupied_thread_permille);
    ours.thread_errors.extend(theirs.thread_errors.iter().cloned());
    ours.lag.merge(&theirs.lag);
    ours
}

fn kernel(ours: KernelCounters, theirs: &KernelCounters) -> KernelCounters {
    KernelCounters {
        listen_overflows: sum(ours.listen_overflows, theirs.listen_overflows),
        listen_drops: sum(ours.listen_drops, theirs.listen_drops),
        retransmitted_segments: sum(ours.retransmitted_segments, theirs.retransmitted_segments),
        loss_probes: sum(ours.loss_probes, theirs.loss_probes),
        retransmitted_syns: sum(ours.retransmitted_syns, theirs.retransmitted_syns),
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { one, other } => {
                write!(
                    f,
                    "the agents have different versions, {one} and {other}: use the same on all machines"
                )
            }
            Self::Settings { what } => {
                write!(f, "{what} differs between agents: give all of them the same plan")
            }
        }
    }
}

impl std::error::Error for MergeError {}
