//! Merges the reports of the threads into one run. Counts add up and histograms merge without loss.

use vervet_report::{Achieved, Ended, ErrorClass, Generator, Interval, Run, StepFigures, VERSION};

use crate::audit::Evidence;
use crate::generator::{Finished, Report, StepStats};
use crate::plan::{Load, Plan};
use crate::run::TOOL;
use crate::series::Series;

/// Collects the reports of all threads.
pub(crate) struct Collector {
    threads: usize,
    window_ns: u64,
    is_open: bool,
    series: Series,
    intervals: Vec<Interval>,
    finished: Vec<Finished>,
}

impl Collector {
    pub(crate) fn new(plan: &Plan, threads: usize, window_ns: u64) -> Self {
        Self {
            threads,
            window_ns,
            is_open: matches!(plan.load, Load::Open { .. }),
            series: Series::new(threads),
            intervals: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Adds a report of a thread; returns the intervals that are complete now.
    pub(crate) fn add(&mut self, report: Report) -> Vec<Interval> {
        let complete = match report {
            Report::Interval(thread, interval) => self.series.add(thread, *interval),
            Report::Finished(thread, finished) => {
                self.finished.push(*finished);
                self.series.end(thread)
            }
        };
        self.intervals.extend_from_slice(&complete);
        complete
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.finished.len() == self.threads
    }

    /// Ends the series also of threads that have failed; returns the intervals that are left.
    pub(crate) fn end(&mut self) -> Vec<Interval> {
        let threads = 0..self.threads;
        let left: Vec<_> = threads.flat_map(|thread| self.series.end(thread)).collect();
        self.intervals.extend_from_slice(&left);
        left
    }

    /// Merges the results of the threads.
    pub(crate) fn finish(self, plan: &Plan) -> (Run, Evidence) {
        let ends = self.finished.iter().map(|finished| finished.end_ns);
        let end_ns = ends.max().unwrap_or(self.window_ns);
        let length_ns = end_ns.saturating_sub(self.window_ns);
        let mut run = Run::new(TOOL, plan.settings());
        run.version = VERSION;
        run.intervals = self.intervals;
        let mut evidence = Evidence::default();
        for finished in &self.finished {
            merge(&mut run, &mut evidence, finished, length_ns);
        }
        run.steps = steps(plan, &self.finished);
        run.achieved.window_us = length_ns / 1000;
        run.achieved.asked = self.is_open.then(|| {
            let asked = self.finished.iter().map(|finished| finished.asked);
            asked.sum::<u64>().min(run.asked.stop.after_requests.unwrap_or(u64::MAX))
        });
        run.achieved.ended = ended(&run, &self.finished);
        (run, evidence)
    }
}

fn merge(run: &mut Run, evidence: &mut Evidence, finished: &Finished, length_ns: u64) {
    let stats = &finished.stats;
    let achieved = &mut run.achieved;
    *achieved = Achieved {
        done: achieved.done + stats.total.done,
        bytes_received: achieved.bytes_received + stats.total.bytes_received,
        bytes_sent: achieved.bytes_sent + stats.total.bytes_sent,
        content_bytes: achieved.content_bytes + stats.total.content_bytes,
        connections_opened: achieved.connections_opened + stats.total.connections,
        ..*achieved
    };
    run.timings.connect.merge(&stats.timings.connect);
    run.timings.first_byte.merge(&stats.timings.first_byte);
    run.timings.response.merge(&stats.timings.response);
    run.timings.service.merge(&stats.timings.service);
    run.errors.merge(&stats.total.errors);
    for (status, count) in (0u16..).zip(stats.statuses.iter()) {
        if *count > 0 {
            *run.statuses.entry(status).or_default() += count;
        }
    }
    run.censored.count += stats.censored.count;
    run.censored.longest_ns = run.censored.longest_ns.max(stats.censored.longest_ns);
    for slow in stats.slowest.requests() {
        run.slowest.add(slow.clone());
    }
    let Generator {
        cpu_user_us,
        cpu_system_us,
        busiest_thread_permille,
        occupied_thread_permille,
        thread_errors: _,
        lag,
    } = &mut run.generator;
    *cpu_user_us += finished.usage.user_us;
    *cpu_system_us += finished.usage.system_us;
    *busiest_thread_permille = (*busiest_thread_permille).max(permille(finished.cpu_ns, length_ns));
    let occupied_ns = finished.cpu_ns.saturating_add(finished.waited_ns);
    *occupied_thread_permille = (*occupied_thread_permille).max(permille(occupied_ns, length_ns));
    lag.merge(&stats.lag);
    evidence.area_ns += stats.area;
    evidence.sojourns_ns += stats.sojourns_ns;
    evidence.answers.extend_from_slice(&finished.answers);
}

fn steps(plan: &Plan, finished: &[Finished]) -> Vec<StepFigures> {
    let names = plan.scripts.steps();
    if names.len() < 2 {
        return Vec::new();
    }
    let assertions = plan.scripts.assertions();
    let figures = names.iter().enumerate().map(|(at, name)| {
        let mut figures = StepFigures { name: name.clone(), ..StepFigures::default() };
        for step in finished.iter().filter_map(|it| it.stats.steps.get(at)) {
            add_step(&mut figures, step, assertions);
        }
        figures
    });
    figures.collect()
}

fn add_step(figures: &mut StepFigures, step: &StepStats, assertions: &[String]) {
    figures.done += step.done;
    figures.bytes += step.bytes;
    figures.errors.merge(&step.errors);
    figures.response.merge(&step.response);
    for (number, count) in step.assertions.iter().enumerate() {
        if *count > 0 {
            let text = assertions.get(number).cloned().unwrap_or_default();
            *figures.assertions.entry(text).or_default() += count;
        }
    }
}

fn ended(run: &Run, finished: &[Finished]) -> Ended {
    let ended = finished.iter().map(|finished| finished.ended).max();
    let ended = ended.unwrap_or(Ended::TargetFailed);
    let unasked = [ErrorClass::Unreachable, ErrorClass::Refused, ErrorClass::Timeout];
    let failed: u64 = unasked.iter().map(|class| run.errors.count(*class)).sum();
    let never_connected = run.timings.connect.is_empty() && run.achieved.done == 0;
    if ended != Ended::Interrupted && never_connected && failed > 0 && failed == run.errors.total()
    {
        return Ended::TargetFailed;
    }
    ended
}

pub(crate) fn permille(part_ns: u64, whole_ns: u64) -> u32 {
    // A thread that is held up ends its window late, and what it did then does not belong to it.
    let share = u128::from(part_ns.min(whole_ns)) * 1000 / u128::from(whole_ns.max(1));
    u32::try_from(share).unwrap_or(1000)
}
