//! A run that is stopped before its end.

use std::time::Duration;

use crate::common::{canned, plan};
use vervet_load::Plan;
use vervet_load::canned::CannedAnswer;
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
fn stops_on_command() {
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
