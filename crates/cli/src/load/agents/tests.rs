//! A coordinator before agents of the test: silent ones, ones that stop, and when all of them
//! begin. Limits are short here.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use vervet_load::TOOL;
use vervet_report::{Asked, Ended, Interval, Mode, Reuse, Run, Stop, Verdict};
use vervet_testkit::PATIENCE;

use super::coordinator::{Coordinator, Event};
use super::limits::{LEAD, Patience};
use super::lost::RULE;
use super::messages::{News, Order, Ready, line};
use crate::load::live::Live;
use crate::load::outcome::Refused;
use crate::load::outputs::Outputs;

/// Time enough for a thread to be late, and short for a test.
const SHORT: Duration = Duration::from_millis(300);

const PATIENT: Patience = Patience {
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
    fn order(&mut self) -> Option<Order> {
        let mut line = String::new();
        self.orders.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    fn tell(&mut self, news: &News) {
        self.write(&line(news));
    }

    /// A coordinator that has given it up reads no more.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Takes the plan and says that it is ready.
    fn ready(&mut self) {
        assert!(matches!(self.order(), Some(Order::Plan(_))));
        let tool = TOOL.to_owned();
        let asked = asked();
        self.tell(&News::Ready(Box::new(Ready { tool, asked })));
    }

    /// The same, and waits for the beginning.
    fn begin(&mut self) -> u64 {
        self.ready();
        match self.order() {
            Some(Order::Begin { within_us }) => within_us,
            other => panic!("{other:?} instead of the beginning"),
        }
    }

    /// The result of so many requests.
    fn give(&mut self, done: u64) {
        let mut run = Run::new(TOOL, asked());
        run.achieved.done = done;
        self.tell(&News::Run(Box::new(run)));
    }

    /// Until the coordinator has gone.
    fn hold(&mut self) {
        while self.order().is_some() {}
    }
}

/// A run of no length: what comes after it is late at once.
fn asked() -> Asked {
    Asked {
        target: "http://a/".to_owned(),
        mode: Mode::Closed,
        connections: 1,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop {
            after_ms: Some(1),
            after_requests: None,
        },
        warm_up_ms: 0,
        timeout_ms: 1000,
        threads: 1,
        checks: Vec::new(),
    }
}

/// Where an agent waits that does this once.
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

/// The run of these agents; what interrupts it is given to `begin`.
fn run_with(
    agents: &[String],
    patience: Patience,
    begin: impl FnOnce(Sender<Event>),
) -> Result<Run, Refused> {
    let (events_to, events) = mpsc::channel();
    begin(events_to.clone());
    let typed = ["vervet", "load"].map(str::to_owned);
    Coordinator::begin(agents, &typed, patience, (events_to, events))?
        .run(Live::Quiet, &Outputs::default())
}

fn run(agents: &[String], patience: Patience) -> Result<Run, Refused> {
    run_with(agents, patience, drop)
}

/// Nothing is begun, and this is said of the only agent.
#[track_caller]
fn check_refused(patience: Patience, act: impl FnOnce(&mut Fake) + Send + 'static, says: &str) {
    let agent = fake(act);
    let refused = run(std::slice::from_ref(&agent), patience).unwrap_err();
    let expected = format!("agent {agent}: {says}");
    assert!(
        refused.lines()[0].starts_with(&expected),
        "{refused:?} instead of {expected}"
    );
}

/// One agent gives its run, this one is lost: what the report has of it, and what it says of the
/// other.
#[track_caller]
fn check_lost(patience: Patience, act: impl FnOnce(&mut Fake) + Send + 'static, says: &str) {
    let good = fake(|agent| {
        agent.begin();
        agent.give(7);
        agent.hold();
    });
    let bad = fake(act);
    let run = run(&[good, bad.clone()], patience).unwrap();
    assert_eq!((run.agents, run.achieved.done), (1, 7));
    let mut findings = run.findings.iter();
    let finding = findings.find(|finding| finding.rule == RULE).unwrap();
    assert_eq!(finding.verdict, Verdict::Failed);
    let expected = format!("1 of 2 sent no result: agent {bad}: {says}");
    assert!(finding.measured.starts_with(&expected), "{finding:?}");
}

#[test]
fn an_agent_that_takes_no_plan_is_not_waited_for() {
    let impatient = Patience {
        ready: SHORT,
        ..PATIENT
    };
    check_refused(
        impatient,
        Fake::hold,
        "said nothing for 300ms before it accepted the plan",
    );
    let half = |agent: &mut Fake| {
        agent.write(b"{\"ready\":");
        agent.hold();
    };
    check_refused(impatient, half, "stopped in the middle of a line for 300ms");
    check_refused(
        PATIENT,
        |_| {},
        "ended the connection before it accepted the plan",
    );
    let other = |agent: &mut Fake| agent.write(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    check_refused(
        PATIENT,
        other,
        "unexpected message from the agent: \"HTTP/1.1 400 Bad Request\\r\"",
    );
    let refuses = |agent: &mut Fake| {
        let why = vec!["no file".to_owned(), "no name".to_owned()];
        agent.tell(&News::Refused(why));
    };
    check_refused(PATIENT, refuses, "no file; no name");
}

/// One that cannot be had is enough: the others are let go, and nothing was asked.
#[test]
fn nothing_is_begun_without_all() {
    let (told_to, told) = mpsc::channel();
    let good = fake(move |agent| {
        agent.ready();
        told_to.send(agent.order().is_none()).unwrap();
    });
    let bad = fake(|_| {});
    let refused = run(&[good, bad], PATIENT).unwrap_err();
    assert_eq!(refused.lines().len(), 1, "{refused:?}");
    assert!(told.recv_timeout(PATIENCE).unwrap(), "it was let go");
}

#[test]
fn an_agent_that_is_lost_leaves_the_others_figures() {
    let impatient = Patience {
        silence: SHORT,
        ..PATIENT
    };
    let silent = |agent: &mut Fake| {
        agent.begin();
        agent.hold();
    };
    check_lost(impatient, silent, "said nothing for 300ms during the run");
    let gone = |agent: &mut Fake| assert!(agent.begin() > 0);
    check_lost(PATIENT, gone, "ended the connection during the run");
    let garbage = |agent: &mut Fake| {
        agent.begin();
        agent.write(b"\xff\x1b[2J\n");
        agent.hold();
    };
    check_lost(
        PATIENT,
        garbage,
        "unexpected message from the agent: \"\u{fffd}\\u{1b}[2J\"",
    );
    let again = |agent: &mut Fake| {
        agent.begin();
        let (tool, asked) = (TOOL.to_owned(), asked());
        agent.tell(&News::Ready(Box::new(Ready { tool, asked })));
        agent.hold();
    };
    check_lost(PATIENT, again, "unexpected message from the agent");
    let unlike = |agent: &mut Fake| {
        agent.begin();
        let mut run = Run::new(TOOL, asked());
        run.asked.pipelining = 2;
        agent.tell(&News::Run(Box::new(run)));
    };
    check_lost(PATIENT, unlike, "pipelining of one agent is not");
}

/// Signs of life alone are no result: the run is over, and so is the wait.
#[test]
fn a_result_that_does_not_come_is_not_waited_for() {
    let impatient = Patience {
        result: SHORT,
        ..PATIENT
    };
    let alive = |agent: &mut Fake| {
        agent.begin();
        // Until the coordinator has closed its side.
        while agent.stream.write_all(&line(&News::Alive)).is_ok() {}
    };
    check_lost(impatient, alive, "sent no result after its run");
}

#[test]
fn agents_that_are_all_lost_give_no_report() {
    let gone = |agent: &mut Fake| assert!(agent.begin() > 0);
    let refused = run(&[fake(gone), fake(gone)], PATIENT).unwrap_err();
    assert_eq!(refused.lines().len(), 2, "{refused:?}");
}

/// The first to be ready is told to begin when the last is, and each the sooner the later it is
/// told.
#[test]
fn all_begin_when_the_last_is_ready() {
    let (seen_to, seen) = mpsc::channel();
    let (looked_to, looked) = mpsc::channel();
    let first = fake(move |agent| {
        agent.ready();
        agent.stream.set_read_timeout(Some(SHORT)).unwrap();
        let early = agent.order();
        looked_to.send(early.is_none()).unwrap();
        agent.stream.set_read_timeout(None).unwrap();
        let Some(Order::Begin { within_us }) = agent.order() else {
            panic!("no beginning");
        };
        seen_to.send(within_us).unwrap();
        agent.give(1);
    });
    let (second_to, second_seen) = mpsc::channel();
    let second = fake(move |agent| {
        assert!(looked.recv_timeout(PATIENCE).unwrap(), "it began alone");
        second_to.send(agent.begin()).unwrap();
        agent.give(2);
    });
    let run = run(&[first, second], PATIENT).unwrap();
    assert_eq!((run.agents, run.achieved.done), (2, 3));
    let first_us = u128::from(seen.recv().unwrap());
    let second_us = u128::from(second_seen.recv().unwrap());
    assert!(
        second_us <= first_us && first_us <= LEAD.as_micros(),
        "{first_us} {second_us}"
    );
}

/// Intervals are those of the run: what agents told one by one, merged.
#[test]
fn intervals_add_up() {
    let agent = |done: u64| {
        fake(move |agent| {
            agent.begin();
            for start_ms in [0, 1000] {
                let interval = Box::new(Interval {
                    start_ms,
                    done,
                    ..Interval::default()
                });
                agent.tell(&News::Interval(interval));
            }
            agent.give(2 * done);
        })
    };
    let run = run(&[agent(1), agent(10)], PATIENT).unwrap();
    let done: Vec<u64> = run.intervals.iter().map(|one| one.done).collect();
    assert_eq!((run.achieved.done, done), (22, vec![11, 11]));
}

/// Who interrupts gets what there is.
#[test]
fn an_interrupt_stops_all_agents() {
    let (began_to, began) = mpsc::channel();
    let agent = |began_to: Sender<()>| {
        fake(move |agent| {
            agent.begin();
            began_to.send(()).unwrap();
            assert!(matches!(agent.order(), Some(Order::Stop)));
            let mut run = Run::new(TOOL, asked());
            run.achieved.ended = Ended::Interrupted;
            agent.tell(&News::Run(Box::new(run)));
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

/// A line of any length is no way to take all memory.
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
