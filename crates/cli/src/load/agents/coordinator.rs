//! A coordinator: has agents run shares of one load, all from the same time on, shows the progress
//! and merges the results. Each wait has a time limit, and the loss of an agent keeps the results
//! of the others.

use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use vervet_load::{Series, Share, TOOL};
use vervet_report::{Finding, Interval, Run, RunSettings, Verdict};

use super::super::arguments::LoadArguments;
use super::super::command::interrupts;
use super::super::live::{DRAW_EVERY, ProgressDisplay, ProgressMode};
use super::super::outcome::Refused;
use super::super::outputs::Outputs;
use super::agent::{ALIVE_EVERY, BEGIN_TIMEOUT};
use super::link::{AgentError, Link, Timeouts};
use super::messages::{CoordinatorMessage, Ready, send};

/// The rule of the finding in a run without the results of all agents.
pub(crate) const RULE: &str = "agents";

/// The maximum number of agents of a run.
const AGENTS_MAX: usize = 256;
/// From the time when all agents are ready to the start that they have in common.
pub(super) const LEAD: Duration = Duration::from_millis(100);
/// The latest start that an agent accepts.
pub(super) const LEAD_MAX: Duration = Duration::from_secs(1);
/// How long the other agents have to fail too, once one has failed before the start.
const OTHERS_TIMEOUT: Duration = Duration::from_millis(500);

const _: () = {
    assert!(
        BEGIN_TIMEOUT.as_nanos() > Timeouts::DEFAULT.all_ready().as_nanos(),
        "the first agent to be ready waits for the last"
    );
    assert!(
        ALIVE_EVERY.as_nanos() * 5 <= Timeouts::DEFAULT.silence.as_nanos(),
        "late signs of life do not count as silence"
    );
    assert!(LEAD.as_nanos() < LEAD_MAX.as_nanos(), "agents accept the start");
};

/// An event of a coordinator.
#[derive(Debug)]
pub(super) enum Event {
    /// An agent, by number, is ready to start.
    Ready(usize, Box<Ready>, TcpStream),
    /// An agent has finished an interval.
    Interval(usize, Box<Interval>),
    /// An agent has sent its result, or failed.
    Ended(usize, Result<Box<Run>, AgentError>),
    /// The user interrupts the run.
    Interrupted,
}

/// Has the agents run their shares of the command line, and merges their results.
pub(crate) fn run(
    agents: &[String],
    arguments: &LoadArguments,
    live: ProgressMode,
    outputs: &Outputs,
) -> Result<Run, Refused> {
    if agents.len() > AGENTS_MAX {
        return Err(Refused::usage(format!("at most {AGENTS_MAX} agents")));
    }
    if arguments.load.part.is_some() {
        return Err(Refused::usage("--part is for agents"));
    }
    let typed: Vec<String> = std::env::args().collect();
    let coordinator = Coordinator::new(agents, &typed, Timeouts::DEFAULT)?;
    let events = coordinator.events_to.clone();
    let stop = move || {
        // Fails when the run is over.
        let _ = events.send(Event::Interrupted);
    };
    let handle = interrupts(stop, live)?;
    let run = coordinator.run(live, outputs);
    handle.close();
    run
}

/// The agents of a run and their events.
#[derive(Debug)]
pub(super) struct Coordinator {
    names: Vec<String>,
    timeouts: Timeouts,
    pub(super) events_to: Sender<Event>,
    events: Receiver<Event>,
    /// Channels to the thread of each agent for the deadline of its result; closed without a start.
    begins: Vec<Sender<Option<Instant>>>,
}

/// Agents that are ready: their whole plan, and their streams.
struct AllReady {
    asked: RunSettings,
    streams: Vec<TcpStream>,
}

impl Coordinator {
    /// Sends each agent its share of the command line.
    pub(super) fn new(
        names: &[String],
        typed: &[String],
        timeouts: Timeouts,
    ) -> Result<Self, Refused> {
        let (events_to, events) = mpsc::channel();
        let of = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let mut begins = Vec::new();
        for (index, name) in (0..of).zip(names) {
            let mut arguments = typed.to_vec();
            arguments.push(format!("--part={}", Share { index, of }));
            let (begin, start) = mpsc::channel();
            begins.push(begin);
            let link = Link {
                number: index as usize,
                name: name.clone(),
                timeouts,
                events: events_to.clone(),
                start,
            };
            let builder = std::thread::Builder::new().name(format!("agent-{index}"));
            let thread = builder.spawn(move || link.attend(arguments));
            thread.map_err(Refused::usage)?;
        }
        Ok(Self { names: names.to_vec(), timeouts, events_to, events, begins })
    }

    /// Runs the load, from the time when all agents are ready to their results.
    pub(super) fn run(self, live: ProgressMode, outputs: &Outputs) -> Result<Run, Refused> {
        let AllReady { asked, streams } = self.all_ready()?;
        let mut shown = live.begin(asked.clone());
        self.start(&asked, &streams);
        let results = self.gather(&streams, &mut shown, outputs);
        shown.end();
        for stream in streams {
            // Ends agents that are still running.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.merge(results)
    }

    /// Waits until all agents are ready. If one fails, the run does not start.
    fn all_ready(&self) -> Result<AllReady, Refused> {
        let mut until = Instant::now() + self.timeouts.all_ready();
        let mut ready: Vec<Option<(Box<Ready>, TcpStream)>> = Vec::new();
        ready.resize_with(self.names.len(), || None);
        let mut failed = Vec::new();
        while ready.iter().flatten().count() + failed.len() < ready.len() {
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Ready(agent, plan, stream)) => {
                    if let Some(slot) = ready.get_mut(agent) {
                        *slot = Some((plan, stream));
                    }
                }
                Ok(Event::Ended(agent, Err(why))) => {
                    until = until.min(Instant::now() + OTHERS_TIMEOUT);
                    failed.push(self.message(agent, &why));
                }
                Ok(Event::Interrupted) => return Err(Refused::interrupted()),
                Ok(Event::Interval(..) | Event::Ended(..)) => {}
                Err(_) => break,
            }
        }
        if !failed.is_empty() {
            return Err(Refused::agents(failed));
        }
        let ready: Option<Vec<_>> = ready.into_iter().collect();
        let ready = ready.ok_or_else(|| {
            Refused::target(format!(
                "not all agents were ready within {:?}",
                self.timeouts.all_ready()
            ))
        })?;
        self.agree(ready)
    }

    /// Merges the plans of the agents, which must be shares of the same plan.
    fn agree(&self, ready: Vec<(Box<Ready>, TcpStream)>) -> Result<AllReady, Refused> {
        let mut whole: Option<Run> = None;
        let mut streams = Vec::new();
        for ((ready, stream), name) in ready.into_iter().zip(&self.names) {
            let run = Run::new(ready.tool, ready.asked);
            let merged = match whole {
                None => Ok(run),
                Some(whole) => whole.merge(&run),
            };
            whole =
                Some(merged.map_err(|error| Refused::target(format!("agent {name}: {error}")))?);
            streams.push(stream);
        }
        let whole = whole.ok_or_else(|| Refused::usage("no agent"))?;
        if whole.tool != TOOL {
            return Err(Refused::target(format!(
                "the agents run {}, this is {TOOL}: use the same version on all machines",
                whole.tool
            )));
        }
        Ok(AllReady { asked: whole.asked, streams })
    }

    /// Starts all agents at the same time: the later the message, the shorter its lead.
    fn start(&self, asked: &RunSettings, streams: &[TcpStream]) {
        let first = Instant::now();
        let length = asked.stop.after_ms.map(|length_ms| {
            LEAD + Duration::from_millis(asked.warm_up_ms) + Duration::from_millis(length_ms)
        });
        let result_by = length.and_then(|length| first.checked_add(length + self.timeouts.result));
        for stream in streams {
            let lead = LEAD.saturating_sub(first.elapsed());
            let within_us = u64::try_from(lead.as_micros()).unwrap_or(0);
            order(stream, &CoordinatorMessage::Begin { within_us });
        }
        for begin in &self.begins {
            // Fails if the thread has ended, which has reported the reason.
            let _ = begin.send(result_by);
        }
    }

    /// Shows the progress, and returns the result of each agent in their order.
    fn gather(
        &self,
        streams: &[TcpStream],
        shown: &mut ProgressDisplay,
        outputs: &Outputs,
    ) -> Vec<Result<Run, String>> {
        let mut series = Series::new(self.names.len());
        let mut intervals: Vec<Vec<Interval>> = vec![Vec::new(); self.names.len()];
        let mut results: Vec<Option<Result<Run, String>>> = vec![None; self.names.len()];
        let mut stopped: Option<Instant> = None;
        while results.iter().any(Option::is_none) {
            let complete = match self.events.recv_timeout(DRAW_EVERY) {
                Ok(Event::Interval(agent, interval)) => {
                    if let Some(intervals) = intervals.get_mut(agent) {
                        intervals.push((*interval).clone());
                    }
                    series.add(agent, *interval)
                }
                Ok(Event::Ended(agent, result)) => {
                    let complete = series.end(agent);
                    let intervals = intervals.get_mut(agent).map(std::mem::take);
                    let intervals = intervals.unwrap_or_default();
                    let result = match result {
                        Ok(run) => Ok(Run { intervals, ..*run }),
                        Err(why) => Err(self.message(agent, &why)),
                    };
                    if let Err(why) = &result {
                        shown.note(why);
                        // Ends the agent if it is still running.
                        let _ = streams.get(agent).map(|it| it.shutdown(Shutdown::Both));
                    }
                    if let Some(slot) = results.get_mut(agent) {
                        *slot = Some(result);
                    }
                    complete
                }
                Ok(Event::Interrupted) => {
                    for stream in streams {
                        order(stream, &CoordinatorMessage::Stop);
                    }
                    stopped = Some(Instant::now());
                    Vec::new()
                }
                Ok(Event::Ready(..)) | Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            for interval in &complete {
                shown.interval(interval);
                // A reader that has closed the pipe does not end the run.
                let _ = outputs.interval(interval);
            }
            if complete.is_empty() {
                shown.time();
            }
            if stopped.is_some_and(|at| at.elapsed() > self.timeouts.result) {
                break;
            }
        }
        let numbered = results.into_iter().enumerate();
        let result = |(agent, result): (usize, Option<_>)| {
            result.unwrap_or_else(|| Err(self.message(agent, &AgentError::NoResult)))
        };
        numbered.map(result).collect()
    }

    /// Merges the runs of the agents that sent one.
    fn merge(&self, results: Vec<Result<Run, String>>) -> Result<Run, Refused> {
        let mut whole: Option<Run> = None;
        let mut failed = Vec::new();
        for (agent, result) in results.into_iter().enumerate() {
            match (result, &whole) {
                (Err(why), _) => failed.push(why),
                (Ok(run), None) => whole = Some(run),
                (Ok(run), Some(others)) => match others.clone().merge(&run) {
                    Ok(merged) => whole = Some(merged),
                    Err(error) => {
                        let error = AgentError::Different(error.to_string());
                        failed.push(self.message(agent, &error));
                    }
                },
            }
        }
        let Some(mut whole) = whole else {
            return Err(Refused::agents(failed));
        };
        if !failed.is_empty() {
            whole.findings.push(finding(self.names.len(), &failed));
        }
        Ok(whole)
    }

    fn message(&self, agent: usize, why: &AgentError) -> String {
        let name = self.names.get(agent).map_or("", String::as_str);
        format!("agent {name}: {why}")
    }
}

/// Sends a message to an agent. The thread that reads from the agent reports a lost connection.
fn order(stream: &TcpStream, message: &CoordinatorMessage) {
    let _ = send(stream, message);
}

/// The finding in the run of a number of agents, some of which failed.
fn finding(agents: usize, failed: &[String]) -> Finding {
    Finding {
        rule: RULE.to_owned(),
        verdict: Verdict::Failed,
        measured: format!("{} of {agents} sent no result: {}", failed.len(), failed.join("; ")),
        bound: "a result from each agent".to_owned(),
        meaning: "The figures are those of the other agents: fewer requests were sent than \
                  planned, and the load of the missing agents shows only in the response times."
            .to_owned(),
        advice: "Restart them, or remove them from --agents, and run again.".to_owned(),
    }
}
