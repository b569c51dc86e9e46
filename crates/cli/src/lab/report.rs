//! `vervet lab report`: the results of a lab as HTML, Markdown, JSON or CSV.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use vervet_lab::present::{
    analysis_json, inserted, page_markdown, report_html, report_page, steps_csv,
};
use vervet_lab::record::{LabRecord, open_record};
use vervet_lab::statistics::Analysis;

use crate::console;
use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  vervet lab report results -o report.html
  vervet lab report results -o report.md --charts charts
  vervet lab report results/lab.json --format csv > steps.csv
  vervet lab report results --insert docs/performance.md

RESULTS is the folder that lab run wrote, its lab.json (or lab.json.gz), or the
journal of a lab that is running or was interrupted.";

/// Of what, where to, and how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArguments {
    /// The folder of a lab, its lab.json, or its journal
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// File to write, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format [default: by the extension of the file, otherwise HTML]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Write the tables into this Markdown file, between `<!-- bench:begin -->` and
    /// `<!-- bench:end -->`, or one table between `<!-- lab table: begin -->` and
    /// `<!-- lab table: end -->`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "format", "charts"])]
    insert: Option<PathBuf>,
    /// Folder to write each chart to, as an SVG file
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// The output format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// One page that loads nothing else
    Html,
    /// Markdown, as code forges show it
    Markdown,
    /// The conclusions of the lab as JSON
    Json,
    /// The figures of every step as CSV
    Csv,
}

/// Writes the report.
pub(crate) fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let told = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let record = open_record(&arguments.results).map_err(|error| told(&error))?;
    let analysis = Analysis::new(&record).map_err(|error| told(&error))?;
    if let Some(path) = &arguments.insert {
        let page = fs::read_to_string(path).map_err(|error| Failure::Read(path.clone(), error))?;
        let page = inserted(&page, &record, &analysis)
            .ok_or_else(|| Failure::Other(format!("{}: no markers found", path.display())))?;
        fs::write(path, page).map_err(Failure::write(path))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &arguments.charts {
        write_charts(folder, &record, &analysis)?;
    }
    let format = arguments.format.unwrap_or_else(|| format_of(arguments.output.as_deref()));
    let text = match format {
        ReportFormat::Html => report_html(&record, &analysis),
        ReportFormat::Markdown => {
            let charts = arguments.charts.as_ref().map(|folder| folder.display().to_string());
            page_markdown(&report_page(&record, &analysis), charts.as_deref())
        }
        ReportFormat::Json => format!("{:#}\n", analysis_json(&record, &analysis)),
        ReportFormat::Csv => steps_csv(&record, &analysis),
    };
    match &arguments.output {
        Some(path) => fs::write(path, text).map_err(Failure::write(path))?,
        None => console::print(&text).map_err(Failure::Output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn format_of(path: Option<&Path>) -> ReportFormat {
    match path.and_then(Path::extension).and_then(|end| end.to_str()) {
        Some("md" | "markdown") => ReportFormat::Markdown,
        Some("json") => ReportFormat::Json,
        Some("csv") => ReportFormat::Csv,
        _ => ReportFormat::Html,
    }
}

fn write_charts(folder: &Path, record: &LabRecord, analysis: &Analysis) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    for picture in report_page(record, analysis).pictures() {
        let path = folder.join(format!("{}.svg", picture.name));
        fs::write(&path, picture.chart.file()).map_err(Failure::write(&path))?;
    }
    Ok(())
}
