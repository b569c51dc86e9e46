//! A run that is changed while it is made.

use std::sync::Arc;
use std::time::Duration;

use crate::common::{GOOD, answering, canned, plan};
use vervet_load::canned::CannedAnswer;
use vervet_load::pacer::{Arrival, Constant};
use vervet_load::{Load, Plan};
use vervet_report::{Ended, Run};

/// Makes a run of short intervals, and does something after the third.
fn change(plan: Plan, what: impl Fn(&vervet_load::Control)) -> Run {
    let running = vervet_load::start(plan).unwrap();
    let control = running.control();
    let mut intervals = 0;
    running.finish(|_| {
        intervals += 1;
        if intervals == 3 {
            what(&control);
        }
    })
}

fn short_intervals(mut plan: Plan) -> Plan {
    plan.interval = Duration::from_millis(100);
    plan.duration = Some(Duration::from_millis(1500));
    plan
}

#[test]
fn stops_when_told() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = short_intervals(plan(address));
    plan.duration = Some(Duration::from_hours(1));
    plan.threads = 2;
    plan.connections = 2;
    let run = change(plan, vervet_load::Control::stop);
    assert_eq!(run.achieved.ended, Ended::Interrupted);
    assert!(run.achieved.done > 0);
    assert!(run.achieved.window_us >= 300_000);
}

#[test]
fn users_come_and_go() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = short_intervals(plan(address));
    plan.connections = 2;
    plan.threads = 2;
    let more = change(plan.clone(), |control| control.set_users(7));
    assert_eq!(more.achieved.connections_opened, 7);
    assert_eq!(
        (more.errors.total(), more.achieved.ended),
        (0, Ended::AsAsked)
    );
    plan.connections = 6;
    let fewer = change(plan, |control| control.set_users(2));
    assert_eq!(
        (fewer.errors.total(), fewer.achieved.ended),
        (0, Ended::AsAsked)
    );
    assert!(fewer.censored.count <= 2, "{:?}", fewer.censored);
    assert_eq!(fewer.achieved.connections_opened, 6);
}

/// From 20 to 400 a second: what is asked follows.
#[test]
fn the_rate_changes() {
    let mut plan = short_intervals(plan(answering(GOOD)));
    plan.connections = 8;
    plan.load = Load::Open {
        pacer: Arc::new(Constant::per_second(20.0)),
        arrival: Arrival::Even,
    };
    let run = change(plan, |control| {
        control.set_pacer(Arc::new(Constant::per_second(400.0)));
    });
    let asked = run.achieved.asked.unwrap();
    assert!((100..=500).contains(&asked), "{asked}");
    let first: u64 = run.intervals[..3].iter().filter_map(|it| it.asked).sum();
    assert!(first <= 7, "{first}");
}
