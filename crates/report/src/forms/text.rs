//! A run as text for a terminal: a section per topic, the audit last.

use std::fmt::Write as _;

use super::table::Table;
use super::{tables, words};
use crate::audit::{Finding, Verdict};
use crate::escape::Printable;
use crate::run::Run;
use crate::units::moment;

/// The run as text.
pub fn text(run: &Run) -> String {
    let mut text =
        format!("Load run by {}, {}\n", Printable(&run.tool), moment(run.started_unix_ms));
    section(&mut text, "Settings", &tables::settings(run));
    section(&mut text, "Results", &tables::achieved(run));
    section(&mut text, "Times of successful responses", &tables::times(run));
    let _ = write!(text, "  {}\n  {}\n", words::RESPONSE, words::SERVICE);
    section(&mut text, "Failed requests", &tables::errors(run));
    section(&mut text, "Steps", &tables::steps(run));
    section(&mut text, "Failures by step", &tables::step_failures(run));
    section(&mut text, "Slowest requests", &tables::slowest(run));
    section(&mut text, "Watched processes", &tables::watched(run));
    section(&mut text, "Machine", &tables::machine(run));
    section(&mut text, "Conditions", &tables::conditions(run));
    if let Some(search) = &run.search {
        section(&mut text, "Search for the highest rate", &tables::tries(search));
        let _ = writeln!(text, "  {}.", Printable(&tables::bracket(search)));
    }
    if !run.findings.is_empty() {
        text.push_str("\nAudit: are these figures reliable?\n");
        let mut findings: Vec<_> = run.findings.iter().collect();
        findings.sort_by_key(|finding| finding.verdict);
        for finding in findings {
            add_finding(&mut text, finding);
        }
    }
    let _ = write!(text, "\n{}\n", words::verdict(run));
    text
}

/// A table under its name; nothing if it is empty.
fn section(text: &mut String, name: &str, table: &Table) {
    if !table.is_empty() {
        let _ = write!(text, "\n{name}\n{}", table.text());
    }
}

fn add_finding(text: &mut String, finding: &Finding) {
    let verdict = match finding.verdict {
        Verdict::Passed => "passed",
        Verdict::Warning => "WARNING",
        Verdict::Failed => "FAILED",
    };
    let (rule, measured) = (Printable(&finding.rule), Printable(&finding.measured));
    let _ = write!(text, "  {verdict:<8} {rule}: {measured}");
    if finding.verdict == Verdict::Passed {
        text.push('\n');
        return;
    }
    let _ = writeln!(text, " (bound: {})", Printable(&finding.bound));
    for line in [&finding.meaning, &finding.advice] {
        if !line.is_empty() {
            let line = words::sentence(line);
            let _ = writeln!(text, "           {}", Printable(&line));
        }
    }
}
