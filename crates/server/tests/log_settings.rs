//! `[log.NAME]` as users write it, and the errors that are reported.

use std::sync::Arc;
use std::time::Duration;

use crate::support::log_writer as support;
use crate::support::log_writer::Ended;
use vervet_config::{Diagnostic, Diagnostics, Named, Reading, read_text, section};
use vervet_server::access_log::{LogSettings, LogWriter, OpenMode, PreparedLogs, check_logs};
use vervet_server::log_sinks::LogSink;
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
    let mut found: Vec<_> = reading.diagnostics.iter().map(|one| message(&reading, one)).collect();
    if let Some(document) = &reading.value {
        let mut problems = Diagnostics::new();
        check_logs(&document.log, &mut problems);
        if problems.is_empty() {
            PreparedLogs::open(
                &document.log,
                &support::logs(),
                OpenMode::Write(None),
                &mut problems,
            );
        }
        found.extend(problems.iter().map(|one| message(&reading, one)));
    }
    assert_eq!(found, expected, "{text}");
}

#[test]
fn an_error_in_a_directive_is_reported_at_its_position() {
    check(
        "log.a = {memory = true, format = 'comon'}",
        &[
            "1:34: `format` cannot be `comon`: unknown format `comon`: expected common, combined, json, \
             pretty or a string with variables, such as `{client} {status}`",
        ],
    );
    check(
        "log.a = {memory = true, format = '{client} {stat}'}",
        &[
            "1:34: `format` cannot be `{client} {stat}`: at byte 10 of the format: unknown variable \
             `{stat}` (did you mean `status`?)",
        ],
    );
    check(
        "log.a = {file = '/dev/null', mode = '644'}",
        &["1:37: `mode` cannot be `644`: logs contain personal data: at most 640 is allowed"],
    );
    check(
        "log.a = {file = '/dev/null', mode = '440'}",
        &["1:37: `mode` cannot be `440`: the server must be able to write the file"],
    );
    check(
        "log.a = {syslog = 'localhost'}",
        &["1:19: `syslog` cannot be `localhost`: it must begin with `unix:/` or `udp:`"],
    );
    check(
        "log.a = {syslog = 'udp:localhost:514'}",
        &[
            "1:19: `syslog` cannot be `udp:localhost:514`: `udp:` must be followed by an IP address and a port",
        ],
    );
    check(
        "log.a = {syslog = {tag = 'a b'}}",
        &["1:26: `tag` cannot be `a b`: expected 1 to 32 letters, digits and `-_./`"],
    );
    check(
        "log.a = {memory = true, always = [99, '6']}",
        &[
            "1:35: an element of `always` cannot be `99`: expected a status (`404`), class (`4xx`) or \
             range (`400-418`), from 100 to 999",
            "1:39: an element of `always` cannot be `6`: expected a status (`404`), class (`4xx`) or \
             range (`400-418`), from 100 to 999",
        ],
    );
    check("log.a = {memory = true, one_in = 0}", &["1:34: `one_in` is out of bounds"]);
}

#[test]
fn contradictions_are_reported() {
    check("[log.a]\nformat = 'json'", &["1:6: a log needs a target"]);
    check("[log.a]\nstream = 'stdout'\nmemory = true", &["3:10: a log can have only one target"]);
    check("log.a = {memory = true, rotate = 'day'}", &["1:34: only a file can be rotated"]);
    check(
        "log.a = {file = '/dev/null', rotate = {keep = 3}}",
        &["1:39: `rotate` needs `size` or `every`"],
    );
    let tree = TempTree::new();
    let file = tree.join("log");
    let two = format!(
        "[log.a]\nfile = '{0}'\nrotate = 'day'\n[log.b]\nfile = '{0}'\nrotate = 'hour'",
        file.display()
    );
    check(&two, &["6:10: two logs to the same file have different `rotate` settings"]);
    let rules = "{method = 'GET'},".repeat(17);
    check(&format!("log.a = {{memory = true, only = [{rules}]}}"), &["1:32: more than 16 rules"]);
}

#[test]
fn all_files_that_cannot_be_opened_are_reported() {
    let tree = TempTree::new();
    let text = format!("log.a = '{0}/a'\nlog.b = '{0}/b'", tree.join("x").display());
    let folder = tree.join("x");
    let problem = |line, name: &str| {
        format!(
            "{line}:9: cannot open {0}/{name}: the directory {0} does not exist (create it, writable \
             for the user that the server runs as)",
            folder.display()
        )
    };
    check(&text, &[&problem(1, "a"), &problem(2, "b")]);
}

#[test]
fn a_document_becomes_logs() {
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
            OpenMode::Write(None),
            &mut found,
        );
        assert!(found.is_empty());
        prepared
    };
    prepared.activate();
    assert_eq!(prepared.number("none"), None);
    let numbers = [prepared.number("main").unwrap(), prepared.number("quick").unwrap()];
    let log_set = prepared.plan.log_set(&numbers);
    let mut writer = LogWriter::new(&Arc::new(prepared.plan));
    for (path, status) in [("/a", 200), ("/health/x", 200), ("/health/x", 503)] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        let ended = Ended { request: &request, status, ..Ended::default() };
        ended.log(&mut writer, |info| info.logs = log_set);
    }
    let sinks = logs.sinks();
    logs.finish(Duration::from_secs(20));
    let lines = std::fs::read_to_string(tree.join("log")).unwrap();
    assert_eq!(lines, "/a 200\n/health/x 503\n");
    let recent: Vec<_> = sinks.iter().flat_map(LogSink::recent).collect();
    assert_eq!(recent, ["200", "200", "503"]);
}
