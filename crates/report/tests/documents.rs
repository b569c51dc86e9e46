//! Documents for programs: they match their schema, invalid reports are rejected, and names of
//! targets and files are escaped in HTML and CSV.

use jsonschema::Validator;
use serde_json::{Value, json};
use vervet_report::forms::{self, from_json, schema, stream_interval, stream_run, stream_schema};
use vervet_report::{Errors, Histogram, Interval, Mode, Run, Verdict};

use crate::common::sample;

fn validator(schema: &str) -> Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// The run without anything in it.
fn nothing() -> Run {
    let mut asked = sample().asked;
    asked.mode = Mode::Closed;
    Run::new("vervet 0.1.0", asked)
}

#[track_caller]
fn check_unreadable(change: impl Fn(&mut Value), expected: &str) {
    let mut document: Value = serde_json::from_str(&forms::json(&sample())).unwrap();
    change(&mut document);
    let error = from_json(&document.to_string()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn what_is_no_report_is_refused() {
    check_unreadable(
        |document| document["version"] = json!(2),
        "version 2, and this program reads version 1",
    );
    check_unreadable(|document| *document = json!([1]), "invalid length 1");
    check_unreadable(|document| *document = json!({}), "missing field `version`");
    check_unreadable(
        |document| document["errors"]["reset"] = json!(-1),
        "invalid value: integer `-1`",
    );
    check_unreadable(
        |document| document["timings"]["response"]["histogram"] = json!("AAAA"),
        "the histogram ends in the middle",
    );
    check_unreadable(|document| document["achieved"]["done"] = json!("many"), "invalid type");
    assert!(from_json("").unwrap_err().is_eof());
}

/// A time that nobody measured is none: with 0, a dead server would be the fastest of all.
#[test]
fn times_that_were_not_measured_are_null() {
    let mut run = nothing();
    run.intervals.push(Interval { length_ms: 1000, ..Interval::default() });
    let document: Value = serde_json::from_str(&forms::json(&run)).unwrap();
    let response = document["timings"]["response"].as_object().unwrap();
    for (name, value) in response.iter().filter(|(name, _)| name.ends_with("_ns")) {
        assert_eq!(*value, Value::Null, "{name}");
    }
    assert_eq!(response["count"], 0);
    let interval = &document["intervals"][0];
    for name in ["p50_ns", "p99_ns", "max_ns"] {
        assert_eq!(interval[name], Value::Null, "{name}");
    }
    let csv = forms::csv_intervals(&run);
    let row = csv.lines().nth(1).unwrap();
    assert!(row.ends_with(",,,,0,0,0,0"), "{row}");
}

#[test]
fn a_report_is_read_back_as_it_was() {
    for run in [sample(), nothing()] {
        assert_eq!(from_json(&forms::json(&run)).unwrap(), run);
    }
}

#[test]
fn reports_are_as_their_schema_says() {
    let validator = validator(&schema());
    for run in [sample(), nothing()] {
        let document: Value = serde_json::from_str(&forms::json(&run)).unwrap();
        let mistakes: Vec<_> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(mistakes, Vec::<String>::new());
    }
}

#[test]
fn the_schema_finds_what_is_wrong() {
    let validator = validator(&schema());
    let changes: [fn(&mut Value); 6] = [
        |document| document["version"] = json!(0),
        |document| document["asked"]["mode"]["kind"] = json!("ajar"),
        |document| document["findings"][0]["verdict"] = json!("perhaps"),
        |document| document["errors"]["timeout"] = json!("many"),
        |document| document["intervals"][0]["response"] = json!(7),
        |document| drop(document.as_object_mut().unwrap().remove("timings")),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut document: Value = serde_json::from_str(&forms::json(&sample())).unwrap();
        change(&mut document);
        assert!(!validator.is_valid(&document), "change {at}");
    }
}

#[test]
fn lines_of_the_stream_are_as_their_schema_says() {
    let (run, validator) = (sample(), validator(&stream_schema()));
    let lines = run.intervals.iter().map(stream_interval).chain([stream_run(&run)]);
    for line in lines {
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one object, one line");
        let document: Value = serde_json::from_str(&line).unwrap();
        assert!(validator.is_valid(&document), "{line}");
    }
    assert!(!validator.is_valid(&json!({"kind": "other"})));
}

#[test]
fn a_page_asks_for_nothing_and_runs_nothing() {
    let page = forms::html(&sample());
    for word in
        ["src=", "href=", "url(", "@import", "<link", "<iframe", "<img", " onload", "javascript:"]
    {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(page.contains("<script type=\"application/json\" id=\"run\">"));
    assert!(page.contains(
        "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\""
    ));
    let hidden =
        page.chars().find(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
    // Within JSON a direction is data and cannot be seen; a browser does not show that element.
    let shown = page.split("<script type").next().unwrap();
    assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{hidden:?}");
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn the_run_in_a_page_is_the_run() {
    let page = forms::html(&sample());
    let begin = page.find("id=\"run\">").unwrap() + "id=\"run\">".len();
    let data = &page[begin..page.find("</script>").unwrap()];
    assert_eq!(from_json(data).unwrap(), sample());
}

#[test]
fn names_of_elements_in_a_page_are_unique() {
    let page = forms::html(&sample());
    let mut ids: Vec<_> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for reference in page.split("aria-labelledby=\"").skip(1) {
        let named = reference.split('"').next().unwrap();
        assert!(named.split(' ').all(|id| ids.contains(&id)), "{named}");
    }
}

#[test]
fn text_shows_hostile_names_as_they_are_written() {
    let text = forms::text(&sample());
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()));
    assert!(text.contains("\\u{1b}[2J\\u{202e}"));
}

#[test]
fn a_run_of_nothing_has_every_form() {
    let run = nothing();
    let (text, page) = (forms::text(&run), forms::html(&run));
    assert!(text.contains("0/s (closed load: no rate requested)"), "{text}");
    assert!(text.contains("This run was not audited"), "{text}");
    assert!(page.contains("nothing was measured"));
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    assert_eq!(forms::csv_intervals(&run).lines().count(), 1);
    let percentiles = forms::hgrm(&Histogram::new());
    assert!(
        percentiles.contains("#[Max     =        0.000, Total count    =            0]"),
        "{percentiles}"
    );
}

#[test]
fn a_long_run_has_a_page_of_bounded_size() {
    let mut times = Histogram::new();
    times.record_ns(1_000_000);
    let interval =
        Interval { length_ms: 1000, done: 1, errors: Errors::default(), ..Interval::default() };
    let interval = interval.with_response(&times);
    let page_of = |seconds: u64| {
        let mut run = nothing();
        run.intervals = vec![interval.clone(); usize::try_from(seconds).unwrap()];
        for (second, interval) in (0..).zip(&mut run.intervals) {
            interval.start_ms = second * 1000;
        }
        let page = forms::html(&run);
        let data = page.find("<script type").unwrap();
        (page[..data].to_owned(), page.len())
    };
    let (hour, _) = page_of(3600);
    let (day, _) = page_of(20_000);
    assert!(hour.contains("the first 600 of 3600 intervals"));
    assert!(day.len() < hour.len() * 11 / 10, "{} and {}", hour.len(), day.len());
}

#[test]
fn the_worst_finding_is_the_verdict() {
    let mut run = sample();
    for (verdict, words) in [
        (Verdict::Failed, "The audit failed: do not compare servers"),
        (Verdict::Warning, "The audit has warnings"),
        (Verdict::Passed, "The audit passed: these figures are reliable"),
    ] {
        assert_eq!(run.verdict(), verdict);
        assert!(forms::text(&run).contains(words));
        run.findings.retain(|finding| finding.verdict != verdict);
    }
}
