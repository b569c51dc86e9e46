//! Which requests get a line, in which logs, and what happens when a plan is replaced.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use crate::support::log_writer::{Ended, logs, memory_plan, with_head, written};
use vervet_config::Setting;
use vervet_server::access_log::{Condition, Format, LogPlan, LogWriter, PathPattern, Rule};
use vervet_server::log_sinks::Target;
use vervet_testkit::TempTree;

fn rule(statuses: &[&str], paths: &[&str], methods: &[&str]) -> Rule {
    Rule {
        status: Setting::assumed(statuses.iter().map(|text| text.parse().unwrap()).collect()),
        path: Setting::assumed(paths.iter().map(|text| PathPattern::new(text)).collect()),
        method: Setting::assumed(methods.iter().map(|text| (*text).to_owned()).collect()),
    }
}

/// Lets these requests pass (`GET /path 200`), and compares which leave a line.
#[track_caller]
fn check(condition: Condition, requests: &[&str], expected: &[&str]) {
    let (logs, sink, plan, log_set) = memory_plan("{method} {path} {status} {sample}", condition);
    let mut writer = LogWriter::new(&Arc::new(plan));
    for request in requests {
        let (line, status) = request.rsplit_once(' ').unwrap();
        let ended = Ended {
            request: &format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n"),
            status: status.parse().unwrap(),
            ..Ended::default()
        };
        ended.log(&mut writer, |info| info.logs = log_set);
    }
    assert_eq!(written(&logs, &sink), expected);
}

const SOME: &[&str] =
    &["GET /a 200", "GET /health/live 200", "GET /health/live 503", "POST /a 404"];

#[test]
fn without_rules_all_are_written() {
    let all = ["GET /a 200 1", "GET /health/live 200 1", "GET /health/live 503 1", "POST /a 404 1"];
    check(Condition::default(), SOME, &all);
}

#[test]
fn only_what_fits_a_rule_is_written() {
    let only = |rules| Condition { only: rules, ..Condition::default() };
    check(
        only(vec![rule(&["4xx", "5xx"], &[], &[])]),
        SOME,
        &["GET /health/live 503 1", "POST /a 404 1"],
    );
    check(only(vec![rule(&[], &["/a"], &["GET"])]), SOME, &["GET /a 200 1"]);
    check(
        only(vec![rule(&[], &["/a"], &["GET"]), rule(&["503"], &[], &[])]),
        SOME,
        &["GET /a 200 1", "GET /health/live 503 1"],
    );
    check(only(vec![rule(&[], &["/none"], &[])]), SOME, &[]);
}

#[test]
fn what_fits_an_exception_is_not_written_but_errors_may_be() {
    let except = |statuses: &[&str], always: &[&str]| Condition {
        except: vec![rule(statuses, &["/health/*"], &[])],
        always: always.iter().map(|text| text.parse().unwrap()).collect(),
        ..Condition::default()
    };
    check(except(&[], &[]), SOME, &["GET /a 200 1", "POST /a 404 1"]);
    let with_error = ["GET /a 200 1", "GET /health/live 503 1", "POST /a 404 1"];
    check(except(&["2xx"], &[]), SOME, &with_error);
    check(except(&[], &["5xx"]), SOME, &with_error);
}

#[test]
fn one_in_so_many_is_written_and_says_so_and_errors_in_full_number() {
    let condition = Condition {
        one_in: NonZero::new(3).unwrap(),
        always: vec!["5xx".parse().unwrap()],
        ..Condition::default()
    };
    let mut requests = vec!["GET /a 200"; 7];
    requests.insert(1, "GET /b 500");
    requests.insert(3, "GET /b 500");
    let expected = ["GET /a 200 3", "GET /b 500 1", "GET /b 500 1", "GET /a 200 3", "GET /a 200 3"];
    check(condition, &requests, &expected);
}

#[test]
fn each_request_writes_to_its_set_of_logs() {
    let tree = TempTree::new();
    let logs = logs();
    let mut plan = LogPlan::new();
    let mut log = |name: &str, format: &str| {
        let sink = logs.open(&Target::file(tree.join(name))).unwrap();
        plan.add_log(format.parse().unwrap(), Condition::default(), sink).unwrap()
    };
    // Two logs of different formats in one file.
    let (one, again, other) =
        (log("one", "1 {path}"), log("one", "1 {status}"), log("other", "2 {path}"));
    let (first, both, nothing) =
        (plan.log_set(&[one]), plan.log_set(&[other, one, again]), plan.log_set(&[]));
    assert_eq!(plan.log_set(&[one, again, other]), both);
    let mut writer = LogWriter::new(&Arc::new(plan));
    for (path, logs) in [("/first", first), ("/both", both), ("/nothing", nothing)] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        let ended = Ended { request: &request, ..Ended::default() };
        ended.log(&mut writer, |info| info.logs = logs);
    }
    logs.finish(Duration::from_secs(20));
    let text = |name| std::fs::read_to_string(tree.join(name)).unwrap();
    assert_eq!(text("one"), "1 /first\n1 /both\n1 200\n");
    assert_eq!(text("other"), "2 /both\n");
}

#[test]
fn a_request_under_way_gets_its_line_as_the_plan_of_its_time_wanted() {
    let tree = TempTree::new();
    let logs = logs();
    let plan = |format: &str, name: &str| {
        let sink = logs.open(&Target::file(tree.join(name))).unwrap();
        let mut plan = LogPlan::new();
        let site = plan.add_site(format);
        let log = plan.add_log(
            Format::template(&format!("{format} {{site}} {{path}}")).unwrap(),
            Condition::default(),
            sink,
        );
        let log_set = plan.log_set(log.as_slice());
        (Arc::new(plan), log_set, site)
    };
    let (old, new) = (plan("old", "old"), plan("new", "new"));
    let begin = |writer: &mut LogWriter, (_, log_set, site): &(Arc<LogPlan>, _, _), path: &str| {
        with_head(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"), |info| {
            info.logs = *log_set;
            info.origin.site = Some(*site);
            writer.begin(info)
        })
    };
    let mut writer = LogWriter::new(&old.0);
    let before = begin(&mut writer, &old, "/1");
    writer.set_plan(&new.0);
    let after = begin(&mut writer, &new, "/2");
    let ended = Ended::default();
    assert_eq!(writer.finish(&ended.finished(Some(after))).site, Some(new.2));
    writer.finish(&ended.finished(Some(before)));

    // With its plan the last end of the old log is gone: its file is closed, once its line is
    // written.
    drop(old);
    let text = |name| std::fs::read_to_string(tree.join(name)).unwrap_or_default();
    assert!(vervet_testkit::wait_until(vervet_testkit::PATIENCE, || text("old") == "old old /1\n"));
    assert_eq!(logs.sinks().len(), 1);
    logs.finish(Duration::from_secs(20));
    assert_eq!(text("new"), "new new /2\n");
}
