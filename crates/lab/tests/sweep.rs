//! What sweeps show: the knee, saturation by Little's law, and sweeps that begin past it.

// Every expected value is computed by the same operations.
#![allow(clippy::float_cmp)]

use crate::common;
use crate::common::{Lab, run};
use vervet_lab::record::{Connections, LoadPoint, LoadShape};
use vervet_lab::statistics::{Panel, Sweep};

/// A sweep of connections and goodput.
fn sweep(points: &[(u32, f64)]) -> Sweep {
    let lab = points
        .iter()
        .fold(Lab::new(&["a"]), |lab, (connections, rate)| lab.rates("a", *connections, &[*rate]));
    lab.panel().curves[0].sweep.clone()
}

#[track_caller]
fn check(points: &[(u32, f64)], saturated_from: Option<u32>, knee: u32) {
    let found = sweep(points);
    let from = found.saturation.map(|saturation| points[saturation.from].0);
    assert_eq!(from, saturated_from);
    assert_eq!(found.knee.map(|index| points[index].0), Some(knee));
}

#[test]
fn a_sweep_that_grows_throughout_is_not_saturated() {
    check(&[(1, 100.0), (2, 200.0), (4, 390.0), (8, 760.0)], None, 8);
    check(&[(1, 100.0)], None, 1);
}

#[test]
fn a_sweep_is_saturated_where_it_stops_growing() {
    check(&[(1, 100.0), (2, 200.0), (4, 380.0), (8, 395.0), (16, 390.0)], Some(4), 4);
}

#[test]
fn the_last_step_alone_does_not_show_whether_it_is_saturated() {
    check(&[(1, 100.0), (2, 200.0)], None, 2);
    check(&[(1, 100.0), (2, 105.0)], Some(1), 1);
}

#[test]
fn the_knee_is_the_least_load_with_nearly_all_of_the_goodput() {
    check(&[(1, 94.9), (10, 100.0), (100, 99.0)], Some(1), 10);
    check(&[(1, 95.0), (10, 100.0), (100, 99.0)], Some(1), 1);
}

#[test]
fn a_sweep_that_begins_saturated_measures_the_queue() {
    // The post of 2012: 14/s at every step, so 3.6 s at 50 users and 28.6 s at 400, whatever the
    // server.
    let users = [50, 100, 150, 200, 250, 300, 400];
    let found = sweep(&users.map(|users| (users, 14.0)));
    let saturation = found.saturation.unwrap();
    assert_eq!(saturation.from, 0);
    let meaning = saturation.meaning;
    assert!(meaning.starts_with("the sweep starts saturated: from 50 connections on"), "{meaning}");
    assert!(meaning.contains("50 / 14.0/s = 3571.4 ms"), "{meaning}");
}

#[test]
fn a_load_under_which_nothing_is_answered_is_saturated() {
    check(&[(1, 100.0), (2, 200.0), (4, 0.0)], Some(2), 2);
    // Nothing at all has no capacity.
    let none = Lab::new(&["a"]).run("a", common::closed(1), &run(0.0, &[])).run(
        "a",
        common::closed(2),
        &run(0.0, &[]),
    );
    assert_eq!(none.panel().curves[0].sweep, Sweep::default());
}

#[test]
fn a_load_that_does_not_count_says_nothing_of_saturation() {
    let grows = || Lab::new(&["a"]).rates("a", 1, &[100.0]).rates("a", 2, &[200.0]);
    let saturation = |lab: &Lab| lab.panel().curves[0].sweep.saturation.clone();
    let crashed = grows().step("a", common::closed(4), |step| {
        let run = run(50.0, &[(1.0, 1)]);
        step.run = Some(vervet_lab::record::StoredRun::new(&run).unwrap());
        step.outcome = vervet_lab::record::Outcome::Crashed { reason: "signal 11".to_owned() };
    });
    assert_eq!(saturation(&crashed), None);
    let failed = grows().failing("a", 4, "rate_asked", &[50.0]);
    assert_eq!(saturation(&failed), None);
}

#[test]
fn an_open_load_is_saturated_when_it_is_not_answered() {
    let at = |rate: f64| LoadPoint {
        shape: LoadShape::Open { rate },
        connections: Connections::KeepAlive,
        idle_connections: 0,
        pipelining: 1,
    };
    let lab = Lab::new(&["a"])
        .run("a", at(100.0), &run(100.0, &[(1.0, 1)]))
        .run("a", at(200.0), &run(191.0, &[(1.0, 1)]))
        .run("a", at(400.0), &run(210.0, &[(900.0, 1)]));
    let saturation = lab.panel().curves[0].sweep.saturation.clone().unwrap();
    assert_eq!(saturation.from, 2);
    assert!(saturation.meaning.starts_with("only 210.0/s of 400/s due requests got a response"));
    // Where it breaks down, that is what it can do from there on.
    let lab = Lab::new(&["a"])
        .run("a", at(200.0), &run(200.0, &[(1.0, 1)]))
        .run("a", at(400.0), &run(0.0, &[]))
        .run("a", at(800.0), &run(50.0, &[(900.0, 1)]));
    let saturation = lab.panel().curves[0].sweep.saturation.clone().unwrap();
    assert_eq!((saturation.from, saturation.capacity), (1, 50.0));
}

#[test]
fn closed_and_open_loads_are_panels_of_their_own() {
    let open = LoadPoint {
        shape: LoadShape::Open { rate: 100.0 },
        connections: Connections::KeepAlive,
        idle_connections: 0,
        pipelining: 1,
    };
    let close = LoadPoint {
        shape: LoadShape::Closed { concurrency: 10 },
        connections: Connections::Close,
        idle_connections: 0,
        pipelining: 1,
    };
    let lab = Lab::new(&["a"])
        .run("a", open, &run(100.0, &[(1.0, 1)]))
        .run("a", close, &run(100.0, &[(100.0, 1)]))
        .rates("a", 10, &[100.0]);
    let titles: Vec<String> = lab.analysis().panels.iter().map(Panel::title).collect();
    let expected = [
        "hello: closed load, keep-alive",
        "hello: closed load, a new connection per request",
        "hello: open load, keep-alive",
    ];
    assert_eq!(titles, expected);
}

#[test]
fn a_step_of_something_unknown_is_told() {
    let mut lab = Lab::new(&["a"]).rates("a", 10, &[1.0]);
    lab.record.steps[0].workload = "gone".to_owned();
    let error = vervet_lab::statistics::Analysis::new(&lab.record).unwrap_err();
    assert_eq!(error.to_string(), "invalid step 0 in the record: there is no workload `gone`");
}
