//! The page of a large lab is small enough to keep: one as large as S0, with 5 servers and the ceiling, 16 loads and 5
//! repeats. One repeat is made here, and takes a fifth of the room: charts and tables do not grow with repeats, and a record
//! does in proportion.

use crate::common;
use crate::common::{head, workload};
use fastrand::Rng;
use vervet_lab::present::{page_html, report_html, report_page};
use vervet_lab::record::{
    Bounds, Carried, Connections, EMBEDDED_BOUNDS, LabRecord, LoadPoint, LoadShape, Outcome, Place,
    Role, ServerFigures, Step, StoredRun, Watched, WatchedSample, embed_within, extract,
};
use vervet_lab::statistics::Analysis;
use vervet_report::{Finding, Histogram, Interval, Run, SlowRequest, Verdict};

const SUBJECTS: [&str; 6] = ["vervet", "nginx", "lighttpd", "h2o", "apache", "canned"];
const REPEATS: usize = 5;
/// Rules that the generator tells of each run.
const RULES: [&str; 8] = [
    "generator_cpu",
    "generator_lag",
    "littles_law",
    "retransmits",
    "enough_answers",
    "even_answers",
    "p99_and_mean",
    "mean_and_median",
];

/// So many times that scatter around a mean as those of a server do: most below it, few far above.
fn scattered(rng: &mut Rng, mean_ms: f64, draws: u32, each: u64) -> Histogram {
    let mut times = Histogram::new();
    for _ in 0..draws {
        let sum: f64 = (0..6).map(|_| rng.f64()).sum::<f64>() - 3.0;
        let ms = mean_ms * 0.9 * (sum * 0.6).exp();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time"
        )]
        times.record_many_ns((ms * 1e6) as u64, 1 + rng.u64(0..each));
    }
    times
}

/// A run of two seconds as the generator leaves it: times with thousands of different values, and a course in twenty
/// pieces.
fn run(rng: &mut Rng, load: LoadPoint) -> Run {
    let rate = 15_000.0 + 40_000.0 * rng.f64();
    let mean_ms = load.amount() / rate * 1e3;
    let mut run = common::run(rate / 5.0, &[(mean_ms, 1)]);
    run.achieved.window_us = 2_000_000 + rng.u64(0..3_000);
    run.achieved.bytes_received = run.achieved.done * 200_237;
    run.timings.response = scattered(rng, mean_ms, 2_000, 60);
    run.timings.service = scattered(rng, mean_ms, 2_000, 60);
    run.timings.first_byte = scattered(rng, mean_ms / 2.0, 2_000, 60);
    run.timings.connect = scattered(rng, 0.2, 100, 2);
    run.generator.lag = scattered(rng, 0.4, 500, 60);
    run.generator.busiest_thread_permille = rng.u32(600..900);
    for number in 0..20 {
        let interval = Interval {
            start_ms: number * 100,
            length_ms: 100,
            bytes: rng.u64(0..1 << 30),
            generator_cpu_permille: rng.u32(500..900),
            generator_lag_ns: rng.u64(0..2_000_000),
            connections: 1_000,
            ..Interval::default()
        };
        let times = scattered(rng, mean_ms, 200, 20);
        run.intervals.push(Interval {
            done: times.count(),
            ..interval.with_response(&times)
        });
    }
    for rule in RULES {
        run.findings.push(Finding {
            rule: rule.to_owned(),
            verdict: Verdict::Passed,
            measured: format!("{:.3} of what may be, {:.2} %", rng.f64(), rng.f64() * 99.0),
            bound: "at most so much, and failed above a multiple of it".to_owned(),
            meaning: "a sentence that says what it would mean for the figures".to_owned(),
            advice: "a sentence that says what to do".to_owned(),
        });
    }
    for _ in 0..5 {
        run.slowest.add(SlowRequest {
            response_ns: rng.u64(50_000_000..90_000_000),
            service_ns: rng.u64(50_000_000..90_000_000),
            due_ms: rng.u64(0..2_000),
            status: 200,
            request: format!("GET /many/{:04}", rng.u32(0..10_000)),
        });
    }
    run
}

fn server(rng: &mut Rng) -> Watched {
    let mut sample = |number: u64| WatchedSample {
        at_ms: number * 50 + rng.u64(0..3),
        cpu_us: number * 45_000 + rng.u64(0..9_000),
        memory_bytes: (8 << 20) + rng.u64(0..200) * 4_096,
    };
    let samples: Vec<WatchedSample> = (1..=40).map(&mut sample).collect();
    Watched::Valid(ServerFigures {
        cpu_user_us: rng.u64(100_000..900_000),
        cpu_system_us: rng.u64(900_000..1_900_000),
        rss_peak_bytes: rng.u64(1_000..4_000) * 4_096,
        rss_mean_bytes: rng.u64(1_000..4_000) * 4_096,
        pss_peak_bytes: Some(rng.u64(1_000_000..9_000_000)),
        pss_mean_bytes: Some(rng.u64(1_000_000..9_000_000)),
        processes: 2,
        samples,
    })
}

/// One repeat of a lab as large as S0.
fn lab() -> LabRecord {
    let mut rng = Rng::with_seed(2012);
    let mut head = head(&SUBJECTS);
    head.subjects[5].role = Role::Ceiling;
    head.workloads = ["kept", "closed", "many"].map(workload).to_vec();
    let mut record = LabRecord::new(head);
    let loads = |amounts: &[u32], connections| -> Vec<LoadPoint> {
        let shapes = amounts.iter().map(|concurrency| LoadShape::Closed {
            concurrency: *concurrency,
        });
        shapes
            .map(|shape| LoadPoint { shape, connections })
            .collect()
    };
    let sweep: Vec<u32> = (1..=10).map(|hundreds| hundreds * 100).collect();
    let workloads = [
        ("kept", loads(&sweep, Connections::KeepAlive)),
        ("closed", loads(&[100, 400, 1_000], Connections::Close)),
        ("many", loads(&[100, 400, 1_000], Connections::KeepAlive)),
    ];
    for (workload, loads) in workloads {
        for load in loads {
            for subject in SUBJECTS {
                record.steps.push(Step {
                    order: u32::try_from(record.steps.len()).unwrap(),
                    subject: subject.to_owned(),
                    workload: workload.to_owned(),
                    load,
                    repeat: 1,
                    began_unix_ms: 1_700_000_000_000 + rng.u64(0..1 << 22),
                    outcome: Outcome::Measured,
                    run: Some(StoredRun::of(&run(&mut rng, load)).unwrap()),
                    server: server(&mut rng),
                    audit: Vec::new(),
                });
            }
        }
    }
    record
}

#[test]
fn the_page_of_a_large_lab_is_small_enough_to_keep() {
    let record = lab();
    assert_eq!(record.steps.len() * REPEATS, 480);
    let analysis = Analysis::of(&record).unwrap();
    let bytes = page_html(&report_page(&record, &analysis), "").len();
    let room = EMBEDDED_BOUNDS.page.saturating_sub(bytes) / REPEATS;
    let bounds = Bounds {
        page: bytes + room,
        element: 0,
    };
    let place = Place {
        bytes,
        shown_in_full: analysis.shown_in_full(),
    };
    let embedded = embed_within(&record, &place, bounds).unwrap();
    assert!(
        embedded.html.len() <= room,
        "the page has {bytes} bytes, and a record in it {}",
        embedded.html.len() * REPEATS
    );
    assert_ne!(embedded.carried, Carried::WithoutRuns);
    // What is read from the page is carried on as it is, and says the same.
    let found = extract(&embedded.html).unwrap();
    let again = report_html(&found, &Analysis::of(&found).unwrap()).unwrap();
    assert_eq!(extract(&again).unwrap(), found);
}
