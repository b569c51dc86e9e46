//! Conditions: what is refused and how, what is read, and what a run says to it.

use vervet_report::{
    Answer, Condition, ErrorClass, Finding, Histogram, Mode, Reuse, Run, RunSettings, Stop, Verdict,
};

/// An invalid condition, the column of its error, and parts of the message.
#[track_caller]
fn check_refused(text: &str, column: usize, parts: &[&str]) {
    let error = text.parse::<Condition>().unwrap_err();
    let message = error.to_string();
    assert_eq!(error.column, column, "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} in {message}");
    }
}

#[test]
fn names_that_are_none_are_told_with_the_nearest() {
    check_refused("", 1, &["expected a figure"]);
    check_refused(">20ms", 1, &["expected a figure"]);
    check_refused("p9q>20ms", 1, &["column 1", "expected a figure", "did you mean `p9"]);
    check_refused("  erorrs>1%", 3, &["did you mean `errors`?"]);
    check_refused("P99>1ms", 1, &["did you mean `p99`?"]);
    check_refused("servce.p99>1ms", 1, &["did you mean `service.p99`?"]);
    check_refused(
        "service.p990>1ms",
        1,
        &["service. and a figure of it", "did you mean `service.p90`?"],
    );
    check_refused("service>1ms", 1, &["expected a figure", "did you mean `service."]);
    check_refused(
        "errors.refsed>1",
        1,
        &["errors. and a class: unreachable, refused", "`errors.refused`"],
    );
    check_refused("p0>1ms", 1, &["expected a figure"]);
    check_refused("p100.1>1ms", 1, &["expected a figure"]);
    check_refused("p1e1>1ms", 1, &["expected a figure"]);
    check_refused("zzzzz>1", 1, &["expected a figure"]);
    assert_eq!("zzzzz>1".parse::<Condition>().unwrap_err().nearest, None);
}

#[test]
fn signs_numbers_and_units_are_told_at_their_place() {
    check_refused("p99", 4, &["expected one of >, >=, < and <="]);
    check_refused("p99 = 20ms", 5, &["expected one of >, >=, < and <="]);
    check_refused("p99 => 20ms", 5, &["expected one of"]);
    check_refused("p99>", 5, &["expected a number"]);
    check_refused("p99>fast", 5, &["expected a number"]);
    check_refused("p99>-1ms", 5, &["expected a number"]);
    check_refused("p99>1.2.3ms", 5, &["expected a number"]);
    check_refused("p99>20", 7, &["expected a unit of time: us, ms or s"]);
    check_refused("p99>20%", 7, &["expected a unit of time"]);
    check_refused("p99>20ms or so", 7, &["expected a unit of time"]);
    check_refused("rate<5ms", 7, &["expected nothing, k, m or /s"]);
    check_refused("errors>5ms", 9, &["expected %, nothing, k or m"]);
    check_refused("done<5%", 7, &["expected nothing, k or m"]);
    check_refused("goodput<5x", 10, &["expected k, m or g"]);
}

#[test]
fn a_message_shows_no_control_characters_and_a_long_text_is_refused() {
    let message = "p99\u{1b}[2J>1".parse::<Condition>().unwrap_err().to_string();
    assert!(message.contains("\\u{1b}"), "{message}");
    check_refused(&format!("p99>{}ms", "1".repeat(195)), 201, &["at most 200 bytes"]);
    let fits = format!("p99>{}ms", "0".repeat(194));
    assert_eq!((fits.len(), fits.parse::<Condition>().is_ok()), (200, true));
}

/// A condition and the bound that it means, in the unit that is compared.
#[track_caller]
fn check_bound(text: &str, metric: &str, bound: f64) {
    let condition: Condition = text.parse().unwrap();
    assert_eq!(condition.metric().to_string(), metric);
    assert!((condition.bound() - bound).abs() <= bound * 1e-12, "{text}: {}", condition.bound());
    assert_eq!(condition.to_string(), text.trim());
}

#[test]
fn units_are_worth_what_they_say() {
    check_bound("p99>20ms", "p99", 20e6);
    check_bound(" p99.99 >= 1.5 s ", "p99.99", 1.5e9);
    check_bound("connect.p50>100us", "connect.p50", 100e3);
    check_bound("connect.p50>100µs", "connect.p50", 100e3);
    check_bound("first_byte.max<1m", "first_byte.max", 60e9);
    check_bound("response.mean<10ns", "mean", 10.0);
    check_bound("service.sd<=1min", "service.sd", 60e9);
    check_bound("rate<5k", "rate", 5e3);
    check_bound("rate<0.5M/s", "rate", 5e5);
    check_bound("rate<5000/s", "rate", 5e3);
    check_bound("throughput<10m", "throughput", 10_485_760.0);
    check_bound("goodput>1GiB/s", "goodput", 1_073_741_824.0);
    check_bound("goodput>17", "goodput", 17.0);
    check_bound("errors>0.1%", "errors", 0.1);
    check_bound("errors>2k", "errors", 2e3);
    check_bound("errors.closed_early>0", "errors.closed_early", 0.0);
    check_bound("censored>3", "censored", 3.0);
    check_bound("done<1m", "done", 1e6);
}

fn run() -> Run {
    let asked = RunSettings {
        target: "http://[::1]/".to_owned(),
        mode: Mode::Closed,
        connections: 1,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop::default(),
        warm_up_ms: 0,
        timeout_ms: 1000,
        threads: 1,
        checks: Vec::new(),
    };
    Run::new("test", asked)
}

/// What a run with 990 successful responses of 1 to 990 ms, 9 refused connections and 1 wrong
/// status says.
#[track_caller]
fn check(text: &str, answer: Answer, measured: &str) {
    let mut run = run();
    run.achieved.window_us = 10_000_000;
    run.achieved.done = 990;
    run.achieved.bytes_received = 20 << 20;
    run.achieved.content_bytes = 10 << 20;
    run.errors.refused = 9;
    run.errors.add(ErrorClass::WrongStatus);
    run.censored.count = 4;
    for time_ms in 1..=990 {
        run.timings.response.record_ns(time_ms * 1_000_000);
        run.timings.service.record_ns(1_000_000);
    }
    let outcome = text.parse::<Condition>().unwrap().evaluate(&run);
    assert_eq!((outcome.answer, outcome.measured.as_str()), (answer, measured), "{text}");
}

#[test]
fn a_run_says_what_was_measured() {
    use Answer::{DoesNotHold, Holds, NotMeasured};
    check("p50>400ms", Holds, "495 ms");
    check("p50>500ms", DoesNotHold, "495 ms");
    check("p100<=990ms", DoesNotHold, "990 ms");
    check("max<991ms", Holds, "990 ms");
    check("service.p99.9<1100us", Holds, "1.00 ms");
    check("connect.p99>1ns", NotMeasured, "");
    check("first_byte.mean<1m", NotMeasured, "");
    check("rate>=99", Holds, "99/s");
    check("rate>99", DoesNotHold, "99/s");
    check("rate<100/s", Holds, "99/s");
    check("throughput>=2m", Holds, "2.00 MiB/s");
    check("goodput<1m", DoesNotHold, "1.00 MiB/s");
    check("errors>9", Holds, "10");
    check("errors>1%", DoesNotHold, "1.00 %");
    check("errors.refused>0.8%", Holds, "0.90 %");
    check("errors.timeout>0", DoesNotHold, "0");
    check("censored>3", Holds, "4");
    check("done<990", DoesNotHold, "990");
}

#[test]
fn nothing_measured_is_neither_yes_nor_no() {
    let mut empty = run();
    for text in ["p99>20ms", "p99<20ms", "errors>1%"] {
        let outcome = text.parse::<Condition>().unwrap().evaluate(&empty);
        assert_eq!((outcome.answer, outcome.measured_value), (Answer::NotMeasured, None), "{text}");
    }
    empty.timings.response = Histogram::new();
    let rate = "rate<1".parse::<Condition>().unwrap().evaluate(&empty);
    assert_eq!(rate.answer, Answer::Holds, "a rate of nothing is 0");
}

/// The only figure that needs no bound.
#[test]
fn the_audit_is_a_condition() {
    check_refused("audit>fast", 7, &["expected a number"]);
    check_refused("audits", 1, &["did you mean `audit`?"]);
    check_bound(" audit ", "audit", 0.0);
    check_bound("audit<=1", "audit", 1.0);
    let audited = |verdicts: [Verdict; 2]| {
        let mut run = run();
        let finding = |(rule, verdict): (&str, Verdict)| Finding {
            rule: rule.to_owned(),
            verdict,
            measured: String::new(),
            bound: String::new(),
            meaning: String::new(),
            advice: String::new(),
        };
        let rules = ["generator_lag", "window_length"];
        run.findings = rules.into_iter().zip(verdicts).map(finding).collect();
        let outcome = "audit".parse::<Condition>().unwrap().evaluate(&run);
        (outcome.answer, outcome.measured)
    };
    let passed = (Answer::DoesNotHold, "0".to_owned());
    assert_eq!(audited([Verdict::Passed, Verdict::Warning]), passed);
    let failed = (Answer::Holds, "window_length".to_owned());
    assert_eq!(audited([Verdict::Warning, Verdict::Failed]), failed);
    let both = (Answer::Holds, "generator_lag, window_length".to_owned());
    assert_eq!(audited([Verdict::Failed; 2]), both);
}
