//! The report of a record: its sections, in order.

use vervet_report::units;

use super::definitions::definitions_section;
use super::findings::{failures_section, findings_section};
use super::history::history_section;
use super::html::page_html;
use super::page::{Page, Section};
use super::panels::panel_section;
use super::requests::{hosts_section, pages_section, requests_section};
use super::setup::{
    configuration_section, content_section, environment_section, fairness_section, refusal_section,
    rules_section,
};
use super::tasks::{facts_section, group_section, task_definitions_section, task_failures_section};
use crate::record::{LabRecord, SubjectState};
use crate::statistics::Analysis;

/// The report as a page.
pub fn report_page(record: &LabRecord, analysis: &Analysis) -> Page {
    let sections = if record.is_of_tasks() {
        task_sections(record, analysis)
    } else {
        sections(record, analysis)
    };
    Page { title: record.head.title.clone(), subtitle: subtitle(record), sections }
}

/// The sections of a lab of servers.
fn sections(record: &LabRecord, analysis: &Analysis) -> Vec<Section> {
    let mut sections: Vec<Section> = refusal_section(record).into_iter().collect();
    sections.extend(rules_section(record, analysis));
    for (number, panel) in analysis.panels.iter().enumerate() {
        sections.push(panel_section(
            panel,
            &format!("{}-{}", number + 1, file_name(&panel.workload.name)),
        ));
    }
    if let Some(history) = &record.head.history {
        sections.push(history_section(history, analysis));
    }
    // Of nothing, nothing is found.
    if record.steps_done() > 0 {
        sections.push(findings_section(analysis));
        sections.push(failures_section(analysis));
    }
    sections.push(pages_section(analysis));
    sections.push(requests_section(analysis));
    sections.push(hosts_section(analysis));
    sections.push(fairness_section(record));
    sections.push(configuration_section(record));
    sections.push(content_section(record));
    sections.push(environment_section(record));
    sections.push(definitions_section());
    sections
}

/// The sections of a lab of tasks.
fn task_sections(record: &LabRecord, analysis: &Analysis) -> Vec<Section> {
    let mut sections: Vec<Section> = rules_section(record, analysis).into_iter().collect();
    let groups = analysis.groups.iter().enumerate();
    sections.extend(groups.map(|(number, group)| group_section(group, number + 1)));
    let history = record.head.history.as_ref();
    sections.extend(history.map(|history| history_section(history, analysis)));
    sections.extend(task_failures_section(&analysis.groups));
    sections.extend(facts_section(record));
    sections.push(configuration_section(record));
    sections.push(environment_section(record));
    sections.push(task_definitions_section(&analysis.groups));
    sections
}

/// The report as one file of HTML. Its data are in the record in the same folder.
pub fn report_html(record: &LabRecord, analysis: &Analysis) -> String {
    page_html(&report_page(record, analysis))
}

fn subtitle(record: &LabRecord) -> String {
    let head = &record.head;
    let took_part = head.subjects.iter().filter(|subject| subject.is_contestant()).count();
    let skipped =
        head.subjects.iter().filter(|subject| subject.state != SubjectState::Present).count();
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    let interrupted = match record.ended_unix_ms {
        None if record.is_refused() => ", stopped by the fairness gate",
        None => ", interrupted",
        Some(_) => "",
    };
    let what = match (record.is_of_tasks(), took_part) {
        (true, 1) => "task",
        (true, _) => "tasks",
        (false, 1) => "subject",
        (false, _) => "subjects",
    };
    format!(
        "{}, {}: {took_part} {what}{skipped}, {} of {} steps{interrupted}",
        units::moment(head.began_unix_ms),
        head.program,
        record.steps_done(),
        head.steps_planned
    )
}

/// A name that any file system takes.
pub(super) fn file_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }
    };
    let name: String = name.chars().take(40).map(plain).collect();
    name.trim_matches('-').to_owned()
}
