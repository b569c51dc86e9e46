//! The findings of steps, and their failures.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use vervet_report::forms::{Table, sentence};
use vervet_report::{ErrorClass, Finding, Verdict, units};

use super::page::{Block, Section};
use crate::record::LoadPoint;
use crate::statistics::{Analysis, Curve, Panel, Repeat, is_of_generator};

/// The consequence of steps in which the generator was the bottleneck.
const GENERATOR_LIMIT: &str = "The generator was the bottleneck in these steps: the server may be capable of more than they \
                               show. They are not ranked; a rank that would need them is a lower bound, marked ≥.";

/// The section of findings: each rule with its meaning and advice, and a table of occurrences.
pub(super) fn findings_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Findings");
    let mut groups: Vec<Group<'_>> = Vec::new();
    for panel in &analysis.panels {
        for curve in &panel.curves {
            for found in found(panel, curve) {
                match groups.iter_mut().find(|group| group.takes(found.finding)) {
                    Some(group) => group.found.push(found),
                    None => groups.push(Group { found: vec![found] }),
                }
            }
        }
    }
    if groups.is_empty() {
        section.text("There are no findings.");
        return section;
    }
    groups.sort_by_key(|group| (Reverse(group.verdict()), group.first().rule.clone()));
    let all = groups.iter().flat_map(|group| &group.found);
    let failed = all.clone().filter(|found| found.finding.verdict == Verdict::Failed).count();
    section.text(format!(
        "{} findings; {failed} of them exclude a step from the ranking. Numbers are those of the first load listed.",
        all.count()
    ));
    for group in &groups {
        group.write(&mut section);
    }
    section
}

/// One finding of a subject, and the loads that it was found under.
struct Occurrence<'a> {
    panel: &'a Panel,
    subject: &'a str,
    loads: Vec<LoadPoint>,
    finding: &'a Finding,
}

/// Findings of one rule with the same meaning and advice.
struct Group<'a> {
    /// At least one.
    found: Vec<Occurrence<'a>>,
}

impl Group<'_> {
    fn first(&self) -> &Finding {
        self.found[0].finding
    }

    fn takes(&self, finding: &Finding) -> bool {
        let first = self.first();
        (&first.rule, &first.meaning, &first.advice)
            == (&finding.rule, &finding.meaning, &finding.advice)
    }

    fn verdict(&self) -> Verdict {
        let verdicts = self.found.iter().map(|found| found.finding.verdict);
        verdicts.max().unwrap_or(Verdict::Passed)
    }

    fn write(&self, section: &mut Section) {
        let first = self.first();
        section.blocks.push(Block::Heading(format!("{}: {}", first.rule, self.verdict().name())));
        let sentences = [&first.meaning, &first.advice].map(|phrase| sentence(phrase));
        section.text(sentences.join(" ").trim());
        if self.found.iter().any(|found| is_of_generator(found.finding)) {
            section.text(GENERATOR_LIMIT);
        }
        let columns = ["verdict", "subject", "workload", "load", "measured", "bound"];
        let mut table = Table::new("", &columns);
        for found in &self.found {
            table.row([
                found.finding.verdict.name().to_owned(),
                found.subject.to_owned(),
                found.panel.title(),
                loads_text(&found.loads),
                found.finding.measured.clone(),
                found.finding.bound.clone(),
            ]);
        }
        section.table(table);
    }
}

/// The worst finding of each rule for a subject; the first of several.
fn found<'a>(panel: &'a Panel, curve: &'a Curve) -> Vec<Occurrence<'a>> {
    let mut rules: BTreeMap<&str, Occurrence<'a>> = BTreeMap::new();
    for point in &curve.points {
        for finding in point.all_findings() {
            let found = rules.entry(&finding.rule).or_insert(Occurrence {
                panel,
                subject: &curve.subject,
                loads: Vec::new(),
                finding,
            });
            found.loads.push(point.load);
            if finding.verdict > found.finding.verdict {
                found.finding = finding;
            }
        }
    }
    rules.into_values().collect()
}

/// Formats loads: `100, 200, 400 connections`.
pub(super) fn loads_text(loads: &[LoadPoint]) -> String {
    let Some((last, before)) = loads.split_last() else {
        return String::new();
    };
    let amounts = before.iter().map(|load| load.amount().to_string());
    let all: Vec<String> = amounts.chain([last.shape.to_string()]).collect();
    all.join(", ")
}

/// The section of failures: requests by class, and failed steps.
pub(super) fn failures_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Failures and errors");
    let mut requests = Table::new(
        "Failed requests by class, over all repeats",
        &["subject", "workload and load", "class", "meaning", "#requests"],
    );
    let mut steps =
        Table::new("Steps that failed", &["#step", "subject", "workload and load", "outcome"]);
    for (panel, subject, load, taken) in each_step(analysis) {
        let place = format!("{}, {load}", panel.title());
        if let Some(text) = taken.outcome.failure() {
            steps.row([taken.order.to_string(), subject.to_owned(), place, text]);
        }
    }
    for panel in &analysis.panels {
        for curve in &panel.curves {
            for point in &curve.points {
                let place = format!("{}, {}", panel.title(), point.load.shape);
                for (class, count) in classes(&point.repeats) {
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
        section.text("No request failed, and every step was completed.");
    }
    section.table(steps);
    section.table(requests);
    section
}

/// Every step with its panel, subject and load.
fn each_step(analysis: &Analysis) -> impl Iterator<Item = (&Panel, &str, String, &Repeat)> {
    analysis.panels.iter().flat_map(|panel| {
        panel.curves.iter().flat_map(move |curve| {
            curve.points.iter().flat_map(move |point| {
                let each = point.repeats.iter();
                each.map(move |taken| {
                    (panel, curve.subject.as_str(), point.load.shape.to_string(), taken)
                })
            })
        })
    })
}

fn classes(taken: &[Repeat]) -> Vec<(ErrorClass, u64)> {
    let count = |class: ErrorClass| -> u64 {
        let figures = taken.iter().filter_map(|taken| taken.figures.as_ref());
        figures.map(|figures| figures.errors.count(class)).sum()
    };
    let classes = ErrorClass::ALL.into_iter().map(|class| (class, count(class)));
    classes.filter(|(_, count)| *count > 0).collect()
}
