//! What vervet must reach, and whether it does. A rule that is not met is reported, never enforced.
//!
//! A rule between two subjects compares their runs of the same round, as [`crate::ratio`] says.

use serde::Serialize;

use crate::ratio::{Bound, OfRound, Ratio, Verdict};
use crate::run::Run;
use crate::subject::Role;
use crate::summary::{Cell, figures};

/// What a measure is compared with.
enum Against {
    /// The rival with the most requests per CPU-second under the same workload.
    BestRival,
    /// One rival under the same workload.
    Rival(&'static str),
    Ceiling,
    /// The same server without the idle connections of the workload.
    Alone,
    /// A fixed size in KiB.
    Kib(f64),
}

#[derive(Clone, Copy)]
enum Measure {
    /// Requests per CPU-second: at least the factor times the other's.
    Efficiency,
    /// 99th percentile: at most the factor times the other's.
    Tail,
    RssIdle,
    RssPeak,
}

impl Measure {
    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Self::Efficiency => "requests per CPU-second",
            Self::Tail => "p99",
            Self::RssIdle => "RSS idle",
            Self::RssPeak => "RSS at its highest",
        }
    }

    /// Its figure in a run.
    fn figure(self) -> fn(&Run) -> f64 {
        match self {
            Self::Efficiency => |run| run.requests_per_cpu_second,
            Self::Tail => |run| run.p99_us,
            Self::RssIdle => |run| f64::from(run.rss_idle_kib),
            Self::RssPeak => |run| f64::from(run.rss_peak_kib),
        }
    }
}

struct Rule {
    workload: &'static str,
    /// Which of ours.
    subject: &'static str,
    measure: Measure,
    factor: f64,
    against: Against,
}

impl Rule {
    fn bound(&self) -> Bound {
        match self.measure {
            Measure::Efficiency => Bound::AtLeast(self.factor),
            Measure::Tail | Measure::RssIdle | Measure::RssPeak => Bound::AtMost(self.factor),
        }
    }
}

const fn rule(workload: &'static str, measure: Measure, factor: f64, against: Against) -> Rule {
    Rule {
        workload,
        subject: "vervet",
        measure,
        factor,
        against,
    }
}

/// A rule for another of ours.
const fn by(subject: &'static str, rule: Rule) -> Rule {
    Rule { subject, ..rule }
}

const ONE_SITE: Against = Against::Rival("vervet+run");

const RULES: [Rule; 19] = [
    rule("tiny64", Measure::Efficiency, 1.15, Against::BestRival),
    rule("tiny64", Measure::Efficiency, 0.93, Against::Ceiling),
    rule("tiny1000", Measure::Efficiency, 1.1, Against::BestRival),
    rule("tiny1000", Measure::Tail, 1.0, Against::BestRival),
    rule("idle8000", Measure::Tail, 1.2, Against::Alone),
    rule("close64", Measure::Efficiency, 1.1, Against::BestRival),
    rule("large100", Measure::Efficiency, 1.0, Against::BestRival),
    rule("large100", Measure::Tail, 1.0, Against::BestRival),
    rule("large1000", Measure::Efficiency, 1.0, Against::BestRival),
    rule("large1000", Measure::Tail, 1.0, Against::BestRival),
    rule("range", Measure::Efficiency, 1.0, Against::Rival("h2o")),
    rule("many", Measure::Efficiency, 1.0, Against::BestRival),
    rule("tiny64", Measure::RssIdle, 1.0, Against::Kib(6.0 * 1024.0)),
    rule(
        "large1000",
        Measure::RssPeak,
        2.0,
        Against::Rival("lighttpd"),
    ),
    by(
        "vervet+sites",
        rule("sites64", Measure::Efficiency, 0.95, ONE_SITE),
    ),
    by(
        "vervet+combined",
        rule("log64", Measure::Efficiency, 0.92, ONE_SITE),
    ),
    by(
        "vervet+json",
        rule("log64", Measure::Efficiency, 0.92, ONE_SITE),
    ),
    // Less than the noise of a quiet machine.
    by(
        "vervet+scraped",
        rule("log64", Measure::Efficiency, 0.98, ONE_SITE),
    ),
    by(
        "vervet+run",
        rule("page64", Measure::Efficiency, 1.8, Against::Rival("bjoern")),
    ),
];

/// A rule beside what was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) workload: &'static str,
    pub(crate) rule: String,
    /// What vervet is compared with.
    pub(crate) other: String,
    /// Vervet's figure divided by the other's, of each round that has both.
    pub(crate) ratio: Option<Ratio>,
    pub(crate) verdict: Verdict,
}

/// The rules of the workloads that were run, beside the measured `runs` and their `cells`.
pub(crate) fn findings(cells: &[Cell], runs: &[Run]) -> Vec<Finding> {
    let was_run = |rule: &&Rule| cells.iter().any(|cell| cell.workload == rule.workload);
    RULES
        .iter()
        .filter(was_run)
        .map(|rule| finding(rule, cells, runs))
        .collect()
}

/// The ranked rival with the most requests per CPU-second under `workload`.
pub(crate) fn best_rival<'a>(cells: &'a [Cell], workload: &str) -> Option<&'a Cell> {
    let rivals = ranked(cells, workload).filter(|cell| cell.role == Role::Rival);
    rivals.max_by(|a, b| {
        a.requests_per_cpu_second
            .median
            .total_cmp(&b.requests_per_cpu_second.median)
    })
}

/// The ranked cells of one workload.
pub(crate) fn ranked<'a>(cells: &'a [Cell], workload: &str) -> impl Iterator<Item = &'a Cell> {
    cells
        .iter()
        .filter(move |cell| cell.ranked && cell.workload == workload)
}

fn finding(rule: &Rule, cells: &[Cell], runs: &[Run]) -> Finding {
    let find =
        |wanted: &dyn Fn(&Cell) -> bool| ranked(cells, rule.workload).find(|cell| wanted(cell));
    let (against, other) = match rule.against {
        Against::BestRival => (
            "the best rival".to_owned(),
            best_rival(cells, rule.workload),
        ),
        Against::Rival(name) => (name.to_owned(), find(&|cell| cell.subject == name)),
        Against::Ceiling => (
            "the ceiling".to_owned(),
            find(&|cell| cell.role == Role::Ceiling),
        ),
        Against::Alone => ("its own without them".to_owned(), None),
        Against::Kib(kib) => (format!("{kib} KiB"), None),
    };
    let ours = find(&|cell| cell.subject == rule.subject);
    let measured = |cell: &Cell| figures(runs, cell, rule.measure.figure());
    let ratio = ours.and_then(|ours| {
        let theirs: Vec<OfRound> = match rule.against {
            Against::Kib(kib) => measured(ours)
                .iter()
                .map(|(round, _)| (*round, kib))
                .collect(),
            Against::Alone => figures(runs, ours, |run| run.p99_alone_us),
            _ => other.map(measured).unwrap_or_default(),
        };
        Ratio::of(&measured(ours), &theirs)
    });
    let name = rule.measure.name();
    let sign = match rule.bound() {
        Bound::AtLeast(_) => "at least",
        Bound::AtMost(_) => "at most",
    };
    Finding {
        workload: rule.workload,
        rule: match rule.subject {
            "vervet" => format!("{name}: {sign} {} × {against}", rule.factor),
            ours => format!("{name} of {ours}: {sign} {} × {against}", rule.factor),
        },
        other: other.map_or_else(String::new, |other| other.subject.to_owned()),
        ratio,
        verdict: rule.bound().verdict(ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::summary;

    fn run(workload: &str, subject: &str, figures: (f64, f64, u32), faults: &[&str]) -> Run {
        Run {
            workload: workload.into(),
            subject: subject.into(),
            requests_per_cpu_second: figures.0,
            p99_us: figures.1,
            rss_idle_kib: figures.2,
            rss_peak_kib: figures.2,
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            ..Run::default()
        }
    }

    /// `rule` is the start of its text; `expected` is the verdict and the other subject.
    fn check(runs: &[Run], rule: &str, expected: (Verdict, &str)) {
        let findings = findings(&summary::cells(runs), runs);
        let found = findings.iter().find(|found| found.rule.starts_with(rule));
        let found = found.map(|found| (found.verdict, found.other.as_str()));
        assert_eq!(found, Some(expected), "{rule}: {findings:?}");
    }

    #[test]
    fn measures_nothing_without_a_rival_or_without_us() {
        assert!(findings(&[], &[]).is_empty());
        let alone = |subject| [run("tiny64", subject, (1.0, 1.0, 1), &[])];
        check(&alone("vervet"), "requests", (Verdict::NotMeasured, ""));
        check(&alone("h2o"), "requests", (Verdict::NotMeasured, "h2o"));
    }

    #[test]
    fn compares_with_the_best_ranked_rival() {
        let with = |figure, rss| {
            [
                run("tiny64", "nginx", (100.0, 1.0, 1), &[]),
                run("tiny64", "lighttpd", (120.0, 1.0, 1), &[]),
                run("tiny64", "h2o", (999.0, 1.0, 1), &["errors"]),
                run("tiny64", "vervet", (figure, 1.0, rss), &[]),
            ]
        };
        check(&with(137.9, 1), "requests", (Verdict::NotMet, "lighttpd"));
        check(&with(138.1, 1), "requests", (Verdict::Met, "lighttpd"));
        check(&with(1.0, 6145), "RSS idle", (Verdict::NotMet, ""));
        check(&with(1.0, 6144), "RSS idle", (Verdict::Met, ""));
    }

    #[test]
    fn bounds_tails_and_memory_from_above() {
        let runs = |p99, rss| {
            [
                run("large1000", "vervet", (10.0, p99, rss), &[]),
                run("large1000", "lighttpd", (9.0, 50.0, 100), &[]),
            ]
        };
        check(&runs(50.1, 200), "p99", (Verdict::NotMet, "lighttpd"));
        check(&runs(50.0, 200), "p99", (Verdict::Met, "lighttpd"));
        check(&runs(1.0, 201), "RSS at", (Verdict::NotMet, "lighttpd"));
        check(&runs(1.0, 200), "RSS at", (Verdict::Met, "lighttpd"));
    }

    #[test]
    fn compares_a_tail_with_that_of_the_same_run_without_idle_connections() {
        let runs = |alone, beside| {
            [Run {
                p99_alone_us: alone,
                ..run("idle8000", "vervet", (1.0, beside, 1), &[])
            }]
        };
        check(&runs(100.0, 120.0), "p99", (Verdict::Met, ""));
        check(&runs(100.0, 121.0), "p99", (Verdict::NotMet, ""));
        check(&runs(0.0, 121.0), "p99", (Verdict::NotMeasured, ""));
    }

    #[test]
    fn compares_within_rounds() {
        // The machine is three times as fast in the second round, and both gain by it.
        let rows = [
            (1, "lighttpd", 100.0),
            (1, "vervet", 120.0),
            (2, "lighttpd", 300.0),
            (2, "vervet", 360.0),
            // A round without the other counts for nothing.
            (3, "vervet", 1.0),
        ];
        let runs: Vec<Run> = rows
            .iter()
            .map(|(round, subject, figure)| Run {
                round: *round,
                ..run("tiny64", subject, (*figure, 1.0, 1), &[])
            })
            .collect();
        let findings = findings(&summary::cells(&runs), &runs);
        let ratio = findings[0]
            .ratio
            .map(|ratio| (ratio.low, ratio.high, ratio.rounds));
        assert_eq!(ratio, Some((1.2, 1.2, 2)), "{findings:?}");
    }

    #[test]
    fn what_lies_inside_the_interval_is_not_told_apart() {
        // The p99 of vervet in each round, where that of lighttpd is 100.
        let check_rounds = |p99: &[f64], expected| {
            let rounds = p99.iter().zip(1..);
            let runs: Vec<Run> = rounds
                .flat_map(|(p99, round)| {
                    let of = |subject, rate, p99| Run {
                        round,
                        ..run("large100", subject, (rate, p99, 1), &[])
                    };
                    [of("lighttpd", 9.0, 100.0), of("vervet", 10.0, *p99)]
                })
                .collect();
            check(&runs, "p99", (expected, "lighttpd"));
        };
        check_rounds(&[90.0, 95.0, 100.0, 180.0, 190.0], Verdict::Met);
        check_rounds(&[90.0, 95.0, 101.0, 180.0, 190.0], Verdict::NotToldApart);
        check_rounds(&[101.0, 102.0, 103.0, 104.0, 105.0], Verdict::NotMet);
        // One round has no interval.
        check_rounds(&[100.1], Verdict::NotMet);
    }
}
