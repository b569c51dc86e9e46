//! What a comparison of generators has to show, and whether it did.

use super::case::{Case, Row};
use super::program::GENERATORS;
use crate::ratio::{Bound, OfRound, Ratio, Verdict};
use crate::summary::{Spread, spread};

/// Rate of the open load, a second, and how far from it the achieved one may be.
pub(super) const OPEN_RATE: u32 = 50_000;
const OPEN_ERROR_MAX: f64 = 0.001;
/// How far ours may lie above wrk's time at half of the highest rate.
const ADDED_US_MAX: f64 = 20.0;
/// From this share of its core on the server has no more to give: what comes is its rate, whoever asks.
const FULL_SHARE: f64 = 0.95;

/// The name of ours.
pub(super) const OURS: &str = "vervet";

/// One line of the goals.
pub(super) struct Finding {
    pub(super) case: String,
    pub(super) rule: String,
    pub(super) measured: String,
    pub(super) verdict: Verdict,
}

/// What two generators are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// Requests a second.
    Rate,
    /// Requests by processor time of the generator: where the server's core was full under both, their rates are its own.
    Efficiency,
}

/// Ours beside another one under one load.
pub(super) struct Comparison {
    pub(super) figure: Figure,
    pub(super) ratio: Ratio,
}

impl Figure {
    /// Its name, after a number.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rate => "by rate",
            Self::Efficiency => "by CPU",
        }
    }

    fn of(self, row: &Row) -> f64 {
        match self {
            Self::Rate => row.rate,
            Self::Efficiency => row.requests_per_cpu_second,
        }
    }
}

impl Comparison {
    /// None where no round has good runs of both.
    pub(super) fn of(case: &str, other: &str, rows: &[Row]) -> Option<Self> {
        let is_full = |name| median_of(rows, case, name, |row| row.server_share) >= FULL_SHARE;
        let figure = if is_full(OURS) && is_full(other) {
            Figure::Efficiency
        } else {
            Figure::Rate
        };
        let figures = |name| -> Vec<OfRound> {
            let good = good(rows, case, name);
            good.iter().map(|row| (row.round, figure.of(row))).collect()
        };
        let ratio = Ratio::of(&figures(OURS), &figures(other))?;
        Some(Self { figure, ratio })
    }
}

/// The runs of one generator under one load that may be believed.
fn good(rows: &[Row], case: &str, generator: &str) -> Vec<Row> {
    let mine = rows
        .iter()
        .filter(|row| row.case == case && row.generator == generator);
    mine.filter(|row| row.fault.is_none() && row.rate > 0.0)
        .cloned()
        .collect()
}

/// Lowest, median and highest of a figure over those runs.
pub(super) fn of(rows: &[Row], case: &str, generator: &str, value: fn(&Row) -> f64) -> Spread {
    spread(good(rows, case, generator).iter().map(value))
}

/// The median alone.
pub(super) fn median_of(rows: &[Row], case: &str, generator: &str, value: fn(&Row) -> f64) -> f64 {
    of(rows, case, generator, value).median
}

/// Whether ours is above each of the others, or above the one that is named. Shown is the one that it is least above.
pub(super) fn beats(case: &Case, rows: &[Row]) -> Finding {
    let (named, factor) = case.goal;
    let others = GENERATORS[1..].iter().map(|row| row.name);
    let least = others
        .filter(|other| named.is_none_or(|named| named == *other))
        .filter_map(|other| Some((other, Comparison::of(case.name, other, rows)?)))
        .min_by(|a, b| a.1.ratio.median.total_cmp(&b.1.ratio.median));
    let measured = match &least {
        None => "–".to_owned(),
        Some((other, Comparison { figure, ratio })) => {
            format!("{ratio} {other} {}", figure.name())
        }
    };
    Finding {
        case: case.name.to_owned(),
        rule: format!(
            "at least {factor:.1} × {}",
            named.unwrap_or("each of the others")
        ),
        measured,
        verdict: Bound::AtLeast(factor).verdict(least.map(|(_, found)| found.ratio)),
    }
}

/// What a figure that is no ratio comes to.
fn verdict(is_met: Option<bool>) -> Verdict {
    match is_met {
        None => Verdict::NotMeasured,
        Some(true) => Verdict::Met,
        Some(false) => Verdict::NotMet,
    }
}

/// At half of the highest rate, ours may not lie above wrk's times by more than the bound.
pub(super) fn adds_little(rows: &[Row], connections: u32) -> [Finding; 2] {
    let finding = |name: &str, value: fn(&Row) -> f64| {
        let ours = median_of(rows, "half", "vervet", value);
        let wrk = median_of(rows, "half", "wrk", value);
        let added = ours - wrk;
        Finding {
            case: format!("half, {connections} connections"),
            rule: format!("{name} at most {ADDED_US_MAX:.0} us above wrk's"),
            measured: format!("{added:+.0} us ({ours:.0} against {wrk:.0})"),
            verdict: verdict((ours > 0.0 && wrk > 0.0).then_some(added <= ADDED_US_MAX)),
        }
    };
    [
        finding("p50", |row| row.p50_us),
        finding("p99", |row| row.p99_us),
    ]
}

/// The worst run of the open load decides.
pub(super) fn keeps_its_rate(rows: &[Row]) -> Finding {
    let errors = good(rows, "open", "vervet")
        .iter()
        .map(|row| (row.rate / f64::from(OPEN_RATE) - 1.0).abs())
        .collect::<Vec<_>>();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    Finding {
        case: "open".to_owned(),
        rule: format!(
            "{OPEN_RATE} a second, less than {:.1} % off",
            OPEN_ERROR_MAX * 100.0
        ),
        measured: format!("{:.3} % at worst", worst * 100.0),
        verdict: verdict((!errors.is_empty()).then_some(worst < OPEN_ERROR_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::*;

    /// A run: generator, round, rate, requests per CPU-second, the server's share of its core.
    type Made = (&'static str, u32, f64, f64, f64);

    fn rows(case: &'static str, made: &[Made]) -> Vec<Row> {
        let row = |(generator, round, rate, efficiency, server_share): &Made| Row {
            case,
            generator,
            round: *round,
            rate: *rate,
            requests_per_cpu_second: *efficiency,
            server_share: *server_share,
            ..Row::default()
        };
        made.iter().map(row).collect()
    }

    #[track_caller]
    fn check(case: &'static str, made: &[Made], expected: (Verdict, &str)) {
        let found = CASES.iter().find(|known| known.name == case);
        let finding = beats(found.expect("a case"), &rows(case, made));
        assert_eq!((finding.verdict, finding.measured.as_str()), expected);
    }

    /// One round in which the generators are the limit.
    fn rated(generator: &'static str, rate: f64) -> Made {
        (generator, 1, rate, 1.0, 0.5)
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let nothing = (Verdict::NotMeasured, "–");
        check("large64", &[], nothing);
        check("large64", &[rated("vervet", 120.0)], nothing);
        check(
            "large64",
            &[rated("vervet", 9.0), rated("ab", 1.0)],
            nothing,
        );
        // Not in the same round.
        let apart = [rated("vervet", 9.0), ("wrk", 2, 1.0, 1.0, 0.5)];
        check("large64", &apart, nothing);
    }

    #[test]
    fn each_of_the_others_has_to_be_beaten() {
        let beside = |ab| [rated("vervet", 120.0), rated("wrk", 100.0), rated("ab", ab)];
        let met = (Verdict::Met, "1.200 × (1.20 to 1.20) wrk by rate");
        check("small64", &beside(50.0), met);
        let not_met = (Verdict::NotMet, "0.800 × (0.80 to 0.80) ab by rate");
        check("small64", &beside(150.0), not_met);
        // Named is wrk alone.
        check("large64", &beside(150.0), met);
    }

    #[test]
    fn rounds_are_compared_each_for_itself() {
        // The machine is three times as fast in the last round, and both gain by it.
        let rounds = [
            ("vervet", 1, 120.0, 1.0, 0.5),
            ("wrk", 1, 100.0, 1.0, 0.5),
            ("vervet", 2, 90.0, 1.0, 0.5),
            ("vervet", 3, 363.0, 1.0, 0.5),
            ("wrk", 3, 300.0, 1.0, 0.5),
        ];
        let met = (Verdict::Met, "1.205 × (1.20 to 1.21) wrk by rate");
        check("large64", &rounds, met);
    }

    #[test]
    fn a_full_server_has_processor_time_decide() {
        let beside = |ours, theirs| {
            [
                ("vervet", 1, 100.0, 300.0, ours),
                ("weighttp", 1, 101.0, 200.0, theirs),
            ]
        };
        let by_cpu = (Verdict::Met, "1.500 × (1.50 to 1.50) weighttp by CPU");
        check("small64", &beside(0.95, 1.0), by_cpu);
        // Full under one of both says that the other did not ask for all.
        let by_rate = (Verdict::NotMet, "0.990 × (0.99 to 0.99) weighttp by rate");
        check("small64", &beside(1.0, 0.94), by_rate);
        check("small64", &beside(0.94, 1.0), by_rate);
    }

    #[test]
    fn the_worst_open_run_decides() {
        let open = |rates: &[f64]| {
            let made: Vec<Made> = rates.iter().map(|rate| rated("vervet", *rate)).collect();
            keeps_its_rate(&rows("open", &made)).verdict
        };
        assert_eq!(open(&[]), Verdict::NotMeasured);
        assert_eq!(open(&[50_000.0]), Verdict::Met);
        assert_eq!(open(&[50_000.0, 49_900.0]), Verdict::NotMet);
    }
}
