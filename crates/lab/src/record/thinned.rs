//! A record with less in it, for pages that are to stay small. Counts, rates and processor times stay as they are, times
//! are kept to one hundredth, and what was read over time is kept in fewer pieces. Where that is too much still, what no
//! page shows is left out.

use std::collections::BTreeSet;
use std::time::Duration;

use vervet_report::{Histogram, Interval, Packed, Run, Slowest};

use super::lab_record::LabRecord;
use super::sketch::sketch;
use super::step::Step;
use super::stored_run::StoredRun;
use super::watched::{Watched, WatchedSample};
use crate::statistics::TOLERATED_T;

/// Readings of a server that are kept of each step, about: as many as its run has pieces.
const SAMPLES_KEPT: usize = 20;

/// Pieces of the course of a step that are kept where what no page shows is left out.
const PIECES_KEPT: usize = 10;
/// Bounds that findings ask for, in milliseconds: waits near one second and near three, and just before one.
const BOUNDS_MS: [u64; 6] = [500, 950, 1_000, 1_300, 3_000, 3_400];

/// Of which steps a record keeps the slowest requests, and the course: the rate and the quantiles of [`PIECES_KEPT`]
/// pieces.
#[derive(Clone, Copy)]
pub(super) enum Course<'a> {
    /// Of all.
    OfAll,
    /// Of those with these places in the order.
    Of(&'a BTreeSet<u32>),
}

impl Course<'_> {
    fn has(self, step: &Step) -> bool {
        match self {
            Self::OfAll => true,
            Self::Of(orders) => orders.contains(&step.order),
        }
    }
}

/// The record with less in it.
pub(super) fn thinned(record: &LabRecord) -> serde_json::Result<LabRecord> {
    let thinned = |step: &Step| changed(step, thinned_run, SAMPLES_KEPT);
    with_each_step(record, thinned)
}

/// The record with what a page shows of it: of its times those of answers and of connecting, as sketches, and of the course
/// of a step what is drawn.
pub(super) fn condensed(record: &LabRecord, course: Course<'_>) -> serde_json::Result<LabRecord> {
    let condensed = |step: &Step| {
        let workload = record.workload(&step.workload);
        let satisfied = workload.map_or(0.0, |workload| workload.apdex_seconds);
        let bounds_ns = bounds_ns(satisfied);
        if course.has(step) {
            return changed(step, |run| condensed_run(run, &bounds_ns), PIECES_KEPT);
        }
        let change = |run| without_course(condensed_run(run, &bounds_ns));
        changed(step, change, 0)
    };
    with_each_step(record, condensed)
}

fn with_each_step(
    record: &LabRecord,
    change: impl Fn(&Step) -> serde_json::Result<Step>,
) -> serde_json::Result<LabRecord> {
    Ok(LabRecord {
        version: record.version,
        head: record.head.clone(),
        fairness: record.fairness.clone(),
        steps: record
            .steps
            .iter()
            .map(change)
            .collect::<serde_json::Result<_>>()?,
        tasks: record.tasks.clone(),
        ended_unix_ms: record.ended_unix_ms,
    })
}

fn changed(
    step: &Step,
    change: impl Fn(Run) -> Run,
    samples_kept: usize,
) -> serde_json::Result<Step> {
    let run = match &step.run {
        Some(run) => Some(StoredRun::of(&change(run.read()?))?),
        None => None,
    };
    Ok(Step {
        run,
        server: thinned_server(&step.server, samples_kept),
        ..step.clone()
    })
}

/// Without the distributions of its pieces, whose quantiles stay, and with times to one hundredth.
fn thinned_run(mut run: Run) -> Run {
    for interval in &mut run.intervals {
        interval.response = Packed::default();
    }
    for step in &mut run.steps {
        step.response = step.response.rounded();
    }
    let timings = &mut run.timings;
    for times in [
        &mut timings.connect,
        &mut timings.first_byte,
        &mut timings.response,
        &mut timings.service,
        &mut run.generator.lag,
    ] {
        *times = Histogram::rounded(times);
    }
    run
}

/// Without the times that no page shows, and with sketches of the others. Pieces that have lost their distributions already
/// cannot be joined: nobody knows the quantiles of both.
fn condensed_run(mut run: Run, bounds_ns: &[u64]) -> Run {
    let whole = |piece: &Interval| piece.done == 0 || piece.response.count() > 0;
    if run.intervals.iter().all(whole) {
        run.intervals = Interval::coarser(&run.intervals, PIECES_KEPT);
    }
    for piece in &mut run.intervals {
        *piece = Interval {
            start_ms: piece.start_ms,
            length_ms: piece.length_ms,
            done: piece.done,
            errors: piece.errors,
            p50_ns: piece.p50_ns,
            p99_ns: piece.p99_ns,
            ..Interval::default()
        };
    }
    for step in &mut run.steps {
        step.response = sketch(&step.response, bounds_ns);
    }
    let timings = &mut run.timings;
    timings.response = sketch(&timings.response, bounds_ns);
    timings.connect = sketch(&timings.connect, bounds_ns);
    timings.first_byte = Histogram::new();
    timings.service = Histogram::new();
    run.generator.lag = Histogram::new();
    run
}

/// Without its course, and without its slowest requests.
fn without_course(mut run: Run) -> Run {
    run.intervals.clear();
    run.slowest = Slowest::default();
    run
}

/// The bounds that figures and findings count times by, in nanoseconds: what satisfies users, what they tolerate, and those
/// of findings, which count from a bound on.
fn bounds_ns(satisfied_seconds: f64) -> Vec<u64> {
    let nanoseconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let of_apdex = [satisfied_seconds, satisfied_seconds * TOLERATED_T]
        .map(|seconds| u64::try_from(nanoseconds(seconds).as_nanos()).unwrap_or(u64::MAX));
    let of_findings = BOUNDS_MS.map(|bound_ms| bound_ms * 1_000_000 - 1);
    of_apdex.into_iter().chain(of_findings).collect()
}

/// With fewer readings, the last among them.
fn thinned_server(server: &Watched, kept: usize) -> Watched {
    let mut server = server.clone();
    if let Watched::Valid(figures) = &mut server {
        if kept == 0 {
            figures.samples.clear();
        }
        let together = figures.samples.len().div_ceil(kept.max(1)).max(1);
        let last_of = |some: &[WatchedSample]| some.last().copied();
        figures.samples = figures
            .samples
            .chunks(together)
            .filter_map(last_of)
            .collect();
    }
    server
}
