//! The result for readers (Markdown) and for programs (JSON).

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::ratio::Verdict;
use crate::rules::{self, Finding};
use crate::run::Run;
use crate::subject::Role;
use crate::summary::{self, Cell};
use crate::workload::WORKLOADS;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// Everything a comparison found.
#[derive(Serialize)]
pub(crate) struct Report {
    /// One fact a line: `name: value`.
    pub(crate) environment: String,
    pub(crate) rounds: u32,
    pub(crate) seconds: u32,
    /// Subjects that could not take part, and why.
    pub(crate) skipped: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) runs: Vec<Run>,
}

impl Report {
    /// Puts medians and findings beside `runs`.
    pub(crate) fn new(
        environment: String,
        (rounds, seconds): (u32, u32),
        skipped: Vec<String>,
        runs: Vec<Run>,
    ) -> Self {
        let cells = summary::cells(&runs);
        Self {
            environment,
            rounds,
            seconds,
            skipped,
            findings: rules::findings(&cells, &runs),
            cells,
            runs,
        }
    }

    /// Writes `result.json` and `result.md` into `folder`.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(
            folder.join("result.json"),
            serde_json::to_string_pretty(self)?,
        )?;
        fs::write(folder.join("result.md"), self.markdown()?)?;
        Ok(())
    }

    /// The figures as Markdown.
    pub(crate) fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        writeln!(
            text,
            "Rounds: {}, each of {} s. Figures are medians (lowest to highest).\n",
            self.rounds, self.seconds
        )?;
        let disturbed = self
            .runs
            .iter()
            .filter(|run| !run.disturbances.is_empty())
            .count();
        if disturbed > 0 {
            let all = self.runs.len();
            writeln!(
                text,
                "**{disturbed} of {all} runs were disturbed by other work on the machine.**\n"
            )?;
        }
        for skipped in &self.skipped {
            writeln!(text, "Skipped: {skipped}.\n")?;
        }
        self.write_findings(&mut text)?;
        for workload in &WORKLOADS {
            let cells: Vec<&Cell> = self
                .cells
                .iter()
                .filter(|cell| cell.workload == workload.name)
                .collect();
            if !cells.is_empty() {
                writeln!(text, "### {}: {}\n", workload.name, workload.title())?;
                self.write_cells(&mut text, &cells)?;
            }
        }
        writeln!(
            text,
            "### Environment
"
        )?;
        for fact in self.environment.lines() {
            writeln!(text, "- {fact}")?;
        }
        Ok(text)
    }

    fn write_findings(&self, text: &mut String) -> Result<()> {
        let count = |verdict| {
            self.findings
                .iter()
                .filter(move |found| found.verdict == verdict)
                .count()
        };
        writeln!(
            text,
            "Of {} rules {} are met; for {} more, what is asked for lies inside the interval, and {} are not met. The ratios \
             are medians of the rounds, with their interval.\n",
            self.findings.len(),
            count(Verdict::Met),
            count(Verdict::NotToldApart),
            count(Verdict::NotMet),
        )?;
        writeln!(
            text,
            "| workload | rule | measured | against | |\n|---|---|---|---|---|"
        )?;
        for finding in &self.findings {
            let Finding {
                workload,
                rule,
                other,
                ..
            } = finding;
            let ratio = finding
                .ratio
                .map_or_else(|| "–".to_owned(), |ratio| ratio.to_string());
            let verdict = finding.verdict;
            writeln!(
                text,
                "| {workload} | {rule} | {ratio} | {other} | {verdict} |"
            )?;
        }
        writeln!(text)?;
        Ok(())
    }

    fn write_cells(&self, text: &mut String, cells: &[&Cell]) -> Result<()> {
        writeln!(
            text,
            "| subject | requests per CPU-second | to best rival | to ceiling | requests/s | p50 ms | p99 ms | RSS idle, peak MiB | remarks |"
        )?;
        writeln!(text, "|---|---|---|---|---|---|---|---|---|")?;
        for cell in cells {
            let efficiency = cell.requests_per_cpu_second;
            let rival = rules::best_rival(&self.cells, cell.workload);
            let ceiling =
                rules::ranked(&self.cells, cell.workload).find(|cell| cell.role == Role::Ceiling);
            let to = |other: Option<&Cell>| match other {
                Some(other) if cell.ranked => {
                    format!(
                        "{:.2}",
                        efficiency.median / other.requests_per_cpu_second.median
                    )
                }
                _ => "–".to_owned(),
            };
            writeln!(
                text,
                "| {} | {:.0} ({:.0} to {:.0}) | {} | {} | {:.0} | {:.2} | {:.2} | {:.1}, {:.1} | {} |",
                cell.subject,
                efficiency.median,
                efficiency.min,
                efficiency.max,
                to(rival),
                to(ceiling),
                cell.requests_per_second.median,
                cell.p50_us.median / 1e3,
                cell.p99_us.median / 1e3,
                cell.rss_idle_kib.median / 1024.0,
                cell.rss_peak_kib.median / 1024.0,
                remarks(cell),
            )?;
        }
        writeln!(text)?;
        Ok(())
    }
}

fn remarks(cell: &Cell) -> String {
    let mut remarks = Vec::new();
    if !cell.ranked {
        remarks.push("not ranked".to_owned());
    }
    remarks.extend(
        cell.faults
            .iter()
            .map(|fault| fault.replace(['\n', '|'], " ")),
    );
    if cell.p99_alone_us.median > 0.0 {
        remarks.push(format!(
            "p99 {:.2} ms without the idle ones",
            cell.p99_alone_us.median / 1e3
        ));
    }
    if cell.windows_again > 0 {
        remarks.push(format!("{} windows taken again", cell.windows_again));
    }
    if cell.disturbed > 0 {
        remarks.push(format!("{} of {} disturbed", cell.disturbed, cell.runs));
    }
    remarks.join("; ")
}

/// Replaces the part of `document` between the bench markers by `text`.
pub(crate) fn replace(document: &str, text: &str) -> Result<String> {
    let (before, rest) = document
        .split_once(BEGIN)
        .with_context(|| format!("no {BEGIN}"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("no {END} behind {BEGIN}"))?;
    Ok(format!(
        "{before}{BEGIN}\n{}\n{END}{after}",
        text.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, expected: Option<&str>) {
        assert_eq!(
            replace(document, "new\n").ok().as_deref(),
            expected,
            "{document}"
        );
    }

    #[test]
    fn replaces_between_the_markers_only() {
        check("a", None);
        check("a <!-- bench:end --> <!-- bench:begin --> b", None);
        check(
            "a\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nb\n",
            Some("a\n<!-- bench:begin -->\nnew\n<!-- bench:end -->\nb\n"),
        );
    }
}
