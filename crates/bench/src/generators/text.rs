//! The result for readers.

use std::fmt::Write as _;

use anyhow::Result;

use super::case::{CASES, Case, Row};
use super::goals::{Finding, median_of, of};
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
        "Rounds: {}, each of {} s. Figures are medians (lowest to highest).\n",
        args.bench.rounds, args.bench.seconds
    )?;
    if !missing.is_empty() {
        writeln!(text, "Not installed: {}.\n", missing.join(", "))?;
    }
    writeln!(text, "| load | goal | measured | |\n|---|---|---|---|")?;
    for finding in findings {
        let verdict = match finding.met {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "not measured",
        };
        writeln!(
            text,
            "| {} | {} | {} | {verdict} |",
            finding.case, finding.rule, finding.measured
        )?;
    }
    for case in &CASES {
        writeln!(text, "\n### {}: {}\n", case.name, case.title)?;
        writeln!(
            text,
            "| generator | requests/s | p50 us | p99 us | remarks |\n|---|---|---|---|---|"
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
    let rate = of(rows, case.name, generator, |row| row.rate);
    let time = |value: fn(&Row) -> f64| match median_of(rows, case.name, generator, value) {
        0.0 => "–".to_owned(),
        time => format!("{time:.0}"),
    };
    let mut faults: Vec<&str> = mine().filter_map(|row| row.fault.as_deref()).collect();
    faults.dedup();
    writeln!(
        text,
        "| {generator} | {:.0} ({:.0} to {:.0}) | {} | {} | {} |",
        rate.median,
        rate.min,
        rate.max,
        time(|row| row.p50_us),
        time(|row| row.p99_us),
        faults.join("; ").replace(['\n', '|'], " ")
    )?;
    Ok(())
}
