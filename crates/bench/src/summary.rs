//! Medians of the runs, by workload and subject.

use serde::Serialize;

use crate::ratio::OfRound;
use crate::run::Run;
use crate::subject::{Role, SUBJECTS};
use crate::workload::WORKLOADS;

/// Lowest, middle and highest of some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

/// All runs of one subject under one workload.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) workload: &'static str,
    pub(crate) subject: &'static str,
    #[serde(skip)]
    pub(crate) role: Role,
    pub(crate) runs: usize,
    /// More than half of the runs are without fault; the figures are of those runs only.
    pub(crate) ranked: bool,
    pub(crate) requests_per_cpu_second: Spread,
    pub(crate) requests_per_second: Spread,
    pub(crate) p50_us: Spread,
    pub(crate) p99_us: Spread,
    /// Without the idle connections of the workload; zeros where it has none.
    pub(crate) p99_alone_us: Spread,
    /// Windows for these two that were taken again, in all runs.
    pub(crate) windows_again: u32,
    pub(crate) rss_idle_kib: Spread,
    pub(crate) rss_peak_kib: Spread,
    pub(crate) faults: Vec<String>,
    pub(crate) disturbed: usize,
}

/// Lowest, median and highest; zeros if there are no values.
pub(crate) fn spread(values: impl Iterator<Item = f64>) -> Spread {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (Some(min), Some(max)) = (values.first(), values.last()) else {
        return Spread::default();
    };
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    };
    Spread {
        min: *min,
        median,
        max: *max,
    }
}

impl Cell {
    /// Whether a run is one of those that the figures are of.
    pub(crate) fn holds(&self, run: &Run) -> bool {
        run.workload == self.workload && run.subject == self.subject && run.faults.is_empty()
    }
}

/// A figure of each run that the figures of `cell` are of.
pub(crate) fn figures(runs: &[Run], cell: &Cell, figure: fn(&Run) -> f64) -> Vec<OfRound> {
    let held = runs.iter().filter(|run| cell.holds(run));
    held.map(|run| (run.round, figure(run))).collect()
}

/// One cell for each workload and subject that was run, in the order of the tables.
pub(crate) fn cells(runs: &[Run]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for workload in &WORKLOADS {
        for subject in &SUBJECTS {
            let ours = |run: &&Run| run.workload == workload.name && run.subject == subject.name;
            let all: Vec<&Run> = runs.iter().filter(ours).collect();
            if !all.is_empty() {
                cells.push(cell(workload.name, (subject.name, subject.role()), &all));
            }
        }
    }
    cells
}

fn cell(workload: &'static str, (subject, role): (&'static str, Role), all: &[&Run]) -> Cell {
    let good: Vec<&Run> = all
        .iter()
        .copied()
        .filter(|run| run.faults.is_empty())
        .collect();
    let ranked = good.len() * 2 > all.len();
    let shown = if ranked { &good[..] } else { all };
    let of = |value: fn(&Run) -> f64| spread(shown.iter().map(|run| value(run)));
    let mut faults: Vec<String> = all.iter().flat_map(|run| run.faults.clone()).collect();
    faults.dedup();
    Cell {
        workload,
        subject,
        role,
        runs: all.len(),
        ranked,
        requests_per_cpu_second: of(|run| run.requests_per_cpu_second),
        requests_per_second: of(|run| run.requests_per_second),
        p50_us: of(|run| run.p50_us),
        p99_us: of(|run| run.p99_us),
        p99_alone_us: of(|run| run.p99_alone_us),
        windows_again: shown.iter().map(|run| run.windows_again).sum(),
        rss_idle_kib: of(|run| f64::from(run.rss_idle_kib)),
        rss_peak_kib: of(|run| f64::from(run.rss_peak_kib)),
        faults,
        disturbed: all
            .iter()
            .filter(|run| !run.disturbances.is_empty())
            .count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expected: (f64, f64, f64)) {
        let spread = spread(values.iter().copied());
        assert_eq!(
            (spread.min, spread.median, spread.max),
            expected,
            "{values:?}"
        );
    }

    #[test]
    fn finds_the_median() {
        check(&[], (0.0, 0.0, 0.0));
        check(&[7.0], (7.0, 7.0, 7.0));
        check(&[9.0, 1.0], (1.0, 5.0, 9.0));
        check(&[5.0, 1.0, 9.0, 2.0, 8.0], (1.0, 5.0, 9.0));
    }

    fn run(value: f64, fault: Option<&str>) -> Run {
        let faults = fault.map(str::to_owned).into_iter().collect();
        let (workload, subject) = ("tiny64".to_owned(), "nginx".to_owned());
        Run {
            workload,
            subject,
            requests_per_cpu_second: value,
            faults,
            ..Run::default()
        }
    }

    #[test]
    fn leaves_faulty_runs_out() {
        let cells = cells(&[
            run(1.0, None),
            run(50.0, Some("x")),
            run(3.0, None),
            run(2.0, None),
        ]);
        assert_eq!(
            (cells[0].ranked, cells[0].requests_per_cpu_second.max),
            (true, 3.0)
        );
    }

    #[test]
    fn does_not_rank_what_is_mostly_faulty() {
        let cells = cells(&[run(1.0, None), run(50.0, Some("x"))]);
        assert_eq!((cells.len(), cells[0].ranked, cells[0].runs), (1, false, 2));
    }
}
