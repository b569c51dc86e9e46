//! What a comparison of generators has to show, and whether it did.

use super::case::{Case, Row};
use super::program::GENERATORS;
use crate::summary::{Spread, spread};

/// Rate of the open load, a second, and how far from it the achieved one may be.
pub(super) const OPEN_RATE: u32 = 50_000;
const OPEN_ERROR_MAX: f64 = 0.001;
/// How far ours may lie above wrk's time at half of the highest rate.
const ADDED_US_MAX: f64 = 20.0;

/// One line of the goals.
pub(super) struct Finding {
    pub(super) case: String,
    pub(super) rule: String,
    pub(super) measured: String,
    pub(super) met: Option<bool>,
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

/// Whether ours is above the best of the others, or above the one that is named.
pub(super) fn beats(case: &Case, rows: &[Row]) -> Finding {
    let rate = |name: &str| median_of(rows, case.name, name, |row| row.rate);
    let (named, factor) = case.goal;
    let other = match named {
        Some(name) => (name, rate(name)),
        None => GENERATORS[1..]
            .iter()
            .map(|row| (row.name, rate(row.name)))
            .fold(
                ("none", 0.0),
                |best, one| {
                    if one.1 > best.1 { one } else { best }
                },
            ),
    };
    let ours = rate("vervet");
    let measured = ours > 0.0 && other.1 > 0.0;
    let ratio = if measured { ours / other.1 } else { 0.0 };
    Finding {
        case: case.name.to_owned(),
        rule: format!(
            "at least {factor:.1} × {}",
            named.unwrap_or("the best other")
        ),
        measured: format!("{ratio:.3} × {}", other.0),
        met: measured.then_some(ratio >= factor),
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
            met: (ours > 0.0 && wrk > 0.0).then_some(added <= ADDED_US_MAX),
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
        met: (!errors.is_empty()).then_some(worst < OPEN_ERROR_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::*;

    fn rows(figures: &[(&'static str, f64)]) -> Vec<Row> {
        let row = |(round, (generator, rate)): (usize, &(&'static str, f64))| Row {
            case: "large64",
            generator,
            round: u32::try_from(round).expect("few"),
            rate: *rate,
            p50_us: 0.0,
            p99_us: 0.0,
            fault: None,
        };
        figures.iter().enumerate().map(row).collect()
    }

    #[track_caller]
    fn check(figures: &[(&'static str, f64)], expected: Option<bool>) {
        let large = CASES.iter().find(|case| case.name == "large64");
        let finding = beats(large.expect("a case"), &rows(figures));
        assert_eq!(finding.met, expected, "{}", finding.measured);
    }

    #[test]
    fn a_goal_is_judged_by_medians() {
        check(&[], None);
        check(&[("vervet", 120.0)], None);
        check(&[("vervet", 119.0), ("wrk", 100.0)], Some(false));
        check(&[("vervet", 120.0), ("wrk", 100.0)], Some(true));
        let rows = [
            ("vervet", 120.0),
            ("vervet", 1.0),
            ("vervet", 125.0),
            ("wrk", 100.0),
        ];
        check(&rows, Some(true));
    }

    #[test]
    fn the_worst_open_run_decides() {
        let open = |rate| Row {
            case: "open",
            generator: "vervet",
            round: 1,
            rate,
            p50_us: 0.0,
            p99_us: 0.0,
            fault: None,
        };
        assert_eq!(keeps_its_rate(&[]).met, None);
        assert_eq!(keeps_its_rate(&[open(50_000.0)]).met, Some(true));
        assert_eq!(
            keeps_its_rate(&[open(50_000.0), open(49_900.0)]).met,
            Some(false)
        );
    }
}
