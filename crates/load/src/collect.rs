//! What the threads of a run tell, as one run. Counts add up and histograms merge without loss.

use std::collections::BTreeMap;

use vervet_report::{
    Achieved, Ended, ErrorClass, Generator, Histogram, Interval, Run, StepFigures, VERSION,
};

use crate::audit::Evidence;
use crate::generator::{Finished, Piece, Report, StepStats, Tally};
use crate::plan::{Load, Plan};
use crate::run::TOOL;

/// What gathers.
pub(crate) struct Collector {
    threads: usize,
    window_ns: u64,
    interval_ns: u64,
    is_open: bool,
    pieces: BTreeMap<usize, Gathered>,
    intervals: Vec<Interval>,
    finished: Vec<Finished>,
}

/// One interval of those threads that have told of it.
#[derive(Default)]
struct Gathered {
    threads: usize,
    asked: u64,
    tally: Tally,
    response: Histogram,
    cpu_ns_max: u64,
    lag_ns_max: u64,
    connections: u64,
    length_ns: u64,
}

impl Collector {
    pub(crate) fn new(plan: &Plan, threads: usize, window_ns: u64) -> Self {
        Self {
            threads,
            window_ns,
            interval_ns: crate::clock::ns(plan.interval).max(1),
            is_open: matches!(plan.load, Load::Open { .. }),
            pieces: BTreeMap::new(),
            intervals: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Takes what a thread tells, and gives the intervals that are now known whole.
    pub(crate) fn take(&mut self, report: Report) -> Vec<Interval> {
        match report {
            Report::Piece(piece) => self.add(&piece),
            Report::Finished(finished) => self.finished.push(*finished),
        }
        let mut whole = Vec::new();
        while let Some(first) = self.pieces.first_entry() {
            // A thread that has ended tells of no more intervals; the end gathers what is left.
            if first.get().threads < self.threads {
                break;
            }
            let (number, gathered) = first.remove_entry();
            let Some(interval) = self.interval(number, &gathered) else {
                continue;
            };
            self.intervals.push(interval.clone());
            whole.push(interval);
        }
        whole
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.finished.len() == self.threads
    }

    fn add(&mut self, piece: &Piece) {
        let gathered = self.pieces.entry(piece.number).or_default();
        gathered.threads += 1;
        gathered.length_ns = gathered.length_ns.max(piece.length_ns);
        gathered.asked += piece.asked;
        add(&mut gathered.tally, &piece.tally);
        gathered.response.merge(&piece.response);
        gathered.cpu_ns_max = gathered.cpu_ns_max.max(piece.cpu_ns);
        gathered.lag_ns_max = gathered.lag_ns_max.max(piece.lag_ns);
        gathered.connections += piece.connections;
    }

    fn interval(&self, number: usize, gathered: &Gathered) -> Option<Interval> {
        let start_ns = number as u64 * self.interval_ns;
        let length_ns = gathered.length_ns;
        let is_empty = gathered.tally.done == 0 && gathered.tally.errors.total() == 0;
        // What ends at the very boundary leaves an interval of no length.
        if length_ns < 1_000_000 && is_empty {
            return None;
        }
        let interval = Interval {
            start_ms: start_ns / 1_000_000,
            length_ms: length_ns / 1_000_000,
            asked: self.is_open.then_some(gathered.asked),
            done: gathered.tally.done,
            errors: gathered.tally.errors,
            bytes: gathered.tally.bytes_received,
            generator_cpu_permille: permille(gathered.cpu_ns_max, length_ns),
            generator_lag_ns: gathered.lag_ns_max,
            connections: gathered.connections,
            ..Interval::default()
        };
        Some(interval.with_response(&gathered.response))
    }

    /// The run, when all threads have told of their end.
    pub(crate) fn finish(
        mut self,
        plan: &Plan,
        each: &mut impl FnMut(&Interval),
    ) -> (Run, Evidence) {
        let ends = self.finished.iter().map(|finished| finished.end_ns);
        let end_ns = ends.max().unwrap_or(self.window_ns);
        let length_ns = end_ns.saturating_sub(self.window_ns);
        for (number, gathered) in std::mem::take(&mut self.pieces) {
            if let Some(interval) = self.interval(number, &gathered) {
                each(&interval);
                self.intervals.push(interval);
            }
        }
        let mut run = Run::new(TOOL, plan.asked());
        run.version = VERSION;
        run.intervals = std::mem::take(&mut self.intervals);
        let mut evidence = Evidence::default();
        for finished in &self.finished {
            merge(&mut run, &mut evidence, finished, length_ns);
        }
        run.steps = steps(plan, &self.finished);
        run.achieved.window_us = length_ns / 1000;
        run.achieved.asked = self.is_open.then(|| {
            let asked = self.finished.iter().map(|finished| finished.asked);
            asked
                .sum::<u64>()
                .min(run.asked.stop.after_requests.unwrap_or(u64::MAX))
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
        let mut figures = StepFigures {
            name: name.clone(),
            ..StepFigures::default()
        };
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
    let unasked = [
        ErrorClass::Unreachable,
        ErrorClass::Refused,
        ErrorClass::Timeout,
    ];
    let failed: u64 = unasked.iter().map(|class| run.errors.of(*class)).sum();
    let never_connected = run.timings.connect.is_empty() && run.achieved.done == 0;
    if ended != Ended::Interrupted && never_connected && failed > 0 && failed == run.errors.total()
    {
        return Ended::TargetFailed;
    }
    ended
}

fn add(sum: &mut Tally, more: &Tally) {
    sum.done += more.done;
    sum.errors.merge(&more.errors);
    sum.bytes_received += more.bytes_received;
    sum.bytes_sent += more.bytes_sent;
    sum.content_bytes += more.content_bytes;
    sum.connections += more.connections;
}

fn permille(part_ns: u64, whole_ns: u64) -> u32 {
    let share = u128::from(part_ns) * 1000 / u128::from(whole_ns.max(1));
    u32::try_from(share).unwrap_or(u32::MAX)
}
