//! How long a lab takes, before it is run.

use std::time::Duration;

use super::types::{Plan, PlannedStep};
use crate::hash::sha256_hex;
use crate::record::Role;

/// What starting, warming and ending a server takes beside the load, about.
const OVERHEAD: Duration = Duration::from_millis(900);

/// What a task takes, about: it takes its own time, which is what is asked.
const TASK: Duration = Duration::from_secs(2);

impl Plan {
    /// How long a step takes, about.
    pub fn step_time(&self, step: &PlannedStep) -> Duration {
        let load = self.load(step);
        let before = if step.window == 0 {
            load.warm_up + OVERHEAD
        } else {
            Duration::ZERO
        };
        before + load.window.unwrap_or(load.duration)
    }

    /// How long all of them take, about.
    pub fn estimate(&self) -> Duration {
        let steps: Duration = self.steps.iter().map(|step| self.step_time(step)).sum();
        let tasks = u32::try_from(self.tasks.steps.len()).unwrap_or(u32::MAX);
        steps + TASK.saturating_mul(tasks)
    }

    /// What the plan is known by: two plans that ask for the same have the same one.
    pub fn signature(&self) -> String {
        let loads: Vec<_> = self
            .workloads
            .iter()
            .map(|workload| &workload.loads)
            .collect();
        let text = format!(
            "{:?} {loads:?} {:?} {:?} {:?}",
            self.steps, self.trees, self.tasks, self.file.sha256
        );
        sha256_hex(text.as_bytes())
    }

    /// Leaves only the named subjects, and the ceiling. An unknown name is given back.
    pub fn keep_only(&mut self, names: &[String]) -> Result<(), String> {
        if names.is_empty() {
            return Ok(());
        }
        let known = self.names();
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(name.clone());
        }
        let tasks = &self.tasks.tasks;
        self.tasks
            .steps
            .retain(|step| names.contains(&tasks[step.task].name));
        let (subjects, workloads) = (&self.subjects, &self.workloads);
        let is_named = |subject: usize| names.contains(&subjects[subject].name);
        // The ceiling sends what a subject sends.
        let has_named = |workload: usize| {
            let mut subjects = workloads[workload].subjects.iter();
            subjects.any(|subject| is_named(*subject))
        };
        self.steps.retain(|step| {
            let is_ceiling = subjects[step.subject].role == Role::Ceiling;
            is_named(step.subject) || is_ceiling && has_named(step.workload)
        });
        self.shortened.only = names.to_vec();
        Ok(())
    }
}
