//! The figures of every step as CSV (RFC 4180), one row each, in the order in which they ran.

use vervet_report::escape::Csv;

use crate::record::{Connections, LabRecord, LoadShape, Outcome};
use crate::statistics::{Analysis, Figure};

/// Every step with its figures. A figure that a step does not have is an empty cell.
pub fn steps_csv(record: &LabRecord, analysis: &Analysis) -> String {
    if record.is_of_tasks() {
        return phases_csv(record);
    }
    let mut columns: Vec<&str> = vec![
        "order",
        "subject",
        "workload",
        "load",
        "amount",
        "keep_alive",
        "repeat",
        "began_unix_ms",
        "outcome",
        "counts",
        "findings",
    ];
    columns.extend(Figure::ALL.map(Figure::name));
    let mut rows: Vec<(u32, String)> = Vec::new();
    for panel in &analysis.panels {
        for curve in &panel.curves {
            for point in &curve.points {
                for taken in &point.repeats {
                    let began = record.steps.iter().find(|step| step.order == taken.order);
                    let rules: Vec<&str> =
                        taken.findings.iter().map(|finding| finding.rule.as_str()).collect();
                    let mut cells = vec![
                        taken.order.to_string(),
                        Csv(&curve.subject).to_string(),
                        Csv(&panel.workload.name).to_string(),
                        shape(point.load.shape).to_owned(),
                        point.load.amount().to_string(),
                        (point.load.connections == Connections::KeepAlive).to_string(),
                        taken.repeat.to_string(),
                        began.map_or(String::new(), |step| step.began_unix_ms.to_string()),
                        outcome(&taken.outcome).to_owned(),
                        taken.counts().to_string(),
                        Csv(&rules.join(" ")).to_string(),
                    ];
                    let value = |figure: Figure| figure.value(taken.figures.as_ref()?);
                    cells.extend(Figure::ALL.map(|figure| {
                        value(figure).map_or(String::new(), |value| value.to_string())
                    }));
                    rows.push((taken.order, cells.join(",")));
                }
            }
        }
    }
    rows.sort_by_key(|(order, _)| *order);
    let head = columns.join(",");
    let lines = std::iter::once(head).chain(rows.into_iter().map(|(_, row)| row));
    lines.map(|line| line + "\r\n").collect()
}

/// Every phase of every run of a task, one row each. A run without phases has one row.
fn phases_csv(record: &LabRecord) -> String {
    let head = "order,task,group,repeat,began_unix_ms,outcome,phase,operations,time_ns";
    let mut lines = vec![head.to_owned()];
    for step in &record.tasks {
        let step_cells = format!(
            "{},{},{},{},{},{}",
            step.order,
            Csv(&step.task),
            Csv(&step.group),
            step.repeat,
            step.began_unix_ms,
            outcome(&step.outcome)
        );
        lines.extend(step.phases.iter().map(|phase| {
            let name = Csv(&phase.name);
            format!("{step_cells},{name},{},{}", phase.operations, phase.time_ns)
        }));
        if step.phases.is_empty() {
            lines.push(format!("{step_cells},,,"));
        }
    }
    lines.into_iter().map(|line| line + "\r\n").collect()
}

fn shape(shape: LoadShape) -> &'static str {
    match shape {
        LoadShape::Closed { .. } => "closed",
        LoadShape::Open { .. } => "open",
    }
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Measured => "measured",
        Outcome::Crashed { .. } => "crashed",
        Outcome::NotReady { .. } => "not_ready",
        Outcome::WrongAnswers { .. } => "wrong_answers",
    }
}
