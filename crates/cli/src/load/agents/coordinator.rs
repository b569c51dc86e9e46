//! A coordinator: has agents make the load that was typed, each its part, all from the same moment
//! on, shows how it goes, and merges what they give. What it waits for has a limit, and an agent
//! that is lost does not take the others' figures with it.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use vervet_load::{Share, TOOL};
use vervet_report::{Asked, Interval, MergeError, Run, StepFigures};

use super::super::arguments::LoadArguments;
use super::super::command::interrupts;
use super::super::live::{DRAW_EVERY, Live, Shown};
use super::super::outcome::Refused;
use super::super::outputs::Outputs;
use super::limits::{AGENTS_MAX, LEAD, OTHERS_WITHIN, Patience};
use super::link::{Began, Link};
use super::lost::{Lost, finding};
use super::messages::{Order, Ready, line};
use super::series::Series;

/// What happens to a coordinator.
#[derive(Debug)]
pub(super) enum Event {
    /// An agent, by its number, waits for the beginning.
    Ready(usize, Box<Ready>, TcpStream),
    /// An interval is over for an agent.
    Interval(usize, Box<Interval>),
    /// An agent has told all, or will tell no more.
    Ended(usize, Result<Box<Run>, Lost>),
    /// Somebody wants the run to end.
    Interrupted,
}

/// Has the agents make the load that was typed, each its part, and merges what they give.
pub(crate) fn run(
    agents: &[String],
    arguments: &LoadArguments,
    live: Live,
    outputs: &Outputs,
) -> Result<Run, Refused> {
    if agents.len() > AGENTS_MAX {
        return Err(Refused::usage(format!("at most {AGENTS_MAX} agents")));
    }
    if arguments.load.part.is_some() {
        return Err(Refused::usage("--part is for agents"));
    }
    let (events_to, events) = mpsc::channel();
    let interrupted = events_to.clone();
    let stop = move || {
        // Nobody listens any more when the run is over.
        let _ = interrupted.send(Event::Interrupted);
    };
    let handle = interrupts(stop, live)?;
    let typed: Vec<String> = std::env::args().collect();
    let coordinator = Coordinator::begin(agents, &typed, Patience::DEFAULT, (events_to, events));
    let run = coordinator.and_then(|coordinator| coordinator.run(live, outputs));
    handle.close();
    run
}

/// The agents of a run, and what they say.
#[derive(Debug)]
pub(super) struct Coordinator {
    names: Vec<String>,
    patience: Patience,
    events: Receiver<Event>,
    /// What tells the thread of each agent that the run has begun; closed, that it will not.
    begins: Vec<Sender<Began>>,
}

/// Agents that wait for the beginning: what they say all of them do, and their streams.
struct AllReady {
    asked: Asked,
    streams: Vec<TcpStream>,
}

impl Coordinator {
    /// Gives each agent its part of what was typed.
    pub(super) fn begin(
        names: &[String],
        typed: &[String],
        patience: Patience,
        (events_to, events): (Sender<Event>, Receiver<Event>),
    ) -> Result<Self, Refused> {
        let of = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let mut begins = Vec::new();
        for (index, name) in (0..of).zip(names) {
            let mut arguments = typed.to_vec();
            arguments.push(format!("--part={}", Share { index, of }));
            let (begin_to, begin) = mpsc::channel();
            let link = Link {
                number: index as usize,
                name: name.clone(),
                patience,
                events: events_to.clone(),
                begin,
            };
            let builder = std::thread::Builder::new().name(format!("agent-{index}"));
            let thread = builder.spawn(move || link.attend(arguments));
            thread.map_err(Refused::usage)?;
            begins.push(begin_to);
        }
        Ok(Self {
            names: names.to_vec(),
            patience,
            events,
            begins,
        })
    }

    /// The run, from the moment when all are ready to what they give.
    pub(super) fn run(self, live: Live, outputs: &Outputs) -> Result<Run, Refused> {
        let AllReady { asked, streams } = self.all_ready()?;
        let mut shown = live.begin(asked.clone());
        self.say_begin(&asked, &streams);
        let given = self.gather(&streams, &mut shown, outputs);
        shown.end();
        for stream in streams {
            // Agents that still make a run for nobody end it.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.merged(given)
    }

    /// Waits until all are ready. One that cannot be had is enough for nothing to be begun.
    fn all_ready(&self) -> Result<AllReady, Refused> {
        let mut until = Instant::now() + self.patience.all_ready();
        let mut ready: Vec<Option<(Box<Ready>, TcpStream)>> = Vec::new();
        ready.resize_with(self.names.len(), || None);
        let mut lost = Vec::new();
        while ready.iter().filter(|one| one.is_some()).count() + lost.len() < ready.len() {
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Ready(agent, told, stream)) => {
                    if let Some(place) = ready.get_mut(agent) {
                        *place = Some((told, stream));
                    }
                }
                Ok(Event::Ended(agent, Err(why))) => {
                    until = until.min(Instant::now() + OTHERS_WITHIN);
                    lost.push(self.told_of(agent, &why));
                }
                Ok(Event::Interrupted) => return Err(Refused::interrupted()),
                Ok(Event::Interval(..) | Event::Ended(..)) => {}
                Err(_) => break,
            }
        }
        if !lost.is_empty() {
            return Err(Refused::agents(lost));
        }
        let ready: Option<Vec<_>> = ready.into_iter().collect();
        let ready = ready.ok_or_else(|| {
            Refused::target(format!(
                "not all agents were ready within {:?}",
                self.patience.all_ready()
            ))
        })?;
        self.agreed(ready)
    }

    /// What all together do, if they do parts of the same.
    fn agreed(&self, ready: Vec<(Box<Ready>, TcpStream)>) -> Result<AllReady, Refused> {
        let mut whole: Option<Run> = None;
        let mut streams = Vec::new();
        for ((ready, stream), name) in ready.into_iter().zip(&self.names) {
            let part = Run::new(ready.tool, ready.asked);
            whole = Some(match whole {
                None => part,
                Some(whole) => whole
                    .merge(&part)
                    .map_err(|error| Refused::target(format!("agent {name}: {error}")))?,
            });
            streams.push(stream);
        }
        let whole = whole.ok_or_else(|| Refused::usage("no agent"))?;
        if whole.tool != TOOL {
            return Err(Refused::target(format!(
                "the agents are {}, and this is {TOOL}: use the same on all",
                whole.tool
            )));
        }
        Ok(AllReady {
            asked: whole.asked,
            streams,
        })
    }

    /// Tells all to begin at the same moment: the later one is told, the sooner it begins after
    /// that.
    fn say_begin(&self, asked: &Asked, streams: &[TcpStream]) {
        let first = Instant::now();
        let length = asked.stop.after_ms.map(|length_ms| {
            LEAD + Duration::from_millis(asked.warm_up_ms) + Duration::from_millis(length_ms)
        });
        let began = Began {
            ends_by: length.and_then(|length| first.checked_add(length + self.patience.result)),
        };
        for stream in streams {
            let within = LEAD.saturating_sub(first.elapsed());
            let within_us = u64::try_from(within.as_micros()).unwrap_or(0);
            say(stream, &Order::Begin { within_us });
        }
        for begin in &self.begins {
            // A thread that has ended has said why.
            let _ = begin.send(began);
        }
    }

    /// What each agent gives, in their order. Shows how it goes.
    fn gather(
        &self,
        streams: &[TcpStream],
        shown: &mut Shown,
        outputs: &Outputs,
    ) -> Vec<Result<Run, String>> {
        let mut series = Series::of(self.names.len());
        let mut given: Vec<Option<Result<Run, String>>> = vec![None; self.names.len()];
        let mut stopped = None;
        while given.iter().any(Option::is_none) {
            let whole = match self.events.recv_timeout(DRAW_EVERY) {
                Ok(Event::Interval(agent, interval)) => series.take(agent, *interval),
                Ok(Event::Ended(agent, result)) => {
                    let whole = series.end(agent);
                    let intervals = series.intervals(agent);
                    let result = match result {
                        Ok(run) => Ok(Run { intervals, ..*run }),
                        Err(why) => Err(self.told_of(agent, &why)),
                    };
                    if let Err(why) = &result {
                        shown.note(why);
                        // Whatever it still does, nobody takes it.
                        let _ = streams.get(agent).map(|it| it.shutdown(Shutdown::Both));
                    }
                    if let Some(place) = given.get_mut(agent) {
                        *place = Some(result);
                    }
                    whole
                }
                Ok(Event::Interrupted) => {
                    for stream in streams {
                        say(stream, &Order::Stop);
                    }
                    stopped = Some(Instant::now());
                    Vec::new()
                }
                Ok(Event::Ready(..)) | Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            for interval in &whole {
                shown.interval(interval);
                // A reader that has gone does not end the run.
                let _ = outputs.interval(interval);
            }
            if whole.is_empty() {
                shown.time();
            }
            if stopped.is_some_and(|at: Instant| at.elapsed() > self.patience.result) {
                break;
            }
        }
        let numbered = given.into_iter().enumerate();
        let result = |(agent, result): (usize, Option<_>)| {
            result.unwrap_or_else(|| Err(self.told_of(agent, &Lost::NoResult)))
        };
        numbered.map(result).collect()
    }

    /// The run of all that gave one.
    fn merged(&self, given: Vec<Result<Run, String>>) -> Result<Run, Refused> {
        let mut parts: Vec<Run> = Vec::new();
        let mut lost = Vec::new();
        for (agent, result) in given.into_iter().enumerate() {
            let unlike = |part: &Run| Some(agree(parts.first()?, part).err()?.to_string());
            match result.map(|part| (unlike(&part), part)) {
                Ok((None, part)) => parts.push(part),
                Ok((Some(why), _)) => lost.push(self.told_of(agent, &Lost::Unlike(why))),
                Err(why) => lost.push(why),
            }
        }
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else {
            return Err(Refused::agents(lost));
        };
        let whole = parts.try_fold(first, |whole, part| whole.merge(&part));
        let mut whole = whole.map_err(Refused::target)?;
        if !lost.is_empty() {
            whole.findings.push(finding(self.names.len(), &lost));
        }
        Ok(whole)
    }

    fn told_of(&self, agent: usize, why: &Lost) -> String {
        let name = self.names.get(agent).map_or("", String::as_str);
        format!("agent {name}: {why}")
    }
}

/// Whether two runs are parts of one, found out without their figures.
fn agree(one: &Run, other: &Run) -> Result<(), MergeError> {
    let bare = |run: &Run| {
        let mut bare = Run::new(run.tool.clone(), run.asked.clone());
        bare.version = run.version;
        let names = run.steps.iter().map(|step| step.name.clone());
        bare.steps = names
            .map(|name| StepFigures {
                name,
                ..StepFigures::default()
            })
            .collect();
        bare
    };
    bare(one).merge(&bare(other)).map(drop)
}

/// Says something to an agent. One that has gone is found out by who reads from it.
fn say(mut stream: &TcpStream, order: &Order) {
    let _ = stream.write_all(&line(order));
}
