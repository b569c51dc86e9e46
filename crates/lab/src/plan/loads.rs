//! Loads: each value of a sweep by itself.

use vervet_config::{Diagnostic, Diagnostics, Name, Setting, Time};
use vervet_load::pacer::RATE_MAX;
use vervet_report::Reuse;

use super::resolve::Pace;
use super::types::PlannedLoad;
use crate::document::{Lab, Load, POINTS_MAX, Sweep};
use crate::record::LoadShape;

/// The most connections of a step: as many ports as one address of the generator has.
pub(crate) const CONNECTIONS_MAX: u64 = 60_000;
/// Connections of an open load that names none.
const OPEN_CONNECTIONS: u32 = 1000;

/// A load with each value of its sweep.
pub(super) fn resolve(
    name: &Name,
    load: &Load,
    lab: &Lab,
    pace: Pace,
    found: &mut Diagnostics,
) -> Vec<PlannedLoad> {
    let reuse = match (*load.keep_alive, *load.requests_per_connection) {
        (false, requests) => {
            if requests != 0 {
                let problem = Diagnostic::error(
                    load.requests_per_connection.span(),
                    "`requests_per_connection` needs `keep_alive`",
                );
                found.push(problem.note_at(load.keep_alive.span(), "`keep_alive` is off here"));
            }
            Reuse::Close
        }
        (true, 0) => Reuse::KeepAlive,
        (true, requests) => Reuse::Requests { requests: requests.into() },
    };
    let (duration, warm_up) = match pace {
        Pace::Full => (&load.duration, &load.warm_up),
        Pace::Quick => (&lab.quick.duration, &lab.quick.warm_up),
    };
    let planned = |(shape, connections): (LoadShape, u32)| PlannedLoad {
        name: name.value().clone(),
        shape,
        connections,
        idle_connections: *load.idle_connections,
        reuse,
        pipelining: *load.pipelining,
        window: load.window.value().map(Time::duration),
        duration: duration.duration().min(load.duration.duration()),
        warm_up: warm_up.duration().min(load.warm_up.duration()),
        timeout: load.timeout.duration(),
    };
    if *load.pipelining > 1 && !load.rate.is_empty() {
        let message = "`pipelining` needs a closed load";
        let problem = Diagnostic::error(load.pipelining.span(), message);
        found.push(problem.note_at(load.rate.span(), "`rate` makes this load open"));
    }
    let mut points = points(load, found);
    if pace == Pace::Quick {
        points = thin(&points, *lab.quick.steps);
    }
    points.into_iter().map(planned).collect()
}

/// The load of each step.
fn points(load: &Load, found: &mut Diagnostics) -> Vec<(LoadShape, u32)> {
    let connections = values(&load.connections, "connections", CONNECTIONS_MAX, found);
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    if load.rate.is_empty() {
        let closed = |value| LoadShape::Closed { concurrency: narrow(value) };
        return connections.into_iter().map(|value| (closed(value), narrow(value))).collect();
    }
    if connections.len() > 1 {
        let message = "an open load has a single number of connections";
        let problem = Diagnostic::error(load.connections.span(), message);
        found.push(problem.note_at(load.rate.span(), "the rate is swept"));
    }
    let given = connections.last().filter(|_| !load.connections.is_default());
    let most = given.map_or(OPEN_CONNECTIONS, |value| narrow(*value));
    let rates = values(&load.rate, "rate", RATE_MAX.into(), found);
    // Rates stay far below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "bounded by RATE_MAX")]
    let open = |value: u64| LoadShape::Open { rate: value as f64 };
    rates.into_iter().map(|value| (open(value), most)).collect()
}

/// The values of several sweeps, in ascending order and each once.
fn values(
    sweeps: &Setting<Vec<Sweep>>,
    name: &str,
    most: u64,
    found: &mut Diagnostics,
) -> Vec<u64> {
    let mut values: Vec<u64> = sweeps.iter().flat_map(|sweep| sweep.values()).collect();
    values.sort_unstable();
    values.dedup();
    if values.len() > POINTS_MAX {
        let message =
            format!("`{name}` has {} values, at most {POINTS_MAX} are allowed", values.len());
        found.push(Diagnostic::error(sweeps.span(), message));
    }
    if let Some(value) = values.last().filter(|value| **value > most) {
        let message = format!("`{name}` goes up to {value}, at most {most} is allowed");
        found.push(Diagnostic::error(sweeps.span(), message));
    }
    if values.is_empty() {
        found.push(Diagnostic::error(sweeps.span(), format!("`{name}` has no value")));
    }
    values
}

/// At most `most` of them: the first, the last, and some evenly between.
fn thin<T: Clone>(points: &[T], most: u32) -> Vec<T> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
    if points.len() <= most {
        return points.to_vec();
    }
    if most == 1 {
        return points[points.len() - 1..].to_vec();
    }
    let last = points.len() - 1;
    (0..most).map(|index| points[index * last / (most - 1)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::thin;

    #[test]
    fn a_short_sweep_keeps_both_ends() {
        let check = |count: usize, most: u32, expected: &[usize]| {
            let points: Vec<usize> = (1..=count).collect();
            assert_eq!(thin(&points, most), expected, "{count}, {most}");
        };
        check(0, 2, &[]);
        check(1, 2, &[1]);
        check(2, 2, &[1, 2]);
        check(10, 2, &[1, 10]);
        check(10, 3, &[1, 5, 10]);
        check(10, 1, &[10]);
        check(3, 9, &[1, 2, 3]);
    }
}
