//! What was found of steps, and what failed in them.

use std::collections::BTreeMap;

use vervet_report::{ErrorClass, Verdict, units};

use super::page::Section;
use super::table::Table;
use crate::record::Outcome;
use crate::statistics::{Analysis, Panel, Taken};

/// The section of findings: each rule once for each subject, with the loads that it was found under.
pub(super) fn findings_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("What to know before believing a figure");
    let mut table = Table::new(
        "",
        &[
            "rule",
            "verdict",
            "where",
            "found",
            "allowed",
            "what it means",
            "what to do",
        ],
    );
    for panel in &analysis.panels {
        for curve in &panel.curves {
            for (rule, (loads, finding)) in rules(curve) {
                table.row([
                    rule,
                    finding.verdict.name().to_owned(),
                    format!("{}, {}, {}", curve.subject, panel.title(), loads.join(", ")),
                    finding.measured.clone(),
                    finding.bound.clone(),
                    finding.meaning.clone(),
                    finding.advice.clone(),
                ]);
            }
        }
    }
    if table.is_empty() {
        section.text("No rule found anything.");
    } else {
        let failed = table
            .rows
            .iter()
            .filter(|row| row[1] == Verdict::Failed.name())
            .count();
        section.text(format!(
            "{} findings, {failed} of which take a step out of the ranking. The numbers are of the first load named.",
            table.rows.len()
        ));
    }
    section.table(table);
    section
}

type Rules<'a> = BTreeMap<String, (Vec<String>, &'a vervet_report::Finding)>;

fn rules(curve: &crate::statistics::Curve) -> Rules<'_> {
    let mut rules: Rules<'_> = BTreeMap::new();
    for point in &curve.points {
        for finding in point.all_findings() {
            let entry = rules
                .entry(finding.rule.clone())
                .or_insert((Vec::new(), finding));
            entry.0.push(point.load.to_string());
            if finding.verdict > entry.1.verdict {
                entry.1 = finding;
            }
        }
    }
    rules
}

/// The section of failures: requests by class, and steps that came to nothing.
pub(super) fn failures_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Failures and errors");
    let mut requests = Table::new(
        "Requests that failed, by class, over all repeats",
        &[
            "subject",
            "workload and load",
            "class",
            "what happened",
            "#requests",
        ],
    );
    let mut steps = Table::new(
        "Steps that came to nothing",
        &["#step", "subject", "workload and load", "what came of it"],
    );
    for (panel, subject, load, taken) in each_step(analysis) {
        let place = format!("{}, {load}", panel.title());
        if let Some(text) = outcome_text(&taken.outcome) {
            steps.row([taken.order.to_string(), subject.to_owned(), place, text]);
        }
    }
    for panel in &analysis.panels {
        for curve in &panel.curves {
            for point in &curve.points {
                let place = format!("{}, {}", panel.title(), point.load);
                for (class, count) in classes(&point.taken) {
                    requests.row([
                        curve.subject.clone(),
                        place.clone(),
                        class.name().to_owned(),
                        class.meaning().to_owned(),
                        units::count(count),
                    ]);
                }
            }
        }
    }
    if requests.is_empty() && steps.is_empty() {
        section.text("No request failed, and every step came to its end.");
    }
    section.table(steps);
    section.table(requests);
    section
}

/// Every step with its panel, subject and load.
fn each_step(analysis: &Analysis) -> impl Iterator<Item = (&Panel, &str, String, &Taken)> {
    analysis.panels.iter().flat_map(|panel| {
        panel.curves.iter().flat_map(move |curve| {
            curve.points.iter().flat_map(move |point| {
                let each = point.taken.iter();
                each.map(move |taken| {
                    (panel, curve.subject.as_str(), point.load.to_string(), taken)
                })
            })
        })
    })
}

fn classes(taken: &[Taken]) -> Vec<(ErrorClass, u64)> {
    let count = |class: ErrorClass| -> u64 {
        let figures = taken.iter().filter_map(|taken| taken.figures.as_ref());
        figures.map(|figures| figures.errors.of(class)).sum()
    };
    let classes = ErrorClass::ALL
        .into_iter()
        .map(|class| (class, count(class)));
    classes.filter(|(_, count)| *count > 0).collect()
}

/// What came of a step that was not measured to its end.
pub(super) fn outcome_text(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Measured => None,
        Outcome::Crashed { reason } => Some(format!("crashed: {reason}")),
        Outcome::NotReady { reason } => Some(format!("not ready: {reason}")),
        Outcome::WrongAnswers { reason } => Some(format!("wrong answers: {reason}")),
    }
}
