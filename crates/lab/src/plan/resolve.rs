//! From the sections of a lab file to a plan.

use std::path::Path;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, cited, nearest};

use super::types::Plan;
use super::{rules, steps, subjects, tasks, workloads};
use crate::document::{History, Lab};
use crate::record;
use crate::record::{LabFile, Shortened};

/// Whether the lab is run in full or shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The lab file as it is.
    Full,
    /// Shortened by the settings of `[quick]`.
    Quick,
}

impl Plan {
    /// Resolves a lab file in `folder` to a plan with warnings, or to all errors.
    pub fn resolve(
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
            trees = workloads::resolve_trees(lab, pace, &mut found);
            workloads = workloads::resolve(lab, &trees, pace, &mut found);
        }
        let rules = rules::resolve(lab, &workloads, &mut found);
        let cores = cores(lab, &mut found);
        let history = lab.history.as_ref().map(|history| of_history(history, lab, &mut found));
        if found.has_errors() {
            found.sort();
            return Err(found);
        }
        let sets = sets(lab, pace);
        let steps = steps::resolve(&workloads, sets);
        if steps.len() > steps::STEPS_MAX {
            let message = format!(
                "the lab has {} steps, at most {} are allowed",
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
            shortened: Shortened { quick: pace == Pace::Quick, only: Vec::new() },
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
    steps::Sets { seed: *lab.seed, repeats }
}

/// The cores of the server and of the generator; a warning if they share one.
fn cores(lab: &Lab, found: &mut Diagnostics) -> (Vec<u32>, Vec<u32>) {
    let (server, generator) = (&lab.cores.server, &lab.cores.generator);
    if let Some(shared) = server.iter().find(|core| generator.contains(core)) {
        let message = format!("core {shared} is used by the server and by the generator");
        let warning = Diagnostic::warning(generator.span(), message);
        found.push(
            warning.note("each slows down the other: the figures are those of both together"),
        );
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

/// Finds names by their place in the file.
pub(super) struct Names<'n> {
    /// What they are names of, in the singular.
    noun: &'static str,
    known: Vec<&'n str>,
}

impl<'n> Names<'n> {
    /// The names of `noun`.
    pub(super) fn new(noun: &'static str, known: impl Iterator<Item = &'n str>) -> Self {
        Self { noun, known: known.collect() }
    }

    /// The index of a name; a finding at `span` if it is unknown.
    pub(super) fn index(&self, name: &str, span: Span, found: &mut Diagnostics) -> Option<usize> {
        let index = self.known.iter().position(|known| *known == name);
        if index.is_none() {
            let message = format!("there is no {} `{}`", self.noun, cited(name));
            let mut problem =
                Diagnostic::error(span, message).nearest(nearest(name, self.known.iter().copied()));
            if !self.known.is_empty() {
                problem = problem.expected(format!("one of {}", list(&self.known)));
            }
            found.push(problem);
        }
        index
    }

    /// The indices of a list of names, in the order of the list; of all where the list is empty.
    pub(super) fn indices(
        &self,
        list: &Setting<Vec<String>>,
        found: &mut Diagnostics,
    ) -> Vec<usize> {
        if list.is_empty() {
            return (0..self.known.len()).collect();
        }
        let indices = list.iter().filter_map(|name| self.index(name, list.span(), found));
        let mut indices: Vec<usize> = indices.collect();
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

fn list(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
