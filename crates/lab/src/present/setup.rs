//! What was set up: the lab, its subjects, its workloads and files, what the fairness gate saw, and
//! the machine.

use vervet_report::forms::Table;
use vervet_report::{Run, units};

use super::page::{Block, Section};
use crate::fairness::Refusal;
use crate::record::{FairnessVerdict, LabRecord, Role, SubjectState};
use crate::statistics::{Analysis, RuleResult, Verdict};

/// The section of the configuration.
pub(super) fn configuration_section(record: &LabRecord) -> Section {
    let head = &record.head;
    let mut section = Section::new("Configuration");
    let mut table = Table::new("", &["setting", "value"]);
    table.row(["lab file", &head.lab.name]);
    table.row(["SHA-256 of the lab file", &head.lab.sha256]);
    table.row(["program", &head.program]);
    table.row(["started", &units::moment(head.began_unix_ms)]);
    let stopped = if record.is_refused() { "stopped by the fairness gate" } else { "interrupted" };
    let ended = record.ended_unix_ms.map_or(stopped.to_owned(), units::moment);
    table.row(["ended", &ended]);
    table.row(["left out of the lab file", &head.shortened.to_string()]);
    table.row(["repeats", &head.repeats.to_string()]);
    table.row(["order of steps", &format!("shuffled with seed {}", head.seed)]);
    table.row(["steps done", &format!("{} of {}", record.steps_done(), head.steps_planned)]);
    section.table(table);
    section.table(subjects(record));
    for subject in head.subjects.iter().filter(|subject| !subject.configuration.is_empty()) {
        let name = format!("Configuration of {}", subject.name);
        section.blocks.push(Block::File(name, subject.configuration.clone()));
    }
    section
        .blocks
        .push(Block::File(format!("The lab file, {}", head.lab.name), head.lab.text.clone()));
    section
}

fn subjects(record: &LabRecord) -> Table {
    let mut table = Table::new(
        if record.is_of_tasks() { "Tasks" } else { "Subjects" },
        &["name", "adapter", "version", "took part", "runs on", "command"],
    );
    for subject in &record.head.subjects {
        let state = match (&subject.state, subject.role) {
            (SubjectState::Skipped { reason }, _) => format!("skipped: {reason}"),
            (SubjectState::Present, Role::Ceiling) => "as the ceiling".to_owned(),
            (SubjectState::Present, Role::Contestant) => "yes".to_owned(),
        };
        table.row([
            subject.name.clone(),
            subject.adapter.clone(),
            subject.version.clone().unwrap_or_else(|| "unknown".to_owned()),
            state,
            subject.cores.clone().unwrap_or_else(|| "all cores".to_owned()),
            subject.command.join(" "),
        ]);
    }
    table
}

/// The section of workloads and files.
pub(super) fn content_section(record: &LabRecord) -> Section {
    let mut section = Section::new("Content");
    let mut workloads =
        Table::new("Workloads", &["name", "description", "request", "checks", "#Apdex T"]);
    for workload in &record.head.workloads {
        let run = first_run(record, &workload.name);
        let target = run.as_ref().map_or(String::new(), |run| run.asked.target.clone());
        let checks = run.map_or(String::new(), |run| run.asked.checks.join("; "));
        let seconds = format!("{} s", workload.apdex_seconds);
        table_row(
            &mut workloads,
            [&workload.name, &workload.description, &target, &checks, &seconds],
        );
    }
    section.table(workloads);
    let mut assets = Table::new("Files", &["path", "#bytes", "SHA-256", "in the record"]);
    for asset in &record.head.assets {
        let carried = if asset.text.is_some() { "yes" } else { "no" };
        assets.row([&asset.path, &units::count(asset.bytes), &asset.sha256, carried]);
    }
    section.table(assets);
    section
}

fn table_row(table: &mut Table, cells: [&String; 5]) {
    table.row(cells.into_iter().cloned());
}

fn first_run(record: &LabRecord, workload: &str) -> Option<Run> {
    let mut steps = record.steps.iter().filter(|step| step.workload == workload);
    steps.find_map(|step| step.run.as_ref()?.read().ok())
}

/// Why the fairness gate stopped the lab; `None` if it did not.
pub(super) fn refusal_section(record: &LabRecord) -> Option<Section> {
    let refusal = Refusal::new(&record.fairness, &[])?;
    let mut section = Section::new("Stopped by the fairness gate");
    section.text("The responses of the subjects differ, so nothing was measured. They differ in:");
    let differences = refusal.differences.iter();
    section.blocks.push(Block::List(differences.map(|it| it.replace("\n ", "")).collect()));
    section.text(
        "If that is intended, set this line at the top of the lab file, above its first section, and run the lab again \
         into the same folder:",
    );
    section.text(refusal.allow);
    Some(section)
}

/// The section of the fairness gate.
pub(super) fn fairness_section(record: &LabRecord) -> Section {
    let mut section = Section::new("Fairness");
    if record.fairness.is_empty() {
        section.text("The record has no results of the fairness gate.");
        return section;
    }
    section.text("Before the first step, one response of each subject to each workload was compared with the others.");
    let mut table = Table::new("", &["workload", "property", "verdict", "subject: value"]);
    for row in &record.fairness {
        let verdict = match row.verdict {
            FairnessVerdict::Equal => "equal",
            FairnessVerdict::Differs => "differs, as the lab file permits",
            FairnessVerdict::Refused => "differs, and stopped the lab",
        };
        let first = row.values.first().map(|(_, value)| value.as_str());
        let values = match (row.verdict, first) {
            (FairnessVerdict::Equal, Some(value)) => format!("all: {value}"),
            _ => row
                .values
                .iter()
                .map(|(subject, value)| format!("{subject}: {value}"))
                .collect::<Vec<String>>()
                .join("; "),
        };
        table.row([row.workload.clone(), row.property.clone(), verdict.to_owned(), values]);
    }
    section.table(table);
    section
}

/// The section of the machine.
pub(super) fn environment_section(record: &LabRecord) -> Section {
    let mut section = Section::new("Hosts");
    let mut table = Table::new("The machine and its settings", &["group", "name", "value"]);
    for fact in &record.head.environment.facts {
        table.row([&fact.group, &fact.name, &fact.value]);
    }
    section.table(table);
    section
}

/// The section of rules; `None` if the lab file has none.
pub(super) fn rules_section(record: &LabRecord, analysis: &Analysis) -> Option<Section> {
    let results = analysis.rules(record);
    if results.is_empty() {
        return None;
    }
    let mut section = Section::new("Rules");
    let count = |verdict| {
        let same = results.iter().filter(|result| result.verdict == verdict);
        same.count()
    };
    section.text(format!(
        "Of {} rules {} are met, {} are not met and {} are inconclusive. A ratio is the median over \
         the repeats, with its 95 % interval; a rule is inconclusive if its median misses the bound \
         and a part of the interval does not.",
        results.len(),
        count(Verdict::Met),
        count(Verdict::NotMet),
        count(Verdict::Inconclusive)
    ));
    let columns = ["workload", "rule", "#measured", "against", "verdict"];
    let mut table = Table::new("", &columns);
    for result in &results {
        table.row([
            result.rule.workload.clone(),
            result.text(),
            ratio(result),
            result.other.clone(),
            result.verdict.text().to_owned(),
        ]);
    }
    section.table(table);
    Some(section)
}

fn ratio(result: &RuleResult) -> String {
    result.ratio.map_or("–".to_owned(), |ratio| {
        format!("{:.3} × ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high)
    })
}
