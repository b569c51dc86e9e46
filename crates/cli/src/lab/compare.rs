//! `vervet lab compare`: two labs, step by step, with an exit status for continuous integration.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use vervet_lab::compare::{
    COMPARED, Comparison, Guarded, TOLERANCE, comparison_json, comparison_text,
};
use vervet_lab::record::{LabRecord, open_record};
use vervet_lab::statistics::Figure;

use crate::console;
use crate::failure::Failure;

/// Exit status if there is nothing to compare: an unreadable record, or no step in common.
const NOTHING_TO_COMPARE: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  vervet lab compare before after
  vervet lab compare main/lab.json branch.lab --fail-on goodput,response_p99_ms
  vervet lab compare before after --format json
  vervet lab compare stores-before stores-after --fail-on goodput,phase:put

A change is reported only if its whole 95 % confidence interval lies outside the
tolerance, and both labs have at least five repeats. For labs of tasks, goodput is the
time of all phases together, and phase:NAME that of one phase.

Exit status: 0 if nothing became worse; 1 if a figure of --fail-on became worse,
or a subject that had figures has none; 2 if there is nothing to compare.";

/// Arguments of `vervet lab compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArguments {
    /// The base: a folder that lab run wrote, its lab.json, or its journal
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// The lab that is compared with the base
    #[arg(value_name = "OTHER")]
    other: PathBuf,
    /// Largest change that is not reported, in percent of the base
    #[arg(long, value_name = "PERCENT", default_value_t = TOLERANCE * 100.0, value_parser = percent)]
    tolerance: f64,
    /// Figures that must not become worse, separated by commas, such as goodput, response_p99_ms,
    /// cpu_us_per_request
    #[arg(long, value_name = "FIGURES", default_value = "goodput", value_delimiter = ',', value_parser = guarded)]
    fail_on: Vec<Guarded>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CompareFormat,
}

/// The output format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// Text
    Text,
    /// JSON
    Json,
}

/// Compares two labs and prints the changes.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let (Some(base), Some(other)) = (opened(&arguments.base), opened(&arguments.other)) else {
        return Ok(ExitCode::from(NOTHING_TO_COMPARE));
    };
    let comparison = match Comparison::new(&base, &other, arguments.tolerance / 100.0) {
        Ok(comparison) => comparison,
        Err(error) => {
            console::message(format_args!("{error}"));
            return Ok(ExitCode::from(NOTHING_TO_COMPARE));
        }
    };
    let text = match arguments.format {
        CompareFormat::Text => comparison_text(&comparison),
        CompareFormat::Json => format!("{:#}\n", comparison_json(&comparison)),
    };
    console::print(&text).map_err(Failure::Output)?;
    if comparison.is_empty() {
        console::message(format_args!(
            "no subject has figures under the same load in both, and no task is in both"
        ));
        return Ok(ExitCode::from(NOTHING_TO_COMPARE));
    }
    if comparison.has_regressed(&arguments.fail_on) {
        console::message(format_args!(
            "{} is worse than {}",
            arguments.other.display(),
            arguments.base.display()
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a record; prints the error if it cannot be read.
fn opened(path: &Path) -> Option<LabRecord> {
    let record = open_record(path);
    record.map_err(|error| console::message(format_args!("{error}"))).ok()
}

/// The name of a figure, or `phase:` and that of a phase.
fn guarded(name: &str) -> Result<Guarded, String> {
    match name.strip_prefix("phase:") {
        Some(phase) if !phase.is_empty() => Ok(Guarded::Phase(phase.to_owned())),
        _ => figure(name).map(Guarded::Figure),
    }
}

fn figure(name: &str) -> Result<Figure, String> {
    let names: Vec<&str> = COMPARED.into_iter().map(Figure::name).collect();
    let known = Figure::named(name).filter(|figure| COMPARED.contains(figure));
    known.ok_or_else(|| {
        let names = names.join(", ");
        format!("expected one of {names}, or phase:NAME")
    })
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').trim_end().parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..100.0).contains(&number) {
        return Ok(number);
    }
    Err("from 0 to less than 100".to_owned())
}
