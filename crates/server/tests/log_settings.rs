//! `[log.NAME]` as users write it: what is read, and what is said of mistakes.

use std::sync::Arc;
use std::time::Duration;

use crate::support::scribe as support;
use crate::support::scribe::Ended;
use vervet_config::{Diagnostic, Diagnostics, Named, Reading, read_text, section};
use vervet_server::access_log::{LogSettings, Opening, Outlet, PreparedLogs, Scribe, check_logs};
use vervet_testkit::TempTree;

section! {
    /// A document of logs.
    pub struct Document {
        /// The logs.
        pub log: Named<LogSettings>,
    }
}

fn message(reading: &Reading<Document>, one: &Diagnostic) -> String {
    match reading.sources.position(one.span) {
        Some(at) => format!("{}:{}: {}", at.line, at.column, one.message),
        None => one.message.clone(),
    }
}

/// What is found when a document is read, or else when its logs are opened.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let reading = read_text::<Document>("vervet.toml", text);
    let mut found: Vec<_> = reading
        .diagnostics
        .iter()
        .map(|one| message(&reading, one))
        .collect();
    if let Some(document) = &reading.value {
        let mut problems = Diagnostics::new();
        check_logs(&document.log, &mut problems);
        if problems.is_empty() {
            PreparedLogs::open(
                &document.log,
                &support::logs(),
                Opening::Work(None),
                &mut problems,
            );
        }
        found.extend(problems.iter().map(|one| message(&reading, one)));
    }
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_is_wrong_in_a_directive_is_said_at_its_place() {
    check(
        "log.a = {memory = true, format = 'comon'}",
        &[
            "1:34: `format` cannot be `comon`: `comon` is neither a format (common, combined, json, pretty) nor a string \
         with variables such as `{client} {status}`",
        ],
    );
    check(
        "log.a = {memory = true, format = '{client} {stat}'}",
        &[
            "1:34: `format` cannot be `{client} {stat}`: at byte 10 of the format: there is no variable `{stat}` (did you \
         mean `status`?)",
        ],
    );
    check(
        "log.a = {file = '/dev/null', mode = '644'}",
        &["1:37: `mode` cannot be `644`: a log tells who asked for what: at most 640"],
    );
    check(
        "log.a = {file = '/dev/null', mode = '440'}",
        &["1:37: `mode` cannot be `440`: the server has to write it"],
    );
    check(
        "log.a = {syslog = 'localhost'}",
        &["1:19: `syslog` cannot be `localhost`: it begins with `unix:/` or `udp:`"],
    );
    check(
        "log.a = {syslog = 'udp:localhost:514'}",
        &[
            "1:19: `syslog` cannot be `udp:localhost:514`: behind `udp:` stand an IP address, a colon and a port",
        ],
    );
    check(
        "log.a = {syslog = {tag = 'a b'}}",
        &["1:26: `tag` cannot be `a b`: it has 1 to 32 letters, digits and `-_./`"],
    );
    check(
        "log.a = {memory = true, always = [99, '6']}",
        &[
            "1:35: an element of `always` cannot be `99`: it is no status (`404`), class (`4xx`) or range (`400-418`), from \
         100 to 999",
            "1:39: an element of `always` cannot be `6`: it is no status (`404`), class (`4xx`) or range (`400-418`), from \
         100 to 999",
        ],
    );
    check(
        "log.a = {memory = true, one_in = 0}",
        &["1:34: `one_in` is out of bounds"],
    );
}

#[test]
fn what_does_not_go_together_is_said() {
    check("[log.a]\nformat = 'json'", &["1:6: a log needs a target"]);
    check(
        "[log.a]\nstream = 'stdout'\nmemory = true",
        &["3:10: a log has one target"],
    );
    check(
        "log.a = {memory = true, rotate = 'day'}",
        &["1:34: only a file can be put aside"],
    );
    check(
        "log.a = {file = '/dev/null', rotate = {keep = 3}}",
        &["1:39: `rotate` says neither by which `size` nor `every` when"],
    );
    let tree = TempTree::new();
    let file = tree.join("log");
    let two = format!(
        "[log.a]\nfile = '{0}'\nrotate = 'day'\n[log.b]\nfile = '{0}'\nrotate = 'hour'",
        file.display()
    );
    check(
        &two,
        &["6:10: two logs put one file aside in different ways"],
    );
    let rules = "{method = 'GET'},".repeat(17);
    check(
        &format!("log.a = {{memory = true, only = [{rules}]}}"),
        &["1:32: more than 16 rules of one kind"],
    );
}

#[test]
fn files_that_cannot_be_opened_are_all_said() {
    let tree = TempTree::new();
    let text = format!("log.a = '{0}/a'\nlog.b = '{0}/b'", tree.join("x").display());
    let folder = tree.join("x");
    let problem = |line, name: &str| {
        format!(
            "{line}:9: cannot open {0}/{name}: the folder {0} does not exist (make it, writable for the user that the \
             server runs as)",
            folder.display()
        )
    };
    check(&text, &[&problem(1, "a"), &problem(2, "b")]);
}

#[test]
fn a_document_becomes_logs_that_do_as_it_says() {
    let tree = TempTree::new();
    let text = format!(
        "[log.main]\nfile = '{}'\nformat = '{{path}} {{status}}'\nexcept = [{{path = '/health/*', status = '2xx'}}]\n\
         always = 404\nrotate = {{every = 'day', size = '1MiB', keep = 3, compress = false}}\n\
         [log.quick]\nmemory = true\nformat = '{{status}}'\n",
        tree.join("log").display()
    );
    let reading = read_text::<Document>("vervet.toml", &text);
    assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
    let logs = support::logs();
    let mut prepared = {
        let mut found = Diagnostics::new();
        let prepared = PreparedLogs::open(
            &reading.value.unwrap().log,
            &logs,
            Opening::Work(None),
            &mut found,
        );
        assert!(found.is_empty());
        prepared
    };
    prepared.activate();
    assert_eq!(prepared.number("none"), None);
    let numbers = [
        prepared.number("main").unwrap(),
        prepared.number("quick").unwrap(),
    ];
    let choice = prepared.plan.choice(&numbers);
    let mut scribe = Scribe::new(&Arc::new(prepared.plan));
    for (path, status) in [("/a", 200), ("/health/x", 200), ("/health/x", 503)] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        let ended = Ended {
            request: &request,
            status,
            ..Ended::default()
        };
        ended.log(&mut scribe, |facts| facts.logs = choice);
    }
    let outlets = logs.outlets();
    logs.finish(Duration::from_secs(20));
    let lines = std::fs::read_to_string(tree.join("log")).unwrap();
    assert_eq!(lines, "/a 200\n/health/x 503\n");
    let recent: Vec<_> = outlets.iter().flat_map(Outlet::recent).collect();
    assert_eq!(recent, ["200", "200", "503"]);
}
