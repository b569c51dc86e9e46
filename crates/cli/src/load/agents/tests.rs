//! A coordinator with fake agents: silent ones, ones that fail, and the common start of all. The
//! timeouts are short here.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use vervet_load::TOOL;
use vervet_report::{Ended, Interval, Mode, Reuse, Run, RunSettings, Stop, Verdict};
use vervet_testkit::PATIENCE;

use super::coordinator::{Coordinator, Event, LEAD, RULE};
use super::link::Timeouts;
use super::messages::{AgentMessage, CoordinatorMessage, Ready, send};
use crate::load::live::ProgressMode;
use crate::load::outcome::Refused;
use crate::load::outputs::Outputs;

/// Long enough for a thread to be late, and short for a test.
const SHORT: Duration = Duration::from_millis(300);

const PATIENT: Timeouts = Timeouts {
    connect: PATIENCE,
    ready: PATIENCE,
    silence: PATIENCE,
    line: PATIENCE,
    result: PATIENCE,
};

/// The agent's side of a connection.
struct Fake {
    stream: TcpStream,
    orders: BufReader<TcpStream>,
}

impl Fake {
    fn order(&mut self) -> Option<CoordinatorMessage> {
        let mut line = String::new();
        self.orders.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    fn send(&mut self, message: &AgentMessage) {
        // Fails if the coordinator has given up.
        let _ = send(&self.stream, message);
    }

    /// Fails if the coordinator has given up.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Accepts the plan and reports that it is ready.
    fn ready(&mut self) {
        assert!(matches!(self.order(), Some(CoordinatorMessage::Plan(_))));
        let tool = TOOL.to_owned();
        let asked = settings();
        self.send(&AgentMessage::Ready(Box::new(Ready { tool, asked })));
    }

    /// Accepts the plan and waits for the start; returns its lead.
    fn begin(&mut self) -> u64 {
        self.ready();
        match self.order() {
            Some(CoordinatorMessage::Begin { within_us }) => within_us,
            other => panic!("{other:?} instead of the beginning"),
        }
    }

    /// Sends the result of a number of requests.
    fn send_result(&mut self, done: u64) {
        let mut run = Run::new(TOOL, settings());
        run.achieved.done = done;
        self.send(&AgentMessage::Run(Box::new(run)));
    }

    /// Waits until the coordinator has closed the connection.
    fn hold(&mut self) {
        while self.order().is_some() {}
    }
}

/// A run of 1 ms: a later result is late at once.
fn settings() -> RunSettings {
    RunSettings {
        target: "http://a/".to_owned(),
        mode: Mode::Closed,
        connections: 1,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop { after_ms: Some(1), after_requests: None },
        warm_up_ms: 0,
        timeout_ms: 1000,
        threads: 1,
        checks: Vec::new(),
    }
}

/// The address of a fake agent that does this once.
fn fake(act: impl FnOnce(&mut Fake) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let orders = BufReader::new(stream.try_clone().unwrap());
        act(&mut Fake { stream, orders });
    });
    address
}

/// The run of these agents; `begin` gets the sender of events, to interrupt it.
fn run_with(
    agents: &[String],
    timeouts: Timeouts,
    begin: impl FnOnce(Sender<Event>),
) -> Result<Run, Refused> {
    let typed = ["vervet", "load"].map(str::to_owned);
    let coordinator = Coordinator::new(agents, &typed, timeouts)?;
    begin(coordinator.events_to.clone());
    coordinator.run(ProgressMode::Quiet, &Outputs::default())
}

fn run(agents: &[String], timeouts: Timeouts) -> Result<Run, Refused> {
    run_with(agents, timeouts, drop)
}

/// The run does not start, with this error of the only agent.
#[track_caller]
fn check_refused(timeouts: Timeouts, act: impl FnOnce(&mut Fake) + Send + 'static, says: &str) {
    let agent = fake(act);
    let refused = run(std::slice::from_ref(&agent), timeouts).unwrap_err();
    let expected = format!("agent {agent}: {says}");
    assert!(refused.lines()[0].starts_with(&expected), "{refused:?} instead of {expected}");
}

/// One agent sends its run and this one fails with this error, which the report has.
#[track_caller]
fn check_lost(timeouts: Timeouts, act: impl FnOnce(&mut Fake) + Send + 'static, says: &str) {
    let good = fake(|agent| {
        agent.begin();
        agent.send_result(7);
        agent.hold();
    });
    let bad = fake(act);
    let run = run(&[good, bad.clone()], timeouts).unwrap();
    assert_eq!((run.agents, run.achieved.done), (1, 7));
    let mut findings = run.findings.iter();
    let finding = findings.find(|finding| finding.rule == RULE).unwrap();
    assert_eq!(finding.verdict, Verdict::Failed);
    let expected = format!("1 of 2 sent no result: agent {bad}: {says}");
    assert!(finding.measured.starts_with(&expected), "{finding:?}");
}

#[test]
fn the_wait_for_an_agent_that_is_not_ready_is_limited() {
    let impatient = Timeouts { ready: SHORT, ..PATIENT };
    check_refused(impatient, Fake::hold, "sent nothing for 300ms before it accepted the plan");
    let half = |agent: &mut Fake| {
        agent.write(b"{\"ready\":");
        agent.hold();
    };
    check_refused(impatient, half, "sent an incomplete line within 300ms");
    check_refused(PATIENT, |_| {}, "closed the connection before it accepted the plan");
    let other = |agent: &mut Fake| agent.write(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    check_refused(
        PATIENT,
        other,
        "unexpected message from the agent: \"HTTP/1.1 400 Bad Request\\r\"",
    );
    let refuses = |agent: &mut Fake| {
        let why = vec!["no file".to_owned(), "no name".to_owned()];
        agent.send(&AgentMessage::Refused(why));
    };
    check_refused(PATIENT, refuses, "no file; no name");
}

/// If one agent is not available, the others are released and no request is sent.
#[test]
fn no_run_starts_without_all_agents() {
    let (told_to, told) = mpsc::channel();
    let good = fake(move |agent| {
        agent.ready();
        told_to.send(agent.order().is_none()).unwrap();
    });
    let bad = fake(|_| {});
    let refused = run(&[good, bad], PATIENT).unwrap_err();
    assert_eq!(refused.lines().len(), 1, "{refused:?}");
    assert!(told.recv_timeout(PATIENCE).unwrap(), "it was released");
}

#[test]
fn the_loss_of_an_agent_keeps_the_results_of_the_others() {
    let impatient = Timeouts { silence: SHORT, ..PATIENT };
    let silent = |agent: &mut Fake| {
        agent.begin();
        agent.hold();
    };
    check_lost(impatient, silent, "sent nothing for 300ms during the run");
    let gone = |agent: &mut Fake| assert!(agent.begin() > 0);
    check_lost(PATIENT, gone, "closed the connection during the run");
    let garbage = |agent: &mut Fake| {
        agent.begin();
        agent.write(b"\xff\x1b[2J\n");
        agent.hold();
    };
    check_lost(PATIENT, garbage, "unexpected message from the agent: \"\u{fffd}\\u{1b}[2J\"");
    let again = |agent: &mut Fake| {
        agent.begin();
        let (tool, asked) = (TOOL.to_owned(), settings());
        agent.send(&AgentMessage::Ready(Box::new(Ready { tool, asked })));
        agent.hold();
    };
    check_lost(PATIENT, again, "unexpected message from the agent");
    let unlike = |agent: &mut Fake| {
        agent.begin();
        let mut run = Run::new(TOOL, settings());
        run.asked.pipelining = 2;
        agent.send(&AgentMessage::Run(Box::new(run)));
    };
    check_lost(PATIENT, unlike, "pipelining differs between agents");
}

/// Signs of life are not a result: after the end of the run the wait ends, too.
#[test]
fn the_wait_for_a_result_is_limited() {
    let impatient = Timeouts { result: SHORT, ..PATIENT };
    let alive = |agent: &mut Fake| {
        agent.begin();
        // Until the coordinator has closed its side.
        while send(&agent.stream, &AgentMessage::Alive).is_ok() {}
    };
    check_lost(impatient, alive, "sent no result after its run");
}

#[test]
fn the_loss_of_all_agents_is_an_error() {
    let gone = |agent: &mut Fake| assert!(agent.begin() > 0);
    let refused = run(&[fake(gone), fake(gone)], PATIENT).unwrap_err();
    assert_eq!(refused.lines().len(), 2, "{refused:?}");
}

/// The first agent that is ready starts when the last is, and a later message has a shorter lead.
#[test]
fn all_agents_start_when_the_last_is_ready() {
    let (seen_to, seen) = mpsc::channel();
    let (looked_to, looked) = mpsc::channel();
    let first = fake(move |agent| {
        agent.ready();
        agent.stream.set_read_timeout(Some(SHORT)).unwrap();
        let early = agent.order();
        looked_to.send(early.is_none()).unwrap();
        agent.stream.set_read_timeout(None).unwrap();
        let Some(CoordinatorMessage::Begin { within_us }) = agent.order() else {
            panic!("no beginning");
        };
        seen_to.send(within_us).unwrap();
        agent.send_result(1);
    });
    let (second_to, second_seen) = mpsc::channel();
    let second = fake(move |agent| {
        assert!(looked.recv_timeout(PATIENCE).unwrap(), "it began alone");
        second_to.send(agent.begin()).unwrap();
        agent.send_result(2);
    });
    let run = run(&[first, second], PATIENT).unwrap();
    assert_eq!((run.agents, run.achieved.done), (2, 3));
    let first_us = u128::from(seen.recv().unwrap());
    let second_us = u128::from(second_seen.recv().unwrap());
    assert!(second_us <= first_us && first_us <= LEAD.as_micros(), "{first_us} {second_us}");
}

/// The intervals of the run are the merged intervals of the agents.
#[test]
fn intervals_add_up() {
    let agent = |done: u64| {
        fake(move |agent| {
            agent.begin();
            for start_ms in [0, 1000] {
                let interval = Box::new(Interval { start_ms, done, ..Interval::default() });
                agent.send(&AgentMessage::Interval(interval));
            }
            agent.send_result(2 * done);
        })
    };
    let run = run(&[agent(1), agent(10)], PATIENT).unwrap();
    let done: Vec<u64> = run.intervals.iter().map(|one| one.done).collect();
    assert_eq!((run.achieved.done, done), (22, vec![11, 11]));
}

/// An interrupted run has the results up to then.
#[test]
fn an_interrupt_stops_all_agents() {
    let (began_to, began) = mpsc::channel();
    let agent = |began_to: Sender<()>| {
        fake(move |agent| {
            agent.begin();
            began_to.send(()).unwrap();
            assert!(matches!(agent.order(), Some(CoordinatorMessage::Stop)));
            let mut run = Run::new(TOOL, settings());
            run.achieved.ended = Ended::Interrupted;
            agent.send(&AgentMessage::Run(Box::new(run)));
        })
    };
    let agents = [agent(began_to.clone()), agent(began_to)];
    let interrupt = |events: Sender<Event>| {
        thread::spawn(move || {
            for _ in 0..2 {
                began.recv().unwrap();
            }
            events.send(Event::Interrupted).unwrap();
        });
    };
    let run = run_with(&agents, PATIENT, interrupt).unwrap();
    assert_eq!((run.agents, run.achieved.ended), (2, Ended::Interrupted));
    let silent = fake(Fake::hold);
    let interrupt = |events: Sender<Event>| events.send(Event::Interrupted).unwrap();
    let refused = run_with(&[silent], PATIENT, interrupt).unwrap_err();
    assert!(refused.lines()[0].contains("interrupted"), "{refused:?}");
}

/// The length of a line is limited, so that it cannot use up the memory.
#[test]
fn a_line_without_an_end_is_bounded() {
    let endless = |agent: &mut Fake| {
        agent.begin();
        let piece = vec![b'x'; 1 << 20];
        let written: io::Result<()> = (0..).try_for_each(|_: u64| agent.stream.write_all(&piece));
        assert!(written.is_err());
    };
    check_lost(PATIENT, endless, "sent a line of more than 67108864 bytes");
}
