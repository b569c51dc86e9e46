//! Agents that fail while they generate load, and coordinators that disconnect: what is reported,
//! what is kept, and who continues.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};
use vervet_report::{Run, forms};
use vervet_testkit::{Child, PATIENCE, Signal, Stream};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

fn agent() -> (Child, String) {
    let mut agent = Child::start(BINARY, ["load", "--agent", "127.0.0.1:0"]);
    let line = agent.wait_for_line(|line| line.contains("agent at "));
    let address = line.rsplit(' ').next().unwrap().to_owned();
    (agent, address)
}

fn canned() -> (Child, String) {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    (canned, url)
}

/// A coordinator of a run that ends by what the test does.
fn coordinator(url: &str, agents: &[&str], more: &[&str]) -> Child {
    let agents = agents.join(",");
    let arguments = ["load", url, "-c", "4", "-d", "1h", "--interval", "50ms"];
    let arguments = arguments.into_iter().chain(["--agents", &agents]);
    Child::start(BINARY, arguments.chain(more.iter().copied()))
}

/// Ends it, and gives its report and what it said.
#[track_caller]
fn interrupted(mut coordinator: Child, status: i32) -> (Run, String) {
    coordinator.signal(Signal::INT);
    let exit = coordinator.wait_exit(PATIENCE);
    let talk = coordinator.text(Stream::Stderr);
    assert_eq!(exit.code(), Some(status), "{talk}");
    let run = forms::from_json(&coordinator.text(Stream::Stdout)).unwrap();
    (run, talk)
}

fn is_interval(line: &str) -> bool {
    line.contains("generator") && line.contains("busy")
}

/// The run continues with the other agent, and the report says that its results are partial.
#[test]
fn the_results_of_other_agents_are_kept_when_one_dies() {
    let (_canned, url) = canned();
    let ((_first, one), (mut second, other)) = (agent(), agent());
    let mut coordinator = coordinator(&url, &[&one, &other], &["--format", "json"]);
    coordinator.wait_for_line(is_interval);
    second.signal(Signal::KILL);
    let lost = coordinator.wait_for_line(|line| line.contains("during the run"));
    assert!(lost.contains(&format!("agent {other}: ")), "{lost}");
    // It goes on.
    let told = coordinator.lines().len();
    assert!(vervet_testkit::wait_until(PATIENCE, || {
        let lines = coordinator.lines();
        lines[told..].iter().any(|line| is_interval(&line.text))
    }));
    let (run, talk) = interrupted(coordinator, 130);
    assert_eq!(run.agents, 1);
    assert!(run.achieved.done > 0);
    let finding = run.findings.iter().find(|it| it.rule == "agents").unwrap();
    assert!(finding.measured.starts_with("1 of 2 sent no result: agent "), "{finding:?}");
    assert!(talk.contains("agents: 1 of 2 sent no result"), "{talk}");
}

/// A fake agent that sends this when the coordinator starts the run.
fn saying(what: impl Fn(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut orders = BufReader::new(stream.try_clone().unwrap()).lines();
        let plan: Value = serde_json::from_str(&orders.next().unwrap().unwrap()).unwrap();
        let ready = json!({"ready": {
            "tool": concat!("vervet ", env!("CARGO_PKG_VERSION")),
            "asked": settings(&plan["plan"]),
        }});
        writeln!(stream, "{ready}").unwrap();
        let begin = orders.next().unwrap().unwrap();
        assert!(begin.contains("begin"), "{begin}");
        what(&mut stream);
        // Until the coordinator goes.
        while orders.next().is_some_and(|order| order.is_ok()) {}
    });
    address
}

/// What an agent would say that it does: its share of one second with two connections.
fn settings(plan: &Value) -> Value {
    json!({
        "target": plan[2],
        "mode": {"kind": "closed"},
        "connections": 1,
        "reuse": {"kind": "keep_alive"},
        "pipelining": 1,
        "stop": {"after_ms": 1000, "after_requests": null},
        "warm_up_ms": 0,
        "timeout_ms": 30000,
        "threads": 1,
        "checks": ["status 200 to 399"],
    })
}

/// A good agent with one of these: the report has only the results of the good one, and the status
/// says that an agent is missing.
#[test]
fn invalid_messages_of_an_agent_are_reported() {
    let (_canned, url) = canned();
    let garbage = |stream: &mut TcpStream| stream.write_all(b"garbage\n").unwrap();
    let huge = |stream: &mut TcpStream| {
        let piece = vec![b'x'; 1 << 20];
        while stream.write_all(&piece).is_ok() {}
    };
    let bad: [(String, &str); 2] = [
        (saying(garbage), "unexpected message from the agent: \"garbage\""),
        (saying(huge), "sent a line of more than 67108864 bytes"),
    ];
    for (bad, says) in bad {
        let (_agent, good) = agent();
        let agents = format!("{good},{bad}");
        let arguments = [&*url, "-c", "2", "-d", "1s", "-q", "--format", "json"];
        let arguments = ["load"].into_iter().chain(arguments);
        let mut coordinator = Child::start(BINARY, arguments.chain(["--agents", &agents]));
        let exit = coordinator.wait_exit(PATIENCE);
        let talk = coordinator.text(Stream::Stderr);
        assert_eq!(exit.code(), Some(4), "{talk}");
        assert!(talk.contains(&format!("agent {bad}: {says}")), "{talk}");
        let run = forms::from_json(&coordinator.text(Stream::Stdout)).unwrap();
        assert!(run.agents == 1 && run.achieved.done > 0);
    }
}

/// An agent whose coordinator has gone ends that run, makes the next, and ends when it is asked to.
#[test]
fn an_agent_stops_when_its_coordinator_disconnects() {
    let (_canned, url) = canned();
    let (mut agent, address) = agent();
    let mut gone = coordinator(&url, &[&address], &[]);
    gone.wait_for_line(is_interval);
    gone.signal(Signal::KILL);
    gone.wait_exit(PATIENCE);
    let mut next = coordinator(&url, &[&address], &["--format", "json"]);
    next.wait_for_line(is_interval);
    let (run, _) = interrupted(next, 130);
    assert_eq!(run.agents, 1);
    agent.signal(Signal::TERM);
    assert_eq!(agent.wait_exit(PATIENCE).code(), Some(130));
}

/// An agent that is to end gives what it has first.
#[test]
fn a_terminated_agent_sends_its_run() {
    let (_canned, url) = canned();
    let (mut agent, address) = agent();
    let mut coordinator = coordinator(&url, &[&address], &["--format", "json"]);
    coordinator.wait_for_line(is_interval);
    agent.signal(Signal::TERM);
    let exit = coordinator.wait_exit(PATIENCE);
    assert_eq!(exit.code(), Some(130), "{:?}", coordinator.lines());
    let run = forms::from_json(&coordinator.text(Stream::Stdout)).unwrap();
    assert!(run.achieved.done > 0);
    assert_eq!(agent.wait_exit(PATIENCE).code(), Some(0));
}

/// One that waits has nothing to give.
#[test]
fn an_idle_agent_ends_at_once() {
    let (mut agent, _) = agent();
    agent.signal(Signal::TERM);
    assert_eq!(agent.wait_exit(PATIENCE).code(), Some(130));
}
