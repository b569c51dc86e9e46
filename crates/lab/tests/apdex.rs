//! Apdex, its ratings at their edges, and the best step of a sweep.

use crate::common::{Lab, closed, run};
use vervet_lab::statistics::{Apdex, Figure, Rating};
use vervet_report::ErrorClass;

#[test]
fn ratings_begin_at_their_edges_as_they_are_shown() {
    let rows = [
        (0.0, Rating::Unacceptable),
        (0.4949, Rating::Unacceptable),
        (0.496, Rating::Poor),
        (0.6949, Rating::Poor),
        (0.696, Rating::Fair),
        (0.8449, Rating::Fair),
        (0.846, Rating::Good),
        (0.9349, Rating::Good),
        (0.936, Rating::Excellent),
        (1.0, Rating::Excellent),
    ];
    for (score, rating) in rows {
        assert_eq!(Apdex::new(score).rating(), rating, "{score}");
    }
}

#[test]
fn who_tolerates_counts_half() {
    assert_eq!(Apdex::from_counts(60.0, 30.0, 100.0), Some(Apdex::new(0.75)));
    assert_eq!(Apdex::from_counts(0.0, 0.0, 0.0), None);
}

#[test]
fn the_limits_of_a_step_are_t_and_four_t() {
    // T is 1.5 s: 50 % satisfied, 30 % tolerate up to 6 s, 20 % are lost.
    let times = [(1_400.0, 50), (1_600.0, 20), (5_900.0, 10), (6_100.0, 20)];
    let lab = Lab::new(&["a"]).run("a", closed(10), &run(100.0, &times));
    let apdex = lab.point().median(Figure::Apdex).unwrap();
    assert!((apdex - 0.65).abs() < 1e-9, "{apdex}");
}

#[test]
fn a_fast_failure_satisfies_nobody() {
    let mut run = run(100.0, &[(1.0, 1)]);
    for _ in 0..1000 {
        run.errors.add(ErrorClass::Refused);
    }
    let lab = Lab::new(&["a"]).run("a", closed(10), &run);
    assert_eq!(lab.point().median(Figure::Apdex), Some(0.5));
}

#[test]
fn the_best_step_is_that_of_the_greatest_rate_times_apdex_that_is_good_enough() {
    let lab = Lab::new(&["a"])
        .run("a", closed(10), &run(100.0, &[(100.0, 1)]))
        // 150 * 0.9 = 135: the best.
        .run("a", closed(20), &run(150.0, &[(100.0, 80), (2_000.0, 20)]))
        // 200 * 0.8 = 160, but 0.8 is below 0.85.
        .run("a", closed(40), &run(200.0, &[(100.0, 60), (2_000.0, 40)]))
        .run("a", closed(80), &run(130.0, &[(100.0, 1)]));
    let curve = &lab.panel().curves[0];
    assert_eq!(curve.sweep.best, Some(1));
    assert_eq!(curve.sweep.peak, Some(2));
}

#[test]
fn there_is_no_best_step_where_nobody_is_content() {
    let lab = Lab::new(&["a"]).run("a", closed(10), &run(100.0, &[(9_000.0, 1)]));
    let curve = &lab.panel().curves[0];
    assert_eq!((curve.sweep.best, curve.sweep.peak), (None, Some(0)));
}
