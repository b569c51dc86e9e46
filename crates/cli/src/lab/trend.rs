//! `vervet lab trend`: how figures went over many labs.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use vervet_lab::record::{LabRecord, open_record, record_file};
use vervet_lab::trend::{Trend, trend_html, trend_json, trend_text};

use crate::console;
use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  vervet lab trend history
  vervet lab trend history -o trend.html
  vervet lab trend history --format json

Each folder in DIR that lab run wrote, and each lab.json in it, is one
record, named by its folder or file, in the order of their start times. A record
is a regression if the whole confidence interval of its goodput lies more than
5 % below the median of the up to five records before it; for labs of tasks, if
that of the time of all phases lies more than 5 % above it.

Exit status: 1 if the newest record is a regression, 0 otherwise.";

/// Which records, and where the trend is written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrendArguments {
    /// Folder with the records of several labs
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write an HTML file instead of text to stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format for stdout
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "output")]
    format: TrendFormat,
}

/// The output format of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TrendFormat {
    /// Text
    Text,
    /// JSON
    Json,
}

/// Shows the trend.
pub(crate) fn trend(arguments: &TrendArguments) -> Result<ExitCode, Failure> {
    let records = records(&arguments.folder)?;
    if records.len() < 2 {
        let (folder, found) = (arguments.folder.display(), records.len());
        let text = format!("{folder}: {found} records found, a trend needs two");
        return Err(Failure::Other(text));
    }
    let trend = Trend::new(records).map_err(|error| Failure::Other(error.to_string()))?;
    if let Some(path) = &arguments.output {
        fs::write(path, trend_html(&trend)).map_err(Failure::write(path))?;
    } else {
        let text = match arguments.format {
            TrendFormat::Text => trend_text(&trend),
            TrendFormat::Json => format!("{:#}\n", trend_json(&trend)),
        };
        console::print(&text).map_err(Failure::Output)?;
    }
    if trend.ends_in_regression() {
        console::message(format_args!("the newest record is a regression"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The records in a folder by their names. Other files are skipped with a message.
fn records(folder: &Path) -> Result<Vec<(String, LabRecord)>, Failure> {
    let failed = |error: io::Error| Failure::Read(folder.to_owned(), error);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .map_err(failed)?;
    paths.retain(|path| may_be_record(path));
    paths.sort();
    let mut records = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match open_record(&path) {
            Ok(record) => records.push((name, record)),
            Err(error) => console::message(format_args!("skipped {name}: {error}")),
        }
    }
    Ok(records)
}

fn may_be_record(path: &Path) -> bool {
    if path.is_dir() {
        return record_file(path).is_some();
    }
    let end = path.extension().and_then(|end| end.to_str());
    matches!(end, Some("json" | "gz" | "jsonl"))
}
