//! Several agents as one run: what they made is what one would have made, and what there is only
//! once is done once.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};

use serde_json::Value;
use vervet_report::{Histogram, Run, forms};
use vervet_testkit::{Child, PATIENCE, TempTree, Vervet, wait_until};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// Agents of this machine, and where they wait.
fn agents(count: usize) -> (Vec<Child>, Vec<String>) {
    let start = |_| {
        let mut agent = Child::start(BINARY, ["load", "--agent", "127.0.0.1:0"]);
        let line = agent.wait_for_line(|line| line.contains("agent at "));
        let address = line.rsplit(' ').next().unwrap().to_owned();
        (agent, address)
    };
    (0..count).map(start).unzip()
}

/// What the coordinator prints, with how it ends and what it says.
fn load(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(BINARY);
    command.arg("load").args(arguments).args(["-q", "--format", "json"]);
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The run that the agents make.
#[track_caller]
fn run(arguments: &[&str]) -> Run {
    let (status, printed, talk) = load(arguments);
    // Whether the audit passed on a busy machine is not what is tried here.
    assert!(matches!(status, Some(0 | 3 | 5)), "{status:?}: {talk}");
    forms::from_json(&printed).unwrap_or_else(|error| panic!("{error}: {talk}"))
}

/// Stands before an agent, and gives what the agent gave.
fn relay(agent: String) -> (String, JoinHandle<Run>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = thread::spawn(move || {
        let (mut coordinator, _) = listener.accept().unwrap();
        let stream = TcpStream::connect(agent).unwrap();
        let (mut from, mut to) = (coordinator.try_clone().unwrap(), stream.try_clone().unwrap());
        thread::spawn(move || io::copy(&mut from, &mut to));
        let mut run = None;
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            writeln!(coordinator, "{line}").unwrap();
            let told: Value = serde_json::from_str(&line).unwrap();
            if let Some(told) = told.get("run") {
                run = Some(forms::from_json(&told.to_string()).unwrap());
                // A proxy that goes on holding the connection would be one more to wait for.
                coordinator.shutdown(Shutdown::Both).unwrap();
            }
        }
        run.unwrap()
    });
    (address, thread)
}

/// Slots of several histograms added up by hand.
fn slots<'a>(histograms: impl IntoIterator<Item = &'a Histogram>) -> BTreeMap<u64, u64> {
    let mut slots = BTreeMap::new();
    for (slot, count) in histograms.into_iter().flat_map(Histogram::recorded) {
        *slots.entry(slot).or_default() += count;
    }
    slots
}

type Times = fn(&Run) -> &Histogram;

/// What three agents made together is what one would have made: as many of all, and in each slot of
/// each histogram what theirs have.
#[test]
fn three_agents_make_one_run() {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    let (_agents, addresses) = agents(3);
    let (relays, parts): (Vec<_>, Vec<_>) = addresses.into_iter().map(relay).unzip();
    let asked = [&*url, "-n", "1000", "-c", "7"];
    let alone = run(&asked);
    let together = run(&[&asked[..], &["--agents", &relays.join(",")]].concat());
    let parts: Vec<Run> = parts.into_iter().map(|part| part.join().unwrap()).collect();
    let counts = |run: &Run| {
        let times = &run.timings.response;
        let recorded: u64 = times.recorded().map(|(_, count)| count).sum();
        (run.achieved.done, times.count(), recorded, run.asked.connections)
    };
    assert_eq!((alone.agents, counts(&alone)), (1, (1000, 1000, 1000, 7)));
    assert_eq!((together.agents, counts(&together)), (3, counts(&alone)));
    let histograms: [(&str, Times); 5] = [
        ("connect", |run| &run.timings.connect),
        ("first byte", |run| &run.timings.first_byte),
        ("response", |run| &run.timings.response),
        ("service", |run| &run.timings.service),
        ("lag", |run| &run.generator.lag),
    ];
    for (name, of) in histograms {
        assert_eq!(slots([of(&together)]), slots(parts.iter().map(of)), "{name}");
    }
}

#[test]
fn invalid_agents_are_reported() {
    let (_agents, addresses) = agents(3);
    let url = "http://127.0.0.1:9/";
    let list = addresses.join(",");
    let (status, _, talk) = load(&[url, "-n", "10", "-c", "2", "--agents", &list]);
    assert_eq!(status, Some(4));
    assert!(talk.contains("each agent needs at least one connection"), "{talk}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (status, _, talk) = load(&[url, "-n", "10", "--agents", &gone]);
    assert_eq!(status, Some(4));
    assert!(talk.contains("agent 127.0.0.1:"), "{talk}");
}

/// Targets that the server's log has, sorted, when there are so many.
fn targets(log: &Path, count: usize) -> Vec<String> {
    let read = || fs::read_to_string(log).unwrap_or_default();
    assert!(wait_until(PATIENCE, || read().lines().count() >= count));
    let target = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["target"].as_str().unwrap().to_owned()
    };
    let mut targets: Vec<String> = read().lines().map(target).collect();
    targets.sort();
    targets
}

/// Three agents with two threads each ask a site, and each of these targets is asked once.
#[track_caller]
fn check_divided(arguments: impl Fn(&TempTree, String) -> Vec<String>, expected: &[String]) {
    let tree = TempTree::new().file("www/index.html", "<p>welcome</p>");
    let log = tree.join("access.log");
    let server = Vervet::serve(
        BINARY,
        tree.join("www"),
        ["--log", "json", "--log-file", log.to_str().unwrap()],
    );
    let (_agents, addresses) = agents(3);
    let mut asked = arguments(&tree, server.url(""));
    let more = ["-c", "6", "-t", "2", "--agents", &addresses.join(",")];
    asked.extend(more.map(str::to_owned));
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let run = run(&asked);
    assert_eq!(run.achieved.done, expected.len() as u64, "{:?}", run.errors);
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(targets(&log, expected.len()), expected);
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn numbers_are_divided() {
    let expected: Vec<_> = (0..100).map(|number| format!("/?{number}")).collect();
    let asked = |_: &TempTree, url: String| words(&[&format!("{url}/?{{seq}}"), "-n", "100"]);
    check_divided(asked, &expected);
}

#[test]
fn rows_are_divided() {
    let expected: Vec<_> = (0..20).map(|number| format!("/?{number}")).collect();
    let rows: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let rows = rows.join("\n");
    let asked = |tree: &TempTree, url: String| {
        let feed = tree.write("f.csv", format!("n\n{rows}"));
        let url = format!("{url}/?{{n}}");
        let feed = feed.to_str().unwrap();
        words(&[&url, "--feed", feed, "--feed-order", "once", "-d", "1h"])
    };
    check_divided(asked, &expected);
}

#[test]
fn logs_are_divided() {
    let expected: Vec<_> = (0..20).map(|number| format!("/?{number}")).collect();
    let line = |number: u32| {
        format!(
            "::1 - - [10/Oct/2025:13:55:3{} +0000] \"GET /?{number} HTTP/1.1\" 200 1\n",
            number / 10
        )
    };
    let lines: String = (0..20).map(line).collect();
    let asked = |tree: &TempTree, url: String| {
        let log = tree.write("old.log", &lines);
        words(&[&url, "--replay", log.to_str().unwrap()])
    };
    check_divided(asked, &expected);
}
