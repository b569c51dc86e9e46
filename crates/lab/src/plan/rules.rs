//! Rules: whose figure is compared with what.

use vervet_config::{Diagnostic, Diagnostics};

use super::resolve::Names;
use super::types::{CEILING, PlannedWorkload};
use crate::document::{Figure, Lab, Rule};
use crate::record::{self, Against, Bound};

/// The rules of the planned workloads, one for each variant of its workload.
pub(super) fn resolve(
    lab: &Lab,
    workloads: &[PlannedWorkload],
    found: &mut Diagnostics,
) -> Vec<record::Rule> {
    let is_of_tasks = !lab.task.is_empty();
    let known = Names::new("workload", lab.workload.names());
    let subjects = if is_of_tasks {
        Names::new("task", lab.task.names())
    } else {
        Names::new("subject", lab.subject.names().chain([CEILING]))
    };
    let mut rules = Vec::new();
    for rule in lab.rule.iter() {
        // In a lab of tasks it is a phase, which nobody knows before a task has run.
        if !is_of_tasks {
            known.index(&rule.workload, rule.workload.span(), found);
        }
        subjects.index(&rule.subject, rule.subject.span(), found);
        for name in rule.against.iter() {
            subjects.index(name, rule.against.span(), found);
        }
        if let Some(name) = rule.against_workload.value()
            && !is_of_tasks
        {
            known.index(name, rule.against_workload.span(), found);
        }
        let figure = *rule.figure;
        let of_tasks = matches!(figure, Figure::Seconds | Figure::OperationsPerSecond);
        if of_tasks != is_of_tasks {
            let kind = if of_tasks { "tasks" } else { "servers" };
            let message = format!("`{}` is a figure of {kind}", figure.as_str());
            found.push(Diagnostic::error(rule.figure.span(), message));
        }
        let (Some(bound), Some(against)) = (bound(rule, found), against(rule, found)) else {
            continue;
        };
        let planned = |workload: &str, against: Against| record::Rule {
            workload: workload.to_owned(),
            subject: rule.subject.value().clone(),
            figure: figure.as_str().to_owned(),
            bound,
            against,
        };
        if is_of_tasks {
            rules.push(planned(&rule.workload, against));
            continue;
        }
        let variants = workloads.iter().filter(|workload| is_variant(workload, &rule.workload));
        rules
            .extend(variants.map(|workload| {
                planned(&workload.name, variant_of(&against, workload, workloads))
            }));
    }
    rules
}

fn bound(rule: &Rule, found: &mut Diagnostics) -> Option<Bound> {
    match (*rule.at_least, *rule.at_most) {
        (Some(least), None) => Some(Bound::AtLeast(least)),
        (None, Some(most)) => Some(Bound::AtMost(most)),
        _ => {
            let message = "a rule needs either `at_least` or `at_most`";
            found.push(Diagnostic::error(rule.workload.span(), message));
            None
        }
    }
}

fn against(rule: &Rule, found: &mut Diagnostics) -> Option<Against> {
    let others = rule.against.value().clone();
    let size = rule.against_size.value().map(vervet_config::Size::bytes);
    match (others.is_empty(), rule.against_workload.value(), size) {
        (false, None, None) => Some(Against::Subjects(others)),
        (true, Some(workload), None) => Some(Against::Workload(workload.clone())),
        (true, None, Some(bytes)) => Some(Against::Bytes(bytes)),
        _ => {
            let message = "a rule needs one of `against`, `against_workload` and `against_size`";
            found.push(Diagnostic::error(rule.workload.span(), message));
            None
        }
    }
}

/// Whether a planned workload is the named one, under whatever congestion control.
fn is_variant(workload: &PlannedWorkload, name: &str) -> bool {
    workload.name == name
        || workload
            .congestion
            .as_ref()
            .is_some_and(|control| workload.name == format!("{name} ({control})"))
}

/// With another workload compared under the same congestion control.
fn variant_of(
    against: &Against,
    workload: &PlannedWorkload,
    workloads: &[PlannedWorkload],
) -> Against {
    let Against::Workload(name) = against else {
        return against.clone();
    };
    let same = workloads
        .iter()
        .find(|other| is_variant(other, name) && other.congestion == workload.congestion);
    Against::Workload(same.map_or(name.clone(), |same| same.name.clone()))
}
