//! Merges the windows of one repeat: counts are summed, and response times are the medians of the
//! windows. A window on a busy machine changes a median less than a sum of histograms, whose
//! highest percentiles would be its slow responses.

use super::estimate::median;
use super::figures::{Figures, Spent, Times};
use super::number::number;
use super::point::Repeat;
use crate::record::Outcome;

/// Joins what was measured in windows of the same repeat. `taken` is in order of repeats.
pub(super) fn joined(taken: &[Repeat]) -> Vec<Repeat> {
    let repeats = taken.chunk_by(|one, next| one.repeat == next.repeat);
    repeats.map(join).collect()
}

fn join(windows: &[Repeat]) -> Repeat {
    let mut joined = windows[0].clone();
    if windows.len() == 1 {
        return joined;
    }
    let failed = windows.iter().find(|window| window.outcome != Outcome::Measured);
    if let Some(failed) = failed {
        joined.outcome = failed.outcome.clone();
    }
    for finding in windows[1..].iter().flat_map(|window| &window.findings) {
        let known = joined.findings.iter_mut().find(|known| known.rule == finding.rule);
        match known {
            Some(known) if known.verdict < finding.verdict => *known = finding.clone(),
            Some(_) => {}
            None => joined.findings.push(finding.clone()),
        }
    }
    let figures = windows.iter().filter_map(|window| window.figures.as_ref());
    joined.figures = sum(&figures.collect::<Vec<_>>());
    joined
}

/// The figures of all windows together; `None` without windows.
fn sum(windows: &[&Figures]) -> Option<Figures> {
    let mut all = (*windows.first()?).clone();
    for window in &windows[1..] {
        let before = all.window_seconds;
        all.series.extend(window.series.iter().map(|moment| {
            let mut moment = *moment;
            moment.at_seconds += before;
            moment
        }));
        all.window_seconds += window.window_seconds;
        all.done += window.done;
        all.errors.merge(&window.errors);
        all.censored_share += window.censored_share;
        all.censored_longest_ms = all.censored_longest_ms.max(window.censored_longest_ms);
        all.connect_max_ms = match (all.connect_max_ms, window.connect_max_ms) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        all.waits.near_1_s += window.waits.near_1_s;
        all.waits.near_3_s += window.waits.near_3_s;
        all.waits.before_1_s += window.waits.before_1_s;
        all.generator_busy = all.generator_busy.max(window.generator_busy);
    }
    let finished = number(all.done) + number(all.errors.total());
    all.goodput = number(all.done) / all.window_seconds.max(f64::MIN_POSITIVE);
    all.error_share = if finished > 0.0 { number(all.errors.total()) / finished } else { 0.0 };
    all.censored_share /= number(windows.len() as u64);
    all.response = times(windows);
    all.server = spent(windows, all.done, all.window_seconds);
    Some(all)
}

fn times(windows: &[&Figures]) -> Option<Times> {
    let times: Vec<Times> = windows.iter().filter_map(|window| window.response).collect();
    let middle = |of: fn(&Times) -> f64| median(&times.iter().map(of).collect::<Vec<f64>>());
    Some(Times {
        min_ms: middle(|times| times.min_ms)?,
        p10_ms: middle(|times| times.p10_ms)?,
        p50_ms: middle(|times| times.p50_ms)?,
        p90_ms: middle(|times| times.p90_ms)?,
        p95_ms: middle(|times| times.p95_ms)?,
        p99_ms: middle(|times| times.p99_ms)?,
        max_ms: middle(|times| times.max_ms)?,
        mean_ms: middle(|times| times.mean_ms)?,
    })
}

/// Resource use of the server in all windows; `None` if unknown for one.
fn spent(windows: &[&Figures], done: u64, seconds: f64) -> Option<Spent> {
    let each: Option<Vec<Spent>> = windows.iter().map(|window| window.server).collect();
    let each = each?;
    let sum = |of: fn(&Spent) -> f64| each.iter().map(of).sum::<f64>();
    let cpu_seconds = sum(|spent| spent.cpu_seconds);
    let over = |above: f64, below: f64| (below > 0.0).then(|| above / below);
    Some(Spent {
        cpu_seconds,
        cpu_user_seconds: sum(|spent| spent.cpu_user_seconds),
        cpu_system_seconds: sum(|spent| spent.cpu_system_seconds),
        cpu_us_per_request: over(cpu_seconds * 1e6, number(done)),
        requests_per_cpu_second: over(number(done), cpu_seconds),
        cores_busy: over(cpu_seconds, seconds).unwrap_or_default(),
        memory_idle_bytes: each.iter().find_map(|spent| spent.memory_idle_bytes),
        memory_peak_bytes: each.iter().map(|spent| spent.memory_peak_bytes).fold(0.0, f64::max),
        memory_mean_bytes: sum(|spent| spent.memory_mean_bytes) / number(each.len() as u64),
    })
}
