//! The result for readers.

use std::fmt::Write as _;

use anyhow::Result;

use super::case::{CASES, Case, Row};
use super::course::open_seconds;
use super::goals::{Comparison, Finding, OURS, median_of, of};
use super::program::GENERATORS;
use crate::GeneratorsArgs;

/// The tables as Markdown.
pub(super) fn markdown(
    args: &GeneratorsArgs,
    (findings, rows, missing): (&[Finding], &[Row], &[&str]),
    environment: &str,
) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "Rounds: {}, each of {} s, those of `open` of {} s. Figures are medians (lowest to highest); ratios are of the same \
         round, and the medians of the rounds with their interval.\n",
        args.bench.rounds,
        args.bench.seconds,
        open_seconds(args)
    )?;
    if !missing.is_empty() {
        writeln!(text, "Not installed: {}.\n", missing.join(", "))?;
    }
    writeln!(text, "| load | goal | measured | |\n|---|---|---|---|")?;
    for finding in findings {
        writeln!(
            text,
            "| {} | {} | {} | {} |",
            finding.case, finding.rule, finding.measured, finding.verdict
        )?;
    }
    for case in &CASES {
        writeln!(text, "\n### {}: {}\n", case.name, case.title)?;
        writeln!(
            text,
            "| generator | requests/s | requests per CPU-second | server's core | ours to it | p50 us | p99 us | remarks |\n\
             |---|---|---|---|---|---|---|---|"
        )?;
        for generator in &GENERATORS {
            write_row(&mut text, case, generator.name, rows)?;
        }
    }
    writeln!(text, "\n### Environment\n")?;
    for fact in environment.lines() {
        writeln!(text, "- {fact}")?;
    }
    Ok(text)
}

fn write_row(text: &mut String, case: &Case, generator: &str, rows: &[Row]) -> Result<()> {
    let mine = || {
        rows.iter()
            .filter(|row| row.case == case.name && row.generator == generator)
    };
    if mine().next().is_none() {
        return Ok(());
    }
    let spread = |value: fn(&Row) -> f64| {
        let spread = of(rows, case.name, generator, value);
        let (median, min, max) = (spread.median, spread.min, spread.max);
        format!("{median:.0} ({min:.0} to {max:.0})")
    };
    let ours = Comparison::of(case.name, generator, rows).filter(|_| generator != OURS);
    let ours = ours.map_or_else(
        || "–".to_owned(),
        |found| format!("{:.3} {}", found.ratio.median, found.figure.name()),
    );
    let time = |value: fn(&Row) -> f64| match median_of(rows, case.name, generator, value) {
        0.0 => "–".to_owned(),
        time => format!("{time:.0}"),
    };
    let mut faults: Vec<&str> = mine().filter_map(|row| row.fault.as_deref()).collect();
    faults.dedup();
    writeln!(
        text,
        "| {generator} | {} | {} | {:.0} % | {ours} | {} | {} | {} |",
        spread(|row| row.rate),
        spread(|row| row.requests_per_cpu_second),
        median_of(rows, case.name, generator, |row| row.server_share) * 100.0,
        time(|row| row.p50_us),
        time(|row| row.p99_us),
        faults.join("; ").replace(['\n', '|'], " ")
    )?;
    Ok(())
}
