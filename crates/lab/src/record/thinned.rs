//! A record with less in it, for pages that are to stay small. Counts, rates and processor times stay as they are, times
//! are kept to one hundredth, and what was read over time is kept in fewer pieces.

use vervet_report::{Histogram, Packed, Run};

use super::lab_record::LabRecord;
use super::step::Step;
use super::stored_run::StoredRun;
use super::watched::{Watched, WatchedSample};

/// Readings of a server that are kept of each step, about: as many as its run has pieces.
const SAMPLES_KEPT: usize = 20;

/// The record with less in it.
pub(super) fn thinned(record: &LabRecord) -> serde_json::Result<LabRecord> {
    let steps = record.steps.iter().map(thinned_step);
    Ok(LabRecord {
        version: record.version,
        head: record.head.clone(),
        fairness: record.fairness.clone(),
        steps: steps.collect::<serde_json::Result<_>>()?,
        tasks: record.tasks.clone(),
        ended_unix_ms: record.ended_unix_ms,
    })
}

fn thinned_step(step: &Step) -> serde_json::Result<Step> {
    let run = match &step.run {
        Some(run) => Some(StoredRun::of(&thinned_run(run.read()?))?),
        None => None,
    };
    Ok(Step {
        run,
        server: thinned_server(&step.server),
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

/// With fewer readings, the last among them.
fn thinned_server(server: &Watched) -> Watched {
    let mut server = server.clone();
    if let Watched::Valid(figures) = &mut server {
        let together = figures.samples.len().div_ceil(SAMPLES_KEPT).max(1);
        let last_of = |some: &[WatchedSample]| some.last().copied();
        figures.samples = figures
            .samples
            .chunks(together)
            .filter_map(last_of)
            .collect();
    }
    server
}
