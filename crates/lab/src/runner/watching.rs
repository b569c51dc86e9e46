//! What a subject's processes spend while a load is applied: a thread reads them, and afterwards
//! its readings are matched with the window of the run.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use vervet_report::Run;
use vervet_watch::{Sample, Summary, Target, Watcher};

use crate::record::{ServerFigures, Watched, WatchedSample};
use crate::subject::tree;

/// The time between two readings.
const READ_EVERY: Duration = Duration::from_millis(50);
/// The most processes of a subject whose scheduler counters are read.
const SCHEDULED_MAX: usize = 4;

/// A thread that reads the processes of a subject.
#[derive(Debug)]
pub(super) struct Watching {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Reading>>,
}

/// All trees of a subject at one moment.
#[derive(Clone, Debug)]
struct Reading {
    unix_us: u64,
    samples: Vec<Sample>,
    scheduled: Option<Scheduled>,
}

/// What the scheduler counted of all threads of some processes, in nanoseconds. Its clock is finer
/// than the ticks of user and system time.
#[derive(Clone, Copy, Debug, Default)]
struct Scheduled {
    running_ns: u64,
    waiting_ns: u64,
}

impl Scheduled {
    /// Reads the times of processes; `None` if one cannot be read.
    fn read(processes: &[u32]) -> Option<Self> {
        let mut sum = Self::default();
        for process in processes {
            for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
                let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
                let mut numbers = text.split_whitespace().map(str::parse::<u64>);
                sum.running_ns += numbers.next()?.ok()?;
                sum.waiting_ns += numbers.next()?.ok()?;
            }
        }
        Some(sum)
    }
}

/// The processes of some trees, if few enough to be read 20 times per second.
fn few_processes(targets: &[Target]) -> Vec<u32> {
    let root = |target: &Target| match target {
        Target::Pid(pid) => Some(*pid),
        _ => None,
    };
    let roots: Option<Vec<u32>> = targets.iter().map(root).collect();
    let processes = roots.map(|roots| tree(&roots)).unwrap_or_default();
    if processes.len() <= SCHEDULED_MAX { processes } else { Vec::new() }
}

/// The record of a step whose subject was not watched.
pub(super) fn unwatched(reason: impl Into<String>) -> Watched {
    Watched::Invalid { reason: reason.into() }
}

impl Watching {
    /// Starts watching; a missing process is noted in the record.
    pub(super) fn begin(targets: &[Target]) -> Result<Self, String> {
        if targets.is_empty() {
            return Err("the lab file has no `process` for this server".to_owned());
        }
        let open = |target: &Target| Watcher::open(target).map_err(|error| error.to_string());
        let mut watchers = targets.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let processes = few_processes(targets);
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            let mut read = |look| read(&mut watchers, look, &processes);
            let mut readings = vec![read(Watcher::sample_all)];
            while stopped.recv_timeout(READ_EVERY) == Err(RecvTimeoutError::Timeout) {
                readings.push(read(Watcher::sample));
            }
            readings.push(read(Watcher::sample_all));
            readings
        };
        let builder = std::thread::Builder::new().name("watch".to_owned());
        let thread = builder.spawn(work).map_err(|error| error.to_string())?;
        Ok(Self { stop, thread })
    }

    /// Ends watching, and returns the resource use within the window of a run.
    pub(super) fn end(self, run: &Run) -> Watched {
        drop(self.stop);
        let Ok(readings) = self.thread.join() else {
            return unwatched("watching the processes failed");
        };
        let from = run.started_unix_ms.saturating_mul(1000);
        figures(&readings, from, from.saturating_add(run.achieved.window_us))
    }
}

fn read(
    watchers: &mut [Watcher],
    look: fn(&mut Watcher, Instant) -> Sample,
    processes: &[u32],
) -> Reading {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Reading {
        unix_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
        samples: watchers.iter_mut().map(|watcher| look(watcher, Instant::now())).collect(),
        scheduled: (!processes.is_empty()).then(|| Scheduled::read(processes)).flatten(),
    }
}

/// What was spent between two moments. CPU time at a moment between two readings lies on the
/// line between them.
fn figures(readings: &[Reading], from: u64, to: u64) -> Watched {
    let trees = readings.first().map_or(0, |reading| reading.samples.len());
    for tree in 0..trees {
        let summary = Summary::new(readings.iter().filter_map(|reading| reading.samples.get(tree)));
        if !summary.valid {
            return unwatched(summary.invalid_because.join("; "));
        }
    }
    let spent =
        |of: &dyn Fn(&Reading) -> u64| at(readings, to, of).saturating_sub(at(readings, from, of));
    let scheduled = |of: fn(&Scheduled) -> u64| {
        let all = readings.iter().all(|reading| reading.scheduled.is_some());
        all.then(|| spent(&|reading: &Reading| reading.scheduled.as_ref().map_or(0, of)))
    };
    let seen = seen(readings, from, to);
    if seen.is_empty() {
        return unwatched("no samples");
    }
    let rss: Vec<u64> =
        seen.iter().map(|one| one.samples.iter().map(|sample| sample.rss_bytes).sum()).collect();
    // Proportional memory is read once a second; what is read within a window may be that of its
    // ends.
    let pss: Vec<u64> = readings.iter().filter_map(pss).collect();
    let processes =
        seen.iter().map(|one| one.samples.iter().map(|sample| sample.processes).sum::<u32>());
    let base = at(readings, from, &user) + at(readings, from, &system);
    Watched::Valid(ServerFigures {
        cpu_user_us: spent(&user),
        cpu_system_us: spent(&system),
        cpu_ns: scheduled(|one| one.running_ns),
        waited_ns: scheduled(|one| one.waiting_ns),
        rss_idle_bytes: None,
        rss_peak_bytes: rss.iter().copied().max().unwrap_or(0),
        rss_mean_bytes: mean(&rss).unwrap_or(0),
        pss_peak_bytes: pss.iter().copied().max(),
        pss_mean_bytes: mean(&pss),
        processes: processes.max().unwrap_or(0),
        samples: seen
            .iter()
            .zip(&rss)
            .map(|(one, memory_bytes)| WatchedSample {
                at_ms: one.unix_us.saturating_sub(from) / 1000,
                cpu_us: (user(one) + system(one)).saturating_sub(base),
                memory_bytes: *memory_bytes,
            })
            .collect(),
    })
}

/// The readings within a window; one that is shorter than the distance of two readings has the
/// nearest.
fn seen(readings: &[Reading], from: u64, to: u64) -> Vec<&Reading> {
    let within = readings.iter().filter(|one| (from..=to).contains(&one.unix_us));
    let within: Vec<&Reading> = within.collect();
    if within.is_empty() {
        let nearest = readings.iter().min_by_key(|one| one.unix_us.abs_diff(to));
        return nearest.into_iter().collect();
    }
    within
}

fn user(reading: &Reading) -> u64 {
    reading.samples.iter().map(|sample| sample.cpu.user_us).sum()
}

fn system(reading: &Reading) -> u64 {
    reading.samples.iter().map(|sample| sample.cpu.system_us).sum()
}

fn pss(reading: &Reading) -> Option<u64> {
    reading.samples.iter().map(|sample| sample.detail?.pss_bytes).sum()
}

fn mean(values: &[u64]) -> Option<u64> {
    let count = u64::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<u64>() / count)
}

/// A counter at a moment.
fn at(readings: &[Reading], moment: u64, of: &dyn Fn(&Reading) -> u64) -> u64 {
    let after = readings.iter().position(|one| one.unix_us >= moment);
    let (Some(after), Some(last)) = (after, readings.last()) else {
        return readings.last().map_or(0, of);
    };
    let Some(before) = after.checked_sub(1) else {
        return of(&readings[after]);
    };
    let (before, after) = (&readings[before], readings.get(after).unwrap_or(last));
    let (low, high) = (of(before), of(after).max(of(before)));
    let whole = after.unix_us.saturating_sub(before.unix_us).max(1);
    let part = moment.saturating_sub(before.unix_us);
    let share = u128::from(high - low) * u128::from(part) / u128::from(whole);
    low + u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_watch::Cpu;

    fn reading(unix_us: u64, user_us: u64, rss_bytes: u64) -> Reading {
        let cpu = Cpu { user_us, system_us: user_us / 2 };
        Reading {
            unix_us,
            samples: vec![Sample {
                at_us: unix_us,
                cpu,
                rss_bytes,
                processes: 1,
                ..Sample::default()
            }],
            scheduled: None,
        }
    }

    #[track_caller]
    fn check((from, to): (u64, u64), cpu: (u64, u64), peak: u64) {
        let readings =
            [reading(0, 0, 5), reading(100, 100, 9), reading(200, 300, 7), reading(300, 300, 6)];
        let watched = figures(&readings, from, to);
        let figures = watched.figures().unwrap();
        assert_eq!((figures.cpu_user_us, figures.cpu_system_us), cpu);
        assert_eq!(figures.rss_peak_bytes, peak);
    }

    #[test]
    fn a_window_between_readings_has_its_share() {
        check((0, 300), (300, 150), 9);
        check((100, 200), (200, 100), 9);
        check((150, 250), (100, 50), 7);
        check((110, 120), (20, 10), 9);
        check((1000, 2000), (0, 0), 6);
    }

    #[test]
    fn without_readings_nothing_is_known() {
        assert!(figures(&[], 0, 10).figures().is_none());
        assert!(Watching::begin(&[]).is_err());
    }
}
