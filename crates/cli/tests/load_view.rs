//! `vervet load` at a terminal: a view of several lines that is drawn over, and the cursor back
//! however it ends.

use std::fs;

use vervet_testkit::{Child, PATIENCE, Signal, Stream, TempTree, at_terminal, skip, wait_for};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

fn canned() -> (Child, String) {
    let mut child = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let address = child.wait_for_address();
    (child, format!("http://{address}/"))
}

/// What a run of the canned server shows at a terminal with so many columns, `before` standing
/// before the program; none without `script`.
fn shown(before: &str, arguments: &str, columns: u16) -> Option<String> {
    let (_canned, url) = canned();
    let command = format!("{before} {BINARY} load {url} --interval 100ms {arguments}");
    let mut terminal = Child::spawn(at_terminal(&command, columns)?);
    let code = terminal.wait_exit(PATIENCE).code();
    // Failed requests are part of some, and the audit is not what is tried here.
    assert!(matches!(code, Some(0 | 1 | 3 | 5)), "{:#?}", terminal.lines());
    Some(terminal.text(Stream::Stdout))
}

/// The lines of all frames, and what follows when the cursor is back.
#[track_caller]
fn frames(text: &str) -> (Vec<&str>, &str) {
    let (_, view) = text.split_once(HIDE_CURSOR).unwrap_or_else(|| panic!("{text:?}"));
    let (view, after) = view.split_once(SHOW_CURSOR).unwrap_or_else(|| panic!("{text:?}"));
    let lines = view.split("\x1b[K\r\n");
    // A frame begins with the way back up to its first line.
    let lines = lines.map(|line| line.rsplit(['\r', 'J']).next().unwrap());
    (lines.collect(), after)
}

/// Agents of this machine, and what is typed to have them make the load.
fn agents(count: usize) -> (Vec<Child>, String) {
    let start = |_| {
        let mut agent = Child::start(BINARY, ["load", "--agent", "127.0.0.1:0"]);
        let line = agent.wait_for_line(|line| line.contains("agent at "));
        let address = line.rsplit(' ').next().unwrap().to_owned();
        (agent, address)
    };
    let (agents, addresses): (Vec<_>, Vec<_>) = (0..count).map(start).unzip();
    (agents, format!("--agents {}", addresses.join(",")))
}

macro_rules! shown {
    ($($argument:expr),+) => {
        match shown($($argument),+) {
            Some(text) => text,
            None => skip!("needs script of util-linux"),
        }
    };
}

#[test]
fn a_terminal_has_a_view_and_then_the_report() {
    let text = shown!("", "--rate 500 -d 1500ms --warm-up 600ms -c 4", 80);
    let (lines, after) = frames(&text);
    let has = |begin: &str| lines.iter().any(|line| line.starts_with(begin));
    for begin in ["warm-up    ", "steady     ", "rate       ", "p50        ", "p99        "] {
        assert!(has(begin), "{begin}: {lines:#?}");
    }
    assert!(has("failed     none") && has("connected  4 of 4"), "{lines:#?}");
    let graph = |line: &str| {
        line.starts_with("generator  ")
            && line.contains(|letter: char| ('▁'..='█').contains(&letter))
    };
    assert!(lines.iter().any(|line| graph(line)), "{lines:#?}");
    assert!(text.contains("\x1b[8A"), "eight lines are drawn over: {text:?}");
    assert!(after.contains("Load run by vervet"), "{after}");
    assert!(!after.contains('\x1b'), "{after:?}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [12, 80, 200] {
        let text = shown!("NO_COLOR=1", "-d 700ms", columns);
        let (lines, _) = frames(&text);
        assert!(lines.iter().any(|line| line.starts_with("rate")), "{lines:#?}");
        for line in lines {
            assert!(line.chars().count() < usize::from(columns), "{columns}: {line:?}");
        }
    }
}

#[test]
fn a_terminal_that_cannot_draw_has_lines() {
    let text = shown!("TERM=dumb", "-d 500ms", 80);
    assert!(!text.contains('\x1b'), "{text:?}");
    assert!(text.contains(" busy\r\n") && text.contains("Load run by vervet"), "{text:?}");
    let quiet = shown!("", "-q -d 500ms", 80);
    assert!(!quiet.contains('\x1b'), "{quiet:?}");
}

/// Failed requests are red, unless nobody wants colours.
#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    let arguments = "-d 500ms --rate 100 --check-text moon";
    let red = "\x1b[31mfailed     ";
    let text = shown!("", arguments, 80);
    assert!(text.contains(red), "{text:?}");
    let text = shown!("NO_COLOR=1", arguments, 80);
    assert!(!text.contains("\x1b[3"), "{text:?}");
    assert!(text.contains("wrong_content"), "{text:?}");
}

#[test]
fn an_interrupt_brings_the_cursor_back() {
    let (_canned, url) = canned();
    let tree = TempTree::new();
    let pid = tree.join("pid");
    let command = format!("echo $$ > {}; exec {BINARY} load {url} -d 1h", pid.display());
    let Some(terminal) = at_terminal(&command, 80) else {
        skip!("needs script of util-linux");
    };
    let mut terminal = Child::spawn(terminal);
    // The lines of a view end like others.
    terminal.wait_for_line(|line| line.contains("steady"));
    let pid = wait_for(PATIENCE, || fs::read_to_string(&pid).ok()?.trim().parse().ok());
    let pid = rustix::process::Pid::from_raw(pid.unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    assert_eq!(terminal.wait_exit(PATIENCE).code(), Some(130));
    let text = terminal.text(Stream::Stdout);
    let (_, after) = frames(&text);
    assert!(after.contains("Load run by vervet"), "{text:?}");
}

/// The same view where agents make the load: theirs together.
#[test]
fn several_agents_have_one_view() {
    let (_agents, typed) = agents(2);
    let arguments = format!("{typed} --rate 500 -d 1500ms --warm-up 600ms -c 4");
    let text = shown!("", &arguments, 80);
    let (lines, after) = frames(&text);
    let has = |begin: &str| lines.iter().any(|line| line.starts_with(begin));
    for begin in [
        "warm-up    ",
        "steady     ",
        "p50        ",
        "p99        ",
        "failed     none",
        "connected  4 of 4",
        "rate       500/s of 500/s requested",
    ] {
        assert!(has(begin), "{begin}: {lines:#?}");
    }
    assert!(after.contains("Load run by vervet"), "{after}");
    assert!(!after.contains('\x1b'), "{after:?}");
}

/// A line for each interval, with what both did, and each interval in the stream.
#[test]
fn several_agents_have_one_line_an_interval() {
    let (_agents, typed) = agents(2);
    let arguments = format!("{typed} --rate 500 -d 1s -c 4 --format ndjson");
    let text = shown!("TERM=dumb", &arguments, 80);
    assert!(text.contains(" of 500/s  p50 "), "{text}");
    let streamed = text.lines().filter(|line| line.contains("\"kind\":\"interval\""));
    assert_eq!(streamed.count(), 10, "{text}");
}
