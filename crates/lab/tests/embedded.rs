//! Records within pages: they come back whole, a page does not grow without bound, and damage is said.

use std::fs;

use crate::common::{Lab, closed, run};
use vervet_lab::record::{
    Bounds, Carried, Entry, Journal, LabRecord, Place, Watched, WatchedSample, embed, embed_within,
    extract, open_figures, open_record, write_record,
};
use vervet_lab::statistics::{Analysis, Figure, Point, Unit};
use vervet_report::Interval;
use vervet_testkit::TempTree;

fn lab() -> Lab {
    let mut lab = Lab::new(&["a", "</script><b>"]).rates("a", 10, &[100.0, 101.0]);
    lab.record.head.lab.text = "# </script>\n".repeat(100);
    lab
}

#[track_caller]
fn check_refused(page: &str, says: &str) {
    let error = extract(page).unwrap_err().to_string();
    assert!(error.contains(says), "{error:?} does not say {says:?}");
}

#[test]
fn a_record_comes_back_from_its_page() {
    let record = lab().record;
    let embedded = embed(&record, &Place::default()).unwrap();
    assert_eq!(embedded.carried, Carried::Whole);
    assert!(embedded.html.lines().all(|line| line.len() <= 120));
    let page = format!(
        "<!doctype html><script>1</script>{}<p>end</p>",
        embedded.html
    );
    assert_eq!(extract(&page).unwrap(), record);
    assert_eq!(
        extract(&page.replace('\n', "\r\n")).unwrap(),
        record,
        "as editors change lines"
    );
}

/// Bounds that nothing fits but what has no runs.
const NOTHING: Bounds = Bounds {
    page: 0,
    element: 0,
};

#[test]
fn a_page_does_not_grow_without_bound() {
    let record = long_lab().record;
    // What else is in the page takes a thousand bytes.
    let place = Place {
        bytes: 1_000,
        ..Place::default()
    };
    let record_of =
        |page, element| embed_within(&record, &place, Bounds { page, element }).unwrap();
    let whole = record_of(usize::MAX, 0);
    assert_eq!(whole.carried, Carried::Whole);
    let mut before = whole.html.len();
    for carried in [Carried::Thinned, Carried::Condensed, Carried::PartlyCourse] {
        // One byte less than the one before needs.
        let less = record_of(before + 999, 0);
        assert_eq!(less.carried, carried);
        assert!(less.html.len() < before, "{carried:?}");
        before = less.html.len();
        assert_eq!(record_of(before + 1_000, 0).carried, carried);
    }
    assert_eq!(record_of(before + 999, 0).carried, Carried::WithoutRuns);
    // Where no page stays small, nothing more is left out than a browser needs.
    assert_eq!(record_of(0, usize::MAX).carried, Carried::Condensed);
    assert_eq!(record_of(0, before).carried, Carried::PartlyCourse);
    assert_eq!(record_of(0, before - 1).carried, Carried::WithoutRuns);
    let bounded = embed_within(&record, &Place::default(), NOTHING).unwrap();
    let found = extract(&bounded.html).unwrap();
    assert_eq!(found.head, record.head, "enough to run it again");
    assert_eq!(found.steps.len(), record.steps.len());
    assert!(found.steps.iter().all(|step| step.run.is_none()));
}

/// A lab whose runs are long: thousands of different times, in sixty pieces, with a reading every 50 ms.
fn long_lab() -> Lab {
    let times: Vec<(f64, u64)> = (1..3_000)
        .map(|at| (0.8 + f64::from(at) / 700.0, 7))
        .collect();
    let mut long = run(100_000.0, &times);
    for second in 0..60 {
        let interval = Interval {
            start_ms: second * 1_000,
            length_ms: 1_000,
            done: 350,
            ..Interval::default()
        };
        long.intervals
            .push(interval.with_response(&long.timings.response));
    }
    let mut lab = Lab::new(&["a"]).run("a", closed(10), &long);
    let Watched::Valid(figures) = &mut lab.record.steps[0].server else {
        panic!("the step was watched");
    };
    figures.samples = (1..=1_200)
        .map(|at| WatchedSample {
            at_ms: at * 50,
            cpu_us: at * 25_000,
            memory_bytes: 1 << 20,
        })
        .collect();
    lab
}

#[test]
fn a_record_with_less_has_the_same_figures_and_times_within_a_hundredth() {
    let record = long_lab().record;
    let within = |page: usize| {
        embed_within(&record, &Place::default(), Bounds { page, element: 0 })
            .unwrap()
            .html
    };
    let whole = within(usize::MAX);
    let thinned = within(whole.len() - 1);
    let condensed = within(thinned.len() - 1);
    let lengths = [&whole, &thinned, &condensed].map(String::len);
    assert!(lengths[1] * 4 < lengths[0], "{lengths:?}");
    assert!(lengths[2] < lengths[1], "{lengths:?}");
    let condensed = extract(&condensed).unwrap();
    check_figures(&record, &condensed);
    let found = extract(&thinned).unwrap();
    check_figures(&record, &found);
    let course = |record| point_of(record).shown()[0].series.clone();
    let (before, after) = (course(&record), course(&found));
    assert_eq!(before.len(), after.len());
    for (one, other) in before.iter().zip(&after) {
        assert_eq!((one.rate, one.p99_ms), (other.rate, other.p99_ms));
        assert!((other.cores_busy.unwrap() - 0.5).abs() < 0.01, "{other:?}");
    }
    // Six seconds in one piece: the same rate, and the quantiles of all six together.
    let shorter = course(&condensed);
    assert_eq!(shorter.len(), 10);
    for (one, other) in before.iter().step_by(6).zip(&shorter) {
        assert_eq!(
            (one.at_seconds, one.rate, one.p99_ms),
            (other.at_seconds, other.rate, other.p99_ms)
        );
        assert!((other.cores_busy.unwrap() - 0.5).abs() < 0.01, "{other:?}");
    }
}

#[test]
fn the_course_of_what_is_shown_is_carried() {
    let mut lab = long_lab();
    let mut second = lab.record.steps[0].clone();
    second.order = 1;
    second.repeat = 2;
    lab.record.steps.push(second);
    let record = lab.record;
    let place = Place {
        bytes: 0,
        shown_in_full: [1].into(),
    };
    let within = |page| embed_within(&record, &place, Bounds { page, element: 0 }).unwrap();
    let all = within(within(within(usize::MAX).html.len() - 1).html.len() - 1);
    assert_eq!(all.carried, Carried::Condensed);
    let some = within(all.html.len() - 1);
    assert_eq!(some.carried, Carried::PartlyCourse);
    let found = extract(&some.html).unwrap();
    check_figures(&record, &found);
    let pieces = found.steps.iter().map(|step| {
        let run = step.run.as_ref().unwrap().read().unwrap();
        let samples = step.server.figures().unwrap().samples.len();
        (run.intervals.len(), samples)
    });
    assert_eq!(pieces.collect::<Vec<_>>(), [(0, 0), (10, 10)]);
}

#[test]
fn what_is_shown_in_full_are_the_best_and_the_greatest_of_each_subject() {
    let lab = Lab::new(&["a", "b"])
        .rates("a", 1, &[50.0, 50.0])
        .rates("a", 10, &[100.0, 100.0])
        .rates("b", 1, &[50.0, 50.0])
        .rates("b", 10, &[20.0, 20.0]);
    let shown: Vec<u32> = lab.analysis().shown_in_full().into_iter().collect();
    assert_eq!(shown, [2, 3, 4, 5]);
}

fn point_of(record: &LabRecord) -> Point {
    Analysis::of(record).unwrap().panels[0].curves[0].points[0].clone()
}

/// All figures of the only point are the same, times within a hundredth.
#[track_caller]
fn check_figures(record: &LabRecord, found: &LabRecord) {
    let (before, after) = (point_of(record), point_of(found));
    for figure in Figure::ALL {
        let (one, other) = (before.median(figure), after.median(figure));
        let is_time = figure.unit() == Unit::Milliseconds;
        let allowed = if is_time { 0.01 } else { 1e-12 };
        let apart = one
            .zip(other)
            .map(|(one, other)| (one - other).abs() / one.abs().max(1e-9));
        assert_eq!(one.is_some(), other.is_some(), "{figure:?}");
        assert!(
            apart.is_none_or(|apart| apart <= allowed),
            "{figure:?}: {one:?}, {other:?}"
        );
    }
}

#[test]
fn damage_is_said() {
    let html = embed(&lab().record, &Place::default()).unwrap().html;
    check_refused("<p>a page</p>", "there is no record in it");
    check_refused(&html[..html.len() - 20], "it ends within the record");
    check_refused(&html[..30], "there is no record in it");
    let begin = html.find('>').unwrap() + 2;
    check_refused(
        &format!("{}*{}", &html[..begin], &html[begin + 1..]),
        "damaged",
    );
    check_refused(
        &format!("{}AAAA{}", &html[..begin], &html[begin + 4..]),
        "damaged",
    );
    check_refused(&format!("{}{}", &html[..begin], "</script>"), "damaged");
}

#[test]
fn records_are_found_wherever_they_are() {
    let tree = TempTree::new();
    let record = lab().record;
    write_record(&tree.join("lab.json"), &record).unwrap();
    let page = tree.write(
        "report.html",
        embed(&record, &Place::default()).unwrap().html,
    );
    let journal = tree.join("journal.jsonl");
    let mut lines = Journal::create(&journal, &record.head).unwrap();
    for step in &record.steps {
        lines.append(&Entry::Step(Box::new(step.clone()))).unwrap();
    }
    for path in [tree.path(), &tree.join("lab.json"), &page, &journal] {
        assert_eq!(open_figures(path).unwrap(), record, "{}", path.display());
    }
    fs::remove_file(tree.join("lab.json")).unwrap();
    assert_eq!(
        open_record(tree.path()).unwrap(),
        record,
        "an interrupted lab has its journal"
    );
    fs::remove_file(&journal).unwrap();
    let error = open_record(tree.path()).unwrap_err().to_string();
    assert!(
        error.contains("neither lab.json nor journal.jsonl"),
        "{error}"
    );
}

#[test]
fn a_page_without_figures_is_no_source_of_figures() {
    let tree = TempTree::new();
    let bounded = embed_within(&lab().record, &Place::default(), NOTHING)
        .unwrap()
        .html;
    let page = tree.write("report.html", bounded);
    assert!(open_record(&page).is_ok());
    let error = open_figures(&page).unwrap_err().to_string();
    assert!(error.contains("give the lab.json beside it"), "{error}");
}

#[test]
fn a_lab_in_which_nobody_was_ready_is_no_such_page() {
    let tree = TempTree::new();
    let lab = Lab::new(&["a"]).step("a", closed(1), |step| {
        step.outcome = vervet_lab::record::Outcome::NotReady {
            reason: "5 s".to_owned(),
        };
    });
    let path = tree.join("lab.json");
    write_record(&path, &lab.record).unwrap();
    assert!(open_figures(&path).is_ok());
    // One run is enough.
    let lab = lab.run("a", closed(1), &run(1.0, &[(1.0, 1)]));
    write_record(&path, &lab.record).unwrap();
    assert!(open_figures(&path).is_ok());
}
