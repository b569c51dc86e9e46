//! A lab from its first step to its last.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::options::{Options, RunError};
use super::resume::Out;
use super::servers::Servers;
use super::stage::Stage;
use super::step::{self, Common};
use super::{resume, resume::unix_ms, tasks};
use crate::fairness::{self, Refusal};
use crate::plan::{Plan, PlannedStep};
use crate::record::{Journal, JournalLine, LabRecord, Role, write_record};
use crate::subject::Missing;
use crate::workload::targets;

/// Runs the remaining steps of a lab and returns its record.
pub fn run(plan: &Plan, options: &mut Options<'_>) -> Result<LabRecord, RunError> {
    if plan.is_of_tasks() {
        return tasks::run(plan, options);
    }
    let out = Out::open(&options.out)?;
    let stage = Stage::set(plan, &options.ceiling)?;
    announce(&stage, options)?;
    let there = plan.steps.iter().filter(|step| stage.can_run(step));
    let subjects = resume::subjects(&stage);
    let head = resume::head(plan, &options.program, there.count(), subjects);
    let (mut journal, mut record) = resume::open(plan, &out, head)?;
    if record.ended_unix_ms.is_some() {
        options.progress.message("all steps of this lab are done");
        return Ok(record);
    }
    if !record.steps.is_empty() {
        let text =
            format!("resuming after {} of {} steps", record.steps.len(), record.head.steps_planned);
        options.progress.message(&text);
    }
    let gate = fairness::pass(&stage, &mut |text| options.progress.message(&text));
    append(&mut journal, &out, &JournalLine::Fairness(gate.rows.clone()))?;
    record.fairness.clone_from(&gate.rows);
    if let Some(refusal) = Refusal::new(&gate.rows, &plan.allowed) {
        return Err(RunError::Unfair(refusal));
    }
    let targets: Vec<_> = plan.workloads.iter().map(|workload| targets(plan, workload)).collect();
    let interrupted = options.interrupted;
    let common = Common { stage: &stage, gate: &gate, targets: &targets, interrupted };
    steps(&common, options, &mut journal, &out, &mut record)?;
    end(&mut journal, &out, &mut record)?;
    Ok(record)
}

/// Ends a lab: writes its record as one file.
pub(super) fn end(
    journal: &mut Journal,
    out: &Out,
    record: &mut LabRecord,
) -> Result<(), RunError> {
    let ended_unix_ms = unix_ms();
    append(journal, out, &JournalLine::End { ended_unix_ms })?;
    record.ended_unix_ms = Some(ended_unix_ms);
    write_record(&out.record(), record).map_err(RunError::Record)
}

/// Reports skipped subjects; an error if none are left.
fn announce(stage: &Stage<'_>, options: &mut Options<'_>) -> Result<(), RunError> {
    let subjects = stage.plan.subjects.iter().zip(stage.found());
    let mut there = 0;
    for (subject, found) in subjects {
        match found {
            Ok(_) if subject.role == Role::Contestant => there += 1,
            Ok(_) => {}
            Err(Missing(why)) => {
                options.progress.message(&format!("{} skipped: {why}", subject.name));
            }
        }
    }
    for (_, reason) in &stage.unusable {
        options.progress.message(&format!("left out: {reason}"));
    }
    if there == 0 { Err(RunError::NobodyThere) } else { Ok(()) }
}

/// The steps that are left.
fn steps(
    common: &Common<'_>,
    options: &mut Options<'_>,
    journal: &mut Journal,
    out: &Out,
    record: &mut LabRecord,
) -> Result<(), RunError> {
    let plan = common.stage.plan;
    let begin = Instant::now();
    let done: BTreeSet<u32> = record.steps.iter().map(|step| step.order).collect();
    let is_left = |step: &&PlannedStep| !done.contains(&step.order) && common.stage.can_run(step);
    let mut servers = Servers::default();
    let of = usize::try_from(record.head.steps_planned).unwrap_or(usize::MAX);
    for planned in plan.steps.iter().filter(is_left) {
        if common.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if begin.elapsed() + plan.step_time(planned) > plan.time_limit {
            options
                .progress
                .message("time limit of the lab reached: the remaining steps are left out");
            break;
        }
        let step = step::run(common, planned, &mut servers, options.measurer);
        let step = step.map_err(RunError::Measure)?;
        // A load that was interrupted is not a measurement: the step is repeated when the lab goes
        // on.
        if common.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        append(journal, out, &JournalLine::Step(Box::new(step.clone())))?;
        options.progress.step(record.steps.len() + 1, of, &step);
        record.steps.push(step);
    }
    Ok(())
}

pub(super) fn append(
    journal: &mut Journal,
    out: &Out,
    entry: &JournalLine,
) -> Result<(), RunError> {
    journal.append(entry).map_err(|error| RunError::Folder(out.journal(), error))
}
