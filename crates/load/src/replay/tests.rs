//! Tests of logs: what is counted, in which order and at which times the rest is asked.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::request::{Common, Url};
use crate::script::{Scripts as _, Step, Turn};
use crate::share::Share;

fn read(text: &str, methods: Methods) -> Log<'static> {
    let base = Url::parse("http://h").unwrap();
    let mut log = Log::new(base, Common::default(), methods);
    text.lines().for_each(|line| log.line(line.as_bytes()));
    log
}

/// A line of the common form, so many seconds after half past seven.
fn common(second: u32, request: &str) -> String {
    format!("::1 - - [21/Nov/2026:19:30:{second:02} +0000] \"{request} HTTP/1.1\" 200 1\n")
}

fn json(time: &str, target: &str) -> String {
    format!(
        "{{\"time\":\"2026-11-21T19:30:{time}Z\",\"method\":\"GET\",\"target\":\"{target}\"}}\n"
    )
}

/// What one user does: each request with the milliseconds when it was due.
fn course(replay: &Replay) -> Vec<String> {
    let mut user = replay.user(0);
    let mut elapsed = Duration::ZERO;
    let mut lines = Vec::new();
    loop {
        let turn = Turn { elapsed, answer: None };
        let mut out = Vec::new();
        match user.next(&turn, &mut out) {
            Step::End => return lines,
            Step::Wait(time) => elapsed += time,
            Step::Send(request) => {
                assert_eq!(request.due, Some(elapsed));
                let text = String::from_utf8(out).unwrap();
                let line = text.lines().next().unwrap().replace(" HTTP/1.1", "");
                lines.push(format!("{} {line}", elapsed.as_millis()));
            }
        }
    }
}

fn check(text: &str, speed: f64, expected: &[&str]) {
    assert_eq!(course(&Replay::new(read(text, Methods::Safe), speed, Share::WHOLE)), expected);
}

#[test]
fn skipped_lines_are_counted() {
    let text = [
        "odd\n\n".to_owned(),
        common(0, "GET /"),
        common(0, "POST /"),
        common(0, "get /"),
        common(0, "GET bad"),
        common(0, "GET bad"),
        common(0, "OPTIONS *"),
    ]
    .concat();
    let log = read(&text, Methods::Safe);
    assert_eq!(
        log.tally().to_string(),
        "2 requests, without 2 lines that cannot be parsed, without 1 requests with unsafe methods, \
         without 2 requests that cannot be replayed"
    );
    let all = read(&text, Methods::All).tally();
    assert_eq!((all.taken, all.unsafe_methods, all.refused), (3, 0, 3));
    assert_eq!(read("", Methods::Safe).tally().to_string(), "0 requests");
    assert_eq!(course(&Replay::new(read("", Methods::Safe), 1.0, Share::WHOLE)), [""; 0]);
}

#[test]
fn times_stay_relative_and_lines_get_into_order() {
    let text = [json("05.250", "/c"), json("03.000", "/a"), json("04.000", "/b")].concat();
    check(&text, 1.0, &["0 GET /a", "1000 GET /b", "2250 GET /c"]);
    check(&text, 2.0, &["0 GET /a", "500 GET /b", "1125 GET /c"]);
    check(&text, 0.5, &["0 GET /a", "2000 GET /b", "4500 GET /c"]);
}

#[test]
fn requests_of_one_second_are_spread_over_it() {
    let lines = [
        common(1, "GET /1"),
        common(1, "GET /2"),
        common(1, "HEAD /{seq}"),
        common(1, "GET http://other/4?x"),
        common(3, "GET /5"),
    ];
    check(
        &lines.concat(),
        1.0,
        &["0 GET /1", "250 GET /2", "500 HEAD /{seq}", "750 GET /4?x", "2000 GET /5"],
    );
}

#[test]
fn users_share_a_log_and_the_late_are_due_as_before() {
    let text = [json("00.000", "/a"), json("00.100", "/b"), json("00.200", "/c")].concat();
    let replay = Replay::new(read(&text, Methods::Safe), 1.0, Share::WHOLE);
    assert_eq!(replay.length(), Duration::from_millis(200));
    let (mut one, mut two) = (replay.user(0), replay.user(1));
    let at = |millis| Turn { elapsed: Duration::from_millis(millis), answer: None };
    let mut out = Vec::new();
    let due = |step| match step {
        Step::Send(request) => request.due.map(|due| due.as_millis()),
        _ => None,
    };
    assert_eq!(due(one.next(&at(0), &mut out)), Some(0));
    assert_eq!(two.next(&at(10), &mut out), Step::Wait(Duration::from_millis(90)));
    assert_eq!(due(one.next(&at(250), &mut out)), Some(200));
    assert_eq!(due(two.next(&at(260), &mut out)), Some(100));
    assert_eq!(one.next(&at(300), &mut out), Step::End);
    assert_eq!(two.next(&at(300), &mut out), Step::End);
}

/// Each of several asks its part of the log, and all together ask all of it, at the times of the
/// whole.
#[test]
fn several_divide_a_log() {
    let lines = [0, 100, 200, 300, 400].map(|at| json(&format!("00.{at:03}"), &format!("/{at}")));
    let part = |index| {
        let log = read(&lines.concat(), Methods::Safe);
        course(&Replay::new(log, 1.0, Share { index, of: 3 }))
    };
    assert_eq!(part(0), ["0 GET /0", "300 GET /300"]);
    assert_eq!(part(1), ["100 GET /100", "400 GET /400"]);
    assert_eq!(part(2), ["200 GET /200"]);
}

proptest! {
    #[test]
    fn any_lines_are_replayed_or_counted(
        lines in prop::collection::vec((0..60_u32, "(GET|POST|x) [!-~]{0,20}"), 0..20),
        speed in any::<f64>(),
    ) {
        let text: String = lines.iter().map(|(second, request)| common(*second, request)).collect();
        let log = read(&text, Methods::All);
        let tally = log.tally();
        prop_assert_eq!(tally.taken + tally.odd + tally.refused, lines.len());
        let replay = Replay::new(log, if speed.is_nan() { 1.0 } else { speed }, Share::WHOLE);
        prop_assert_eq!(course(&replay).len(), tally.taken);
    }
}
