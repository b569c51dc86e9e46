//! Steps that are not what they seem: each mistake of the old posts, made again by hand.

use crate::common;
use crate::common::{Lab, closed, run};
use vervet_report::{ErrorClass, Finding, Run, Verdict};

/// The rules that say something of a run of ten connections, without those of `but`.
#[track_caller]
fn check(run: &Run, rules: &[&str]) -> Vec<Finding> {
    let lab = Lab::new(&["a"]).run("a", closed(10), run);
    let point = lab.point();
    let findings: Vec<Finding> = point.all_findings().into_iter().cloned().collect();
    let names: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(names, rules, "{findings:#?}");
    findings
}

/// Ten connections at 1,000/s, 9.2 ms each: as Little's law has it, with room for a few longer
/// waits.
fn clean() -> Run {
    run(1_000.0, &[(9.2, 1)])
}

/// The same with so many waits of this length in addition.
fn with_waits(ms: u64, count: u64) -> Run {
    let mut run = clean();
    run.timings.response.record_many_ns(ms * 1_000_000, count);
    run
}

#[test]
fn a_clean_step_has_nothing_said_of_it() {
    check(&clean(), &[]);
}

#[test]
fn what_passed_is_not_repeated() {
    let mut run = clean();
    run.findings.push(Finding {
        rule: "generator_cpu".to_owned(),
        verdict: Verdict::Passed,
        measured: String::new(),
        bound: String::new(),
        meaning: String::new(),
        advice: String::new(),
    });
    check(&run, &[]);
}

#[test]
fn a_step_at_one_second_is_a_full_queue_when_the_kernel_says_so() {
    let mut run = with_waits(1_020, 3);
    run.kernel.listen_overflows = Some(3);
    run.kernel.retransmitted_syns = Some(3);
    let findings = check(&run, &["queue_overflow"]);
    let measured = &findings[0].measured;
    assert!(measured.contains("3 waits of 1.0 to 1.3 s"), "{measured}");
    assert!(measured.contains("ListenOverflows 3, TCPSynRetrans 3"), "{measured}");
    assert!(findings[0].meaning.contains("accept queue of the server was full"));
}

#[test]
fn the_three_seconds_of_old_kernels_are_seen_in_the_times_to_connect() {
    let mut run = clean();
    run.timings.connect.record_many_ns(500_000, 1_000);
    run.timings.connect.record_many_ns(3_028_000_000, 12);
    let findings = check(&run, &["queue_overflow"]);
    assert!(findings[0].measured.contains("12 of 3.0 to 3.4 s"));
    assert!(findings[0].measured.contains("ListenOverflows unknown"));
    assert!(findings[0].meaning.contains("the kernel counted no full queue"));
}

#[test]
fn few_waits_without_the_word_of_the_kernel_are_left_alone() {
    check(&with_waits(1_020, 9), &[]);
    check(&with_waits(1_020, 10), &["queue_overflow"]);
}

#[test]
fn a_server_that_is_slow_throughout_has_no_step() {
    // As many between 0.5 and 0.95 s as at 1 s: the tail of a slow server.
    let mut run = with_waits(1_020, 8);
    run.timings.response.record_many_ns(700_000_000, 8);
    run.kernel.retransmitted_syns = Some(5);
    check(&run, &[]);
    // All of them about a second: that is how fast it is.
    let mut slow = common::run(10.0, &[(1_000.0, 1)]);
    slow.kernel.retransmitted_syns = Some(5);
    check(&slow, &[]);
}

#[test]
fn refusals_are_failures_however_fast() {
    let mut run = clean();
    for _ in 0..10_000 {
        run.errors.add(ErrorClass::Refused);
    }
    let findings = check(&run, &["refused_is_fast", "errors"]);
    assert!(findings[0].measured.contains("10000 of 20000 requests refused or reset (50.0 %)"));
    assert!(
        findings[0].meaning.contains("2000.0/s instead of 1000.0/s"),
        "{}",
        findings[0].meaning
    );
}

#[test]
fn one_in_a_hundred_may_fail() {
    let mut run = clean();
    for _ in 0..101 {
        run.errors.add(ErrorClass::Refused);
    }
    check(&run, &[]);
    run.errors.add(ErrorClass::Refused);
    check(&run, &["refused_is_fast", "errors"]);
}

#[test]
fn a_generator_at_its_limit_is_told() {
    let mut run = clean();
    run.generator.busiest_thread_permille = 900;
    check(&run, &[]);
    run.generator.busiest_thread_permille = 901;
    let findings = check(&run, &["client_limited"]);
    assert!(findings[0].measured.contains("90 % of a core"));
}

#[test]
fn what_had_no_answer_at_the_end_is_told() {
    // The last step of the post of 2012: 400 requests under way when the step ended, 19 % of all.
    let mut run = run(168.0, &[(59.5, 1)]);
    run.censored.count = 400;
    run.censored.longest_ns = 60_000_000_000;
    let findings = check(&run, &["censored"]);
    assert!(findings[0].measured.starts_with("19.2 % of requests"), "{}", findings[0].measured);
}

#[test]
fn rate_times_time_must_be_the_connections() {
    // 1,000/s of 5 ms are 5 connections; 10 were asked for.
    let findings = check(&run(1_000.0, &[(5.0, 1)]), &["littles_law"]);
    assert!(findings[0].measured.contains("is 5.0 connections, of 10"), "{}", findings[0].measured);
    check(&run(1_000.0, &[(9.1, 1)]), &[]);
    check(&run(1_000.0, &[(10.9, 1)]), &[]);
    check(&run(1_000.0, &[(11.2, 1)]), &["littles_law"]);
}

#[test]
fn runs_that_differ_from_themselves_are_told() {
    // The post of 2009: the same command, 5,739.27/s and 9,078.00/s.
    let lab = Lab::new(&["a"]).rates("a", 10, &[5_739.27, 9_078.00]);
    let point = lab.point();
    assert_eq!(point.findings[0].rule, "spread");
    assert!(point.findings[0].measured.starts_with("45.1 %"), "{}", point.findings[0].measured);
    let lab = Lab::new(&["a"]).rates("a", 10, &[950.0, 1_000.0, 1_050.0]);
    assert!(lab.point().findings.is_empty(), "10 % are admitted");
}
