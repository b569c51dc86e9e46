//! Passing the gate: each subject is started for each of its workloads, looked at, and ended.

use std::collections::BTreeMap;

use super::compare::rows;
use super::examine::{ExaminedSubject, examine};
use crate::record::{FairnessRow, Outcome, Role};
use crate::runner::Stage;
use crate::workload::targets;

/// What the gate found.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// The table of properties by subject.
    pub rows: Vec<FairnessRow>,
    /// Subjects that cannot be measured, by workload and subject: their steps are recorded so,
    /// without another try.
    pub broken: BTreeMap<(usize, usize), Outcome>,
    /// Response body for each workload, which the ceiling sends too.
    pub contents: BTreeMap<usize, Vec<u8>>,
}

/// Examines all installed subjects, and reports each to `say`.
pub fn pass(stage: &Stage<'_>, say: &mut dyn FnMut(String)) -> Gate {
    let mut gate = Gate::default();
    for (index, workload) in stage.plan.workloads.iter().enumerate() {
        let all = targets(stage.plan, workload);
        let target = all.first().map_or("/", String::as_str);
        let mut seen: Vec<(String, ExaminedSubject)> = Vec::new();
        for subject in workload
            .subjects
            .iter()
            .copied()
            .filter(|subject| stage.is_there(*subject))
            .filter(|subject| stage.plan.is_measured(index, *subject))
        {
            let planned = &stage.plan.subjects[subject];
            if planned.role == Role::Ceiling {
                continue;
            }
            say(format!("checking {} on {}", planned.name, workload.name));
            match examine_subject(stage, index, subject, target) {
                Ok(looked) => {
                    if let Some(reason) = looked.wrong.clone() {
                        gate.broken.insert((index, subject), Outcome::WrongAnswers { reason });
                    } else {
                        gate.contents.entry(index).or_insert_with(|| looked.content.clone());
                    }
                    seen.push((planned.name.clone(), looked));
                }
                Err(reason) => {
                    gate.broken.insert((index, subject), Outcome::NotReady { reason });
                }
            }
        }
        // One that answers wrongly is recorded as such and compared with nobody.
        seen.retain(|(_, looked)| looked.wrong.is_none());
        gate.rows.extend(rows(&workload.name, &seen, &stage.plan.allowed));
    }
    gate
}

fn examine_subject(
    stage: &Stage<'_>,
    workload: usize,
    subject: usize,
    target: &str,
) -> Result<ExaminedSubject, String> {
    let planned = &stage.plan.subjects[subject];
    let running = stage.start(workload, 0, subject, &[]).map_err(|error| error.to_string())?;
    let looked = examine(&stage.plan.workloads[workload], target, running.address, planned.log);
    looked.map_err(|error| format!("no response to {target}: {error}; output: {}", running.said()))
}
