//! `--watch`: samples the server's processes on a thread during the run, for its report.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use vervet_report::{Run, Watched, WatchedSample};
use vervet_watch::{FindError, Sample, Summary, Target, Watcher};

use super::outcome::Refused;
use crate::watch::described;

/// The time between two readings of a short run.
const READ_EVERY: Duration = Duration::from_millis(100);

/// Maximum number of samples per tree. If there are more, every second one is dropped.
const READINGS_MAX: usize = 6000;

/// A thread that reads trees of processes.
#[derive(Debug)]
pub(crate) struct Watching {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Tree>>,
}

/// One tree and what was read of it.
#[derive(Debug)]
struct Tree {
    watcher: Watcher,
    readings: Vec<Reading>,
}

/// One look, and when it was.
#[derive(Debug)]
struct Reading {
    unix_ms: u64,
    sample: Sample,
}

impl Watching {
    /// Finds what is to be watched and begins to read it.
    pub(crate) fn begin(targets: &[Target]) -> Result<Self, Refused> {
        let tree = |target: &Target| {
            let watcher = Watcher::open(target).map_err(not_found)?;
            Ok(Tree { watcher, readings: Vec::new() })
        };
        let mut trees = targets.iter().map(tree).collect::<Result<Vec<_>, _>>()?;
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            look(&mut trees, Watcher::sample_all);
            let mut every = READ_EVERY;
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                look(&mut trees, Watcher::sample);
                if thin_if_full(&mut trees) == Thinned::All {
                    every *= 2;
                }
            }
            look(&mut trees, Watcher::sample_all);
            trees
        };
        let builder = std::thread::Builder::new().name("watch".to_owned());
        let thread = builder.spawn(work).map_err(Refused::usage)?;
        Ok(Self { stop, thread })
    }

    /// Ends watching, and returns the samples within the window of `run`.
    pub(crate) fn end(self, run: &Run) -> Vec<Watched> {
        drop(self.stop);
        let trees = self.thread.join().unwrap_or_default();
        let from = run.started_unix_ms;
        let to = from.saturating_add(run.achieved.window_us / 1000);
        let watched = |tree: &Tree| Watched {
            name: described(&tree.watcher.subject()),
            invalid: invalid(&tree.readings),
            samples: samples(&tree.readings, from, to),
        };
        trees.iter().map(watched).collect()
    }
}

fn not_found(error: FindError) -> Refused {
    match error {
        FindError::Ambiguous(_) => Refused::usage(error),
        _ => Refused::target(error),
    }
}

fn look(trees: &mut [Tree], look: fn(&mut Watcher, Instant) -> Sample) {
    for tree in trees {
        let sample = look(&mut tree.watcher, Instant::now());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        tree.readings.push(Reading {
            unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            sample,
        });
    }
}

/// Whether readings were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinned {
    None,
    All,
}

/// Leaves out every second reading of all trees when one has as many as are kept.
fn thin_if_full(trees: &mut [Tree]) -> Thinned {
    if trees.iter().all(|tree| tree.readings.len() < READINGS_MAX) {
        return Thinned::None;
    }
    trees.iter_mut().for_each(thin_out);
    Thinned::All
}

/// Drops every second sample. Counters are sums, so only points between are lost. Samples with
/// events stay.
fn thin_out(tree: &mut Tree) {
    let mut number = 0_usize;
    tree.readings.retain(|reading| {
        number += 1;
        number % 2 == 1 || !reading.sample.events.is_empty()
    });
}

fn invalid(readings: &[Reading]) -> String {
    let summary = Summary::new(readings.iter().map(|reading| &reading.sample));
    if summary.valid {
        return String::new();
    }
    summary.invalid_because.join("; ")
}

/// The readings within a window, each with what was spent since the one before. Proportional memory
/// is read more rarely than the rest, and holds until it is read again.
fn samples(readings: &[Reading], from: u64, to: u64) -> Vec<WatchedSample> {
    let mut samples = Vec::new();
    let mut pss = None;
    for (at, now) in readings.iter().enumerate() {
        let sample = &now.sample;
        let detail = sample.detail.as_ref();
        pss = detail.and_then(|detail| detail.pss_bytes).or(pss);
        let before = at.checked_sub(1).and_then(|before| readings.get(before));
        let Some(before) = before.map(|before| &before.sample) else {
            continue;
        };
        let between_us = sample.at_us.saturating_sub(before.at_us);
        if between_us == 0 || !(from..=to).contains(&now.unix_ms) {
            continue;
        }
        let spent = sample.cpu.since(before.cpu);
        let permille = |cpu_us: u64| {
            u32::try_from(cpu_us.saturating_mul(1000) / between_us).unwrap_or(u32::MAX)
        };
        samples.push(WatchedSample {
            at_ms: now.unix_ms - from,
            cpu_user_permille: permille(spent.user_us),
            cpu_system_permille: permille(spent.system_us),
            memory_bytes: pss.unwrap_or(sample.rss_bytes),
            processes: sample.processes,
            threads: sample.threads,
        });
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_watch::{Event, Root};

    fn reading(unix_ms: u64, cpu_ms: u64) -> Reading {
        let mut sample = Sample {
            at_us: unix_ms * 1000,
            rss_bytes: 7,
            processes: 1,
            threads: 1,
            ..Sample::default()
        };
        sample.cpu.user_us = cpu_ms * 1000;
        Reading { unix_ms, sample }
    }

    #[track_caller]
    fn check(readings: &[(u64, u64)], expected: &[(u64, u32)]) {
        let readings: Vec<Reading> =
            readings.iter().map(|(unix_ms, cpu_ms)| reading(*unix_ms, *cpu_ms)).collect();
        let found = samples(&readings, 1000, 1200);
        let found: Vec<_> =
            found.iter().map(|sample| (sample.at_ms, sample.cpu_user_permille)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_the_window_counts() {
        check(&[], &[]);
        check(&[(1100, 5)], &[]);
        check(
            &[(900, 0), (1000, 50), (1100, 150), (1200, 150), (1300, 250)],
            &[(0, 500), (100, 1000), (200, 0)],
        );
    }

    #[test]
    fn two_readings_at_the_same_time_have_no_rate() {
        check(&[(1000, 0), (1100, 10), (1100, 20)], &[(100, 100)]);
    }

    /// A tree of which this was read.
    fn tree(readings: Vec<Reading>) -> Tree {
        let this = format!("pid:{}", std::process::id());
        Tree { watcher: Watcher::open(&this.parse().unwrap()).unwrap(), readings }
    }

    /// An hour of readings at ten a second, and more of them than a run makes, as each time it is
    /// thinned it reads half as often.
    #[test]
    fn an_hour_of_readings_is_bounded_and_loses_no_time() {
        let mut trees = [tree(Vec::new())];
        let mut thinned = 0;
        for tenth in 0..36_000 {
            trees[0].readings.push(reading(tenth * 100, tenth * 30));
            thinned += u32::from(thin_if_full(&mut trees) == Thinned::All);
            assert!(trees[0].readings.len() < READINGS_MAX, "at {tenth}");
        }
        assert!(thinned > 1);
        // The last look is always taken.
        trees[0].readings.push(reading(3_600_000, 1_080_000));
        let kept = samples(&trees[0].readings, 0, 3_600_000);
        assert!(kept.iter().all(|sample| sample.cpu_user_permille == 300));
        assert_eq!(kept.last().unwrap().at_ms, 3_600_000);
    }

    #[test]
    fn long_runs_keep_every_second_reading() {
        let mut tree = tree((0..5).map(|at| reading(at, 0)).collect());
        tree.readings[1].sample.events =
            vec![Event::RootEnded(Root { pid: 1, name: "a".to_owned() })];
        thin_out(&mut tree);
        let kept: Vec<u64> = tree.readings.iter().map(|one| one.unix_ms).collect();
        assert_eq!(kept, [0, 1, 2, 4]);
    }
}
