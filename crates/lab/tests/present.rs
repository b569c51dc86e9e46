//! Reports from records that were made by hand: what stands in them, what may not, and that they
//! need nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Lab, closed, run};
use vervet_lab::present::{
    analysis_json, inserted, page_markdown, report_html, report_page, steps_csv,
};
use vervet_lab::record::{
    Asset, FairnessRow, FairnessVerdict, History, OldFigure, Outcome, Role, SubjectState,
};
use vervet_report::{ErrorClass, SlowRequest};

/// The sweep of 2012 with two servers and the ceiling, of which one step crashed.
fn sweep() -> Lab {
    let mut lab = Lab::new(&["monkey", "g-wan", "canned", "klone"]);
    for connections in [100, 200, 300] {
        lab = lab
            .rates("monkey", connections, &[29_200.0, 29_231.0, 29_300.0])
            .rates("g-wan", connections, &[17_200.0, 17_222.0, 17_300.0])
            .rates("canned", connections, &[58_462.0, 58_462.0, 58_462.0]);
    }
    lab = lab.step("g-wan", closed(400), |step| {
        step.outcome = Outcome::Crashed { reason: "signal 11".to_owned() };
    });
    let mut failing = run(100.0, &[(400.0, 1)]);
    for _ in 0..100 {
        failing.errors.add(ErrorClass::Refused);
    }
    failing.slowest.add(SlowRequest {
        response_ns: 3_000_000_000,
        service_ns: 2_000_000,
        due_ms: 1_234,
        status: 200,
        request: "/slow".to_owned(),
    });
    lab = lab.run("monkey", closed(400), &failing);
    let record = &mut lab.record;
    record.ended_unix_ms = Some(1_700_000_100_000);
    record.head.steps_planned = u32::try_from(record.steps.len()).unwrap();
    "A file of 200 KB".clone_into(&mut record.head.title);
    record.head.subjects[2].role = Role::Ceiling;
    record.head.subjects[3].state =
        SubjectState::Skipped { reason: "klone is not installed".to_owned() };
    record.head.assets.push(Asset {
        path: "app.py".to_owned(),
        bytes: 1_234,
        sha256: "a".repeat(64),
        text: Some("print()\n".to_owned()),
        executable: false,
    });
    record.fairness.push(FairnessRow {
        workload: "hello".to_owned(),
        property: "content bytes".to_owned(),
        values: vec![("monkey".to_owned(), "13".to_owned()), ("g-wan".to_owned(), "12".to_owned())],
        verdict: FairnessVerdict::Differs,
    });
    record.head.history = Some(History {
        source: "A post of 2012.".to_owned(),
        figures: vec![OldFigure {
            what: "Monkey".to_owned(),
            subject: Some("monkey".to_owned()),
            workload: None,
            phase: None,
            connections: Some(200),
            figure: "goodput".to_owned(),
            said: "29,231/s".to_owned(),
            wrong: "called 42 % more than 17,222/s; it is 69.7 % more".to_owned(),
        }],
        mistakes: vec!["Hardware and versions are not stated.".to_owned()],
    });
    lab
}

fn markdown(lab: &Lab) -> String {
    page_markdown(&report_page(&lab.record, &lab.analysis()), Some("charts"))
}

#[track_caller]
fn check_has(text: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(text.contains(piece), "{piece:?} is not in\n{text}");
    }
}

#[test]
fn the_report_is_the_one_that_was_agreed_on() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/report.md");
    let fresh = page_markdown(&report_page(&sweep().record, &sweep().analysis()), None);
    let known = fs::read_to_string(&path).unwrap_or_default();
    if fresh != known {
        let beside = std::env::temp_dir().join("vervet-lab-report.md");
        fs::write(&beside, &fresh).unwrap();
        panic!(
            "the report changed: compare {} with {}, and copy it when that is meant",
            beside.display(),
            path.display()
        );
    }
}

#[test]
fn the_sections_of_a_full_report_are_there() {
    let page = report_page(&sweep().record, &sweep().analysis());
    let titles: Vec<&str> = page.sections.iter().map(|section| section.title.as_str()).collect();
    let expected = [
        "hello: closed load, keep-alive",
        "Published figures next to new ones",
        "Findings",
        "Failures and errors",
        "Tests and pages",
        "Requests",
        "Resource use of the servers",
        "Fairness",
        "Configuration",
        "Content",
        "Hosts",
        "Definitions",
    ];
    assert_eq!(titles, expected);
}

#[test]
fn the_figures_are_those_of_the_record() {
    let text = markdown(&sweep());
    check_has(
        &text,
        &[
            "| 1 | monkey | 29,231/s (29,200/s to 29,300/s) |",
            "| 2 | g-wan | 17,222/s (17,200/s to 17,300/s) |",
            // 29,231 of 58,462.
            "| 50.0 % |",
            // Two seconds of CPU time for 292,310 answers.
            "| 6.84 us |",
            "crashed: signal 11",
            "skipped: klone is not installed",
            "| goodput, 200 connections |",
            "differs, as the lab file permits",
            "With 3 repeats the interval spans minimum and maximum, and covers the true median in 75 % of cases.",
            "the knee, the lowest load with 95 % of the highest goodput, is at 100 connections",
            "the sweep starts saturated: from 100 connections on",
            "| refused | the target refused the connection | 100 |",
        ]
        .map(|piece| piece.replace("| goodput, 200", "| successful responses per second, 200"))
        .iter()
        .map(String::as_str)
        .collect::<Vec<&str>>(),
    );
}

#[test]
fn who_is_not_proven_is_not_called_a_tie() {
    let one = Lab::new(&["a", "b"]).rates("a", 10, &[100.0]).rates("b", 10, &[900.0]);
    let text = markdown(&one);
    check_has(
        &text,
        &[
            "Too few valid repeats to compare b, a. There is only one repeat.",
            "Too few valid repeats for ranks",
            "| ? | b | 900/s (one repeat) |",
            "| 10 connections | 100/s | 900/s |",
        ],
    );
    assert!(!text.contains("No significant difference"), "{text}");
    let twins = [100.0, 103.0, 101.0];
    let two = Lab::new(&["one", "two"]).rates("one", 10, &twins).rates("two", 10, &twins);
    check_has(
        &markdown(&two),
        &["No significant difference: one, two.", "| 1= | one | 101/s (100/s to 103/s) |"],
    );
}

#[test]
fn the_limit_of_the_generator_is_told_in_the_ranking_and_in_the_finding() {
    let lab = Lab::new(&["fast", "slow", "faster"])
        .rates("fast", 100, &[20_000.0, 20_000.0, 20_000.0])
        .rates("fast", 400, &[46_000.0])
        .failing("fast", 400, "generator_cpu", &[47_000.0, 48_000.0])
        .rates("slow", 100, &[21_800.0, 21_800.0, 21_800.0])
        .failing("faster", 100, "generator_cpu", &[50_000.0, 50_000.0, 50_000.0]);
    let text = markdown(&lab);
    check_has(
        &text,
        &[
            "slow has the highest goodput of all that can be ranked.",
            "The generator was the bottleneck for fast (400 connections), faster (100 connections).",
            "| 2 | fast | ≥ 20,000/s (20,000/s to 20,000/s) | 100 |",
            "| 1 | slow | 21,800/s (",
            "| faster | audit: generator\\_cpu (so much) |",
            "| 46,000/s, 1 of 3 valid repeats |",
            "the server may be capable of more than they show",
        ],
    );
    let json = analysis_json(&lab.record, &lab.analysis());
    let places = &json["panels"][0]["places"];
    assert_eq!(
        (&places[0]["lower_bound"], &places[1]["lower_bound"]),
        (&false.into(), &true.into())
    );
    assert_eq!(places[1]["limited_under"][0]["shape"]["closed"]["concurrency"], 400);
}

#[test]
fn old_figures_of_servers_that_are_gone_have_no_empty_columns() {
    let mut lab = sweep();
    let history = lab.record.head.history.as_mut().unwrap();
    let mut gone = history.figures[0].clone();
    "Another".clone_into(&mut gone.what);
    gone.subject = None;
    history.figures.push(gone.clone());
    check_has(
        &markdown(&lab),
        &[
            "## Published figures next to new ones",
            "| 29,231/s | 29,231/s (29,200/s to 29,300/s) | 200 connections |",
            "| 29,231/s | – |  |",
        ],
    );
    lab.record.head.history.as_mut().unwrap().figures = vec![gone];
    let text = markdown(&lab);
    check_has(
        &text,
        &[
            "## Published figures\n",
            "| what | figure | published | mistake |",
            "| Another | successful responses per second, 200 connections | 29,231/s | called 42",
        ],
    );
}

#[test]
fn the_slowest_requests_are_those_of_the_best_step() {
    let mut slow = run(100.0, &[(10.0, 1)]);
    for response_ms in [3_000, 5_000, 4_000, 2_000, 1_500, 1_000] {
        slow.slowest.add(SlowRequest {
            response_ns: response_ms * 1_000_000,
            service_ns: 2_000_000,
            due_ms: 1_234,
            status: 200,
            request: format!("/{response_ms}"),
        });
    }
    let text = markdown(&Lab::new(&["a"]).run("a", closed(1), &slow));
    check_has(
        &text,
        &["| a | 1 connection | 5.00 s | 2.00 ms | 1,234 ms | 200 | /5000 |", "| /1500 |"],
    );
    assert!(!text.contains("/1000 |"), "five, and no more");
}

#[test]
fn charts_have_names_of_their_own_and_each_its_table() {
    let page = report_page(&sweep().record, &sweep().analysis());
    let names: Vec<&str> = page.pictures().map(|picture| picture.name.as_str()).collect();
    let expected = [
        "1-hello-rate",
        "1-hello-response",
        "1-hello-candles",
        "1-hello-cpu",
        "1-hello-memory",
        "1-hello-errors",
        "1-hello-ceiling",
    ];
    assert_eq!(names, expected);
    for picture in page.pictures() {
        assert!(!picture.table.is_empty(), "{}", picture.name);
        let file = picture.chart.file();
        assert!(
            file.starts_with("<svg") && file.trim_end().ends_with("</svg>"),
            "{}",
            picture.name
        );
    }
}

#[track_caller]
fn check_ceiling(rate: f64, drawn: bool) {
    let mut lab = Lab::new(&["monkey", "canned"]);
    for connections in [100, 200, 300] {
        lab = lab.rates("monkey", connections, &[1000.0, 1000.0, 1000.0]).rates(
            "canned",
            connections,
            &[rate, rate, rate],
        );
    }
    lab.record.head.subjects[1].role = Role::Ceiling;
    let page = report_page(&lab.record, &lab.analysis());
    let picture =
        page.pictures().find(|picture| picture.name.ends_with("-rate")).expect("a chart of rates");
    let svg = picture.chart.file();
    assert_eq!(svg.contains(">canned<"), drawn, "{svg}");
    assert_eq!(svg.contains("times the best of them)"), !drawn, "{svg}");
    // The table has its figures either way.
    check_has(
        &page_markdown(&page, None),
        &["| canned", "Share of the ceiling, at the highest goodput"],
    );
}

#[test]
fn a_ceiling_far_above_presses_no_curve_onto_the_axis() {
    check_ceiling(8_000.0, true);
    check_ceiling(8_100.0, false);
    check_ceiling(175_000.0, false);
}

/// Bars of one load: who was excluded is grey and named so, and is not drawn as a share.
#[test]
fn excluded_subjects_are_drawn_as_excluded() {
    let mut lab = Lab::new(&["good", "late", "fast", "canned"])
        .rates("good", 10, &[100.0, 101.0, 102.0])
        .failing("late", 10, "generator_starved", &[99.0, 99.0, 99.0])
        .rates("fast", 10, &[900.0, 901.0, 902.0])
        .rates("canned", 10, &[200.0, 201.0, 202.0]);
    lab.record.head.subjects[3].role = Role::Ceiling;
    let page = report_page(&lab.record, &lab.analysis());
    let svg = |end: &str| {
        let mut pictures = page.pictures();
        pictures.find(|picture| picture.name.ends_with(end)).unwrap().chart.file()
    };
    let rates = svg("-rate");
    check_has(&rates, &[">late (not ranked)<", ">good<", "<title>late (not ranked): 99"]);
    let bar = rates.split("<rect ").find(|bar| bar.contains("<title>late (not ranked)")).unwrap();
    assert!(bar.starts_with("fill=\"var(--c-quiet)\""), "{bar}");
    let shares = svg("-ceiling");
    for label in ["late (not ranked)", "fast (the ceiling is not an upper bound)"] {
        check_has(&shares, &[&format!("{label}: no figure")]);
    }
    check_has(&markdown(&lab), &["| above it |"]);
}

#[test]
fn a_ceiling_that_failed_its_audit_is_reported() {
    let mut lab = Lab::new(&["good", "canned"]).rates("good", 10, &[100.0, 101.0, 102.0]).failing(
        "canned",
        10,
        "generator_lag",
        &[20.0, 20.0, 20.0],
    );
    lab.record.head.subjects[1].role = Role::Ceiling;
    let text = markdown(&lab).replace('\\', "");
    check_has(
        &text,
        &[
            "The ceiling is not an upper bound under 10 connections, and there is no share of it: generator_lag (so much).",
        ],
    );
    assert!(!text.contains("500 %"), "{text}");
}

#[test]
fn the_page_needs_nothing_else_and_runs_nothing() {
    let html = report_html(&sweep().record, &sweep().analysis());
    let body = html.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1/", "");
    for piece in ["src=", "@import", "url(", "http:", "https:", "<link", "onload", "<iframe"] {
        assert!(!body.contains(piece), "{piece}");
    }
    assert!(!html.contains("<script"));
    check_has(&html, &["name=\"viewport\"", "prefers-color-scheme:dark", "default-src 'none'"]);
}

#[test]
fn ids_are_unique_in_a_page() {
    let html = report_html(&sweep().record, &sweep().analysis());
    let mut seen = BTreeSet::new();
    for piece in html.split(" id=\"").skip(1) {
        let id = piece.split('"').next().unwrap();
        assert!(seen.insert(id), "{id} twice");
    }
}

#[test]
fn what_others_named_opens_no_element() {
    let name = "<img src=x onerror=alert(1)>\"'&|`\u{202e}";
    let mut lab =
        Lab::new(&[name]).rates(name, 10, &[100.0, 100.0]).rates(name, 20, &[100.0, 100.0]);
    let head = &mut lab.record.head;
    head.title = "</title><script>alert(1)</script>".to_owned();
    head.lab.text = "</pre></details><script>".to_owned();
    head.subjects[0].configuration = "<b>".to_owned();
    head.subjects[0].command = vec!["<i>".to_owned()];
    let html = report_html(&lab.record, &lab.analysis());
    for piece in ["<img", "<script>", "<b>", "<i>", "\u{202e}"] {
        assert!(!html.contains(piece), "{piece}");
    }
    let text = markdown(&lab);
    // What stands in a fence is text already.
    let (text, _) = text.split_once("The lab file").unwrap();
    for piece in ["<img", "<script>", "<i>", "\u{202e}"] {
        assert!(!text.contains(piece), "{piece}");
    }
    check_has(text, &["\\|\\`"]);
}

#[test]
fn a_fence_is_longer_than_any_within() {
    let mut lab = Lab::new(&["a"]).rates("a", 10, &[100.0]);
    lab.record.head.lab.text = "````\nstill the file\n".to_owned();
    check_has(&markdown(&lab), &["\n`````\n````\nstill the file\n`````\n"]);
}

#[test]
fn a_row_of_csv_is_a_step_in_the_order_of_the_lab() {
    let lab = sweep();
    let csv = steps_csv(&lab.record, &lab.analysis());
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert!(lines[0].starts_with("order,subject,workload,load,amount,keep_alive,repeat,began_unix_ms,outcome,counts,findings,goodput,"));
    assert_eq!(lines.len(), lab.record.steps.len() + 2);
    assert!(
        lines[1]
            .starts_with("0,monkey,hello,closed,100,true,1,1700000000000,measured,true,,29200,0,"),
        "{}",
        lines[1]
    );
    assert!(lines.iter().any(|line| line.contains(",crashed,false,")));
    let commas = |line: &&str| line.matches(',').count();
    assert_eq!(commas(&lines[1]), commas(&lines[0]));
}

#[test]
fn programs_get_the_conclusions() {
    let lab = sweep();
    let json = analysis_json(&lab.record, &lab.analysis());
    let panel = &json["panels"][0];
    assert_eq!(panel["places"][0]["subject"], "monkey");
    assert_eq!(panel["places"][0]["goodput"]["interval"][1], 29_300.0);
    let monkey = &panel["curves"][0];
    assert_eq!(monkey["points"][0]["share_of_ceiling"], 0.5);
    // The best step follows from the other figures.
    let worth = |point: &serde_json::Value| {
        let figure = |name: &str| point["figures"][name]["median"].as_f64().unwrap();
        (figure("apdex") >= 0.85).then(|| figure("goodput") * figure("apdex"))
    };
    let points = monkey["points"].as_array().unwrap();
    let best = points.iter().max_by(|a, b| worth(a).partial_cmp(&worth(b)).unwrap()).unwrap();
    assert_eq!(worth(&points[0]), worth(best), "the first of equals");
    assert_eq!(monkey["best"], points[0]["load"]);
}

#[test]
fn a_lab_without_a_step_has_a_page() {
    let lab = Lab::new(&["a"]);
    let html = report_html(&lab.record, &lab.analysis());
    check_has(&html, &["0 of 3 steps, interrupted", "Definitions"]);
}

#[test]
fn an_inserted_table_leaves_the_prose_around_it() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let markers = ["<!-- lab table: begin -->", "<!-- lab table: end -->"];
    let (before, rest) = readme.split_once(markers[0]).unwrap();
    let (_, after) = rest.split_once(markers[1]).unwrap();
    let lab = sweep();
    let page = inserted(&readme, &lab.record, &lab.analysis()).unwrap();
    assert!(page.starts_with(&format!("{before}{}\n", markers[0])), "{page}");
    assert!(page.ends_with(&format!("{}{after}", markers[1])), "{page}");
    check_has(&page, &["| workload | monkey |", "One worker per server"]);
    assert_eq!(inserted("no markers", &lab.record, &lab.analysis()), None);
}

#[test]
fn a_workload_under_two_congestion_controls_has_one_row() {
    let lab = sweep();
    let page = "<!-- lab table: begin -->\n<!-- lab table: end -->";
    let mut analysis = lab.analysis();
    "small files".clone_into(&mut analysis.panels[0].workload.description);
    let once = inserted(page, &lab.record, &analysis).unwrap();
    check_has(&once, &["| small files |"]);
    let mut under_bbr = analysis.panels[0].clone();
    "files (bbr)".clone_into(&mut under_bbr.workload.name);
    analysis.panels.push(under_bbr);
    assert_eq!(inserted(page, &lab.record, &analysis).unwrap(), once);
}
