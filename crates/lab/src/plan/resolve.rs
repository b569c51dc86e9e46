//! From the sections of a lab file to a plan.

use std::path::Path;

use vervet_config::{Diagnostic, Diagnostics, Setting};

use super::names::Names;
use super::types::Plan;
use super::{rules, steps, subjects, tasks, trees, workloads};
use crate::document::{History, Lab};
use crate::record::{self, LabFile, Shortened};

/// Whether the lab is run as it stands, or shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As it stands.
    Full,
    /// With what `[quick]` says.
    Quick,
}

impl Plan {
    /// The plan of a lab file that lies in `folder`; or everything that is wrong with it. Warnings come back beside a plan.
    pub fn of(
        lab: &Lab,
        file: LabFile,
        folder: &Path,
        pace: Pace,
    ) -> Result<(Plan, Diagnostics), Diagnostics> {
        let mut found = Diagnostics::new();
        let tasks = tasks::resolve(lab, pace, &mut found);
        let (mut subjects, mut trees, mut workloads) = (Vec::new(), Vec::new(), Vec::new());
        if lab.task.is_empty() {
            subjects = subjects::resolve(lab, &mut found);
            trees = trees::resolve(lab, pace, &mut found);
            workloads = workloads::resolve(lab, &trees, pace, &mut found);
        }
        let rules = rules::resolve(lab, &workloads, &mut found);
        let cores = cores(lab, &mut found);
        let history = lab
            .history
            .as_ref()
            .map(|history| of_history(history, lab, &mut found));
        if found.has_errors() {
            found.sort();
            return Err(found);
        }
        let sets = sets(lab, pace);
        let steps = steps::resolve(&workloads, sets);
        if steps.len() > steps::STEPS_MAX {
            let message = format!(
                "the lab has {} steps, at most {} are run",
                steps.len(),
                steps::STEPS_MAX
            );
            found.push(
                Diagnostic::error(lab.title.span(), message)
                    .expected("shorter sweeps or fewer repeats"),
            );
            return Err(found);
        }
        let plan = Plan {
            title: lab.title.value().clone(),
            file,
            folder: folder.to_owned(),
            seed: *lab.seed,
            repeats: sets.repeats,
            shortened: Shortened {
                quick: pace == Pace::Quick,
                only: Vec::new(),
            },
            time_limit: lab.time_limit.duration(),
            server_cores: cores.0,
            generator_cores: cores.1,
            rules,
            allowed: lab.allow.value().clone(),
            names_host: *lab.host_name,
            subjects,
            trees,
            workloads,
            steps,
            tasks,
            history,
        };
        found.sort();
        Ok((plan, found))
    }
}

/// How often each step is run, in which order.
pub(super) fn sets(lab: &Lab, pace: Pace) -> steps::Sets {
    let repeats = match pace {
        Pace::Full => *lab.repeats,
        Pace::Quick => *lab.quick.repeats.value().min(lab.repeats.value()),
    };
    steps::Sets {
        seed: *lab.seed,
        repeats,
    }
}

/// The cores of the server and of the generator; a warning where they share one.
fn cores(lab: &Lab, found: &mut Diagnostics) -> (Vec<u32>, Vec<u32>) {
    let (server, generator) = (&lab.cores.server, &lab.cores.generator);
    if let Some(shared) = server.iter().find(|core| generator.contains(core)) {
        let message = format!("core {shared} is given to the server and to the generator");
        let warning = Diagnostic::warning(generator.span(), message);
        found.push(warning.note("each takes time from the other: figures tell of both together"));
    }
    (server.value().clone(), generator.value().clone())
}

fn of_history(history: &History, lab: &Lab, found: &mut Diagnostics) -> record::History {
    let subjects = if lab.task.is_empty() {
        Names::new("subject", lab.subject.names())
    } else {
        Names::new("task", lab.task.names())
    };
    let workloads = Names::new("workload", lab.workload.names());
    let mut check = |names: &Names<'_>, name: &Setting<Option<String>>| {
        if let Some(text) = name.value() {
            names.index(text, name.span(), found);
        }
    };
    let figures = history.figure.iter().map(|one| {
        check(&subjects, &one.subject);
        check(&workloads, &one.workload);
        record::OldFigure {
            what: one.what.value().clone(),
            subject: one.subject.value().clone(),
            workload: one.workload.value().clone(),
            phase: one.phase.value().clone(),
            connections: *one.connections,
            figure: one.figure.as_str().to_owned(),
            said: one.said.value().clone(),
            wrong: one.wrong.value().clone(),
        }
    });
    record::History {
        source: history.source.value().clone(),
        figures: figures.collect(),
        mistakes: history.mistakes.value().clone(),
    }
}
