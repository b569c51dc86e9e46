//! One step: a subject is started, loaded, looked at and ended.

use std::sync::atomic::AtomicBool;

use vervet_report::{Finding, Run, Verdict};
use vervet_watch::Target;

use super::measurer::{MeasureError, Measurer, Order};
use super::resume::unix_ms;
use super::stage::Stage;
use super::watching::{Watching, unwatched};
use crate::fairness::{Gate, wrong};
use crate::plan::{PlannedStep, PlannedSubject, Reuse, Way};
use crate::probe;
use crate::record::{Connections, LoadPoint, Outcome, Step, StoredRun};
use crate::subject::Running;
use crate::workload::request;

/// How much of a step a thread of the generator may wait for a core that others have, in thousandths.
const WAITED_PERMILLE_MAX: u32 = 500;
/// A shorter window is a burst, and says nothing of that, in microseconds.
const WINDOW_US_MIN: u64 = 500_000;
/// How long the answer before a load may take.
const ANSWER_MAX: std::time::Duration = std::time::Duration::from_secs(30);

/// What all steps share.
pub(super) struct Common<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) gate: &'a Gate,
    /// The request targets of each workload.
    pub(super) targets: &'a [Vec<String>],
    pub(super) interrupted: &'a AtomicBool,
}

/// Runs a step. An error is the generator's: nothing is known of the subject then.
pub(super) fn run(
    common: &Common<'_>,
    planned: &PlannedStep,
    measurer: &mut dyn Measurer,
) -> Result<Step, MeasureError> {
    let mut step = blank(common, planned);
    if let Some(outcome) = common.gate.broken.get(&(planned.workload, planned.subject)) {
        step.outcome = outcome.clone();
        return Ok(step);
    }
    let ceiling = ceiling_arguments(common, planned)?;
    let started = common
        .stage
        .start(planned.workload, planned.load, planned.subject, &ceiling);
    let mut running = match started {
        Ok(running) => running,
        Err(error) => {
            step.outcome = Outcome::NotReady {
                reason: error.to_string(),
            };
            return Ok(step);
        }
    };
    let asked = one_request(common, planned, &running);
    if let Some(outcome) = first_answer(common, planned, (&mut running, &asked)) {
        step.outcome = outcome;
        return Ok(step);
    }
    let plan = common.stage.plan;
    let watching = Watching::begin(&watched(plan.subject(planned), &running));
    step.began_unix_ms = unix_ms();
    let run = measurer.measure(&Order {
        address: running.address,
        workload: plan.workload(planned),
        targets: &common.targets[planned.workload],
        load: plan.load(planned),
        cores: &plan.generator_cores,
        seed: plan.seed ^ u64::from(planned.order),
        interrupted: common.interrupted,
    })?;
    step.server = match watching {
        Ok(watching) => watching.end(&run),
        Err(unwatched) => unwatched,
    };
    step.outcome = outcome(&mut running, &asked);
    step.audit = remarks(&step, &run);
    let stored = StoredRun::of(&run).map_err(|error| MeasureError(error.to_string()))?;
    step.run = Some(stored);
    running.stop();
    Ok(step)
}

/// The processes of a subject: those that the lab has started, or the one that the file names.
fn watched(subject: &PlannedSubject, running: &Running) -> Vec<Target> {
    match &subject.process {
        Some(process) => process.parse().into_iter().collect(),
        None => running.pids().into_iter().map(Target::Pid).collect(),
    }
}

fn blank(common: &Common<'_>, planned: &PlannedStep) -> Step {
    let plan = common.stage.plan;
    let load = plan.load(planned);
    Step {
        order: planned.order,
        subject: plan.subject(planned).name.clone(),
        workload: plan.workload(planned).name.clone(),
        load: LoadPoint {
            shape: load.shape,
            connections: match load.reuse {
                Reuse::Close => Connections::Close,
                Reuse::Keep | Reuse::Requests(_) => Connections::KeepAlive,
            },
        },
        repeat: planned.repeat,
        began_unix_ms: unix_ms(),
        outcome: Outcome::Measured,
        run: None,
        server: unwatched("nothing was applied"),
        audit: Vec::new(),
    }
}

/// What the ceiling answers: what the subjects do.
fn ceiling_arguments(
    common: &Common<'_>,
    planned: &PlannedStep,
) -> Result<Vec<String>, MeasureError> {
    let plan = common.stage.plan;
    if !matches!(plan.subject(planned).way, Way::Ceiling) {
        return Ok(Vec::new());
    }
    let empty = Vec::new();
    let content = common
        .gate
        .contents
        .get(&planned.workload)
        .unwrap_or(&empty);
    let name = format!("canned-{}", planned.workload);
    let file = common.stage.file(&name, content);
    let file =
        file.map_err(|error| MeasureError(format!("cannot write the canned answer: {error}")))?;
    let mut arguments = vec!["--content".to_owned(), file.display().to_string()];
    if plan.load(planned).reuse == Reuse::Close {
        arguments.push("--close".to_owned());
    }
    Ok(arguments)
}

/// A request for the first target, on a connection of its own.
fn one_request(common: &Common<'_>, planned: &PlannedStep, running: &Running) -> Vec<u8> {
    let target = common.targets[planned.workload].first();
    let workload = common.stage.plan.workload(planned);
    let target = target.unwrap_or(&workload.request.target);
    request(workload, target, running.address, &["Connection: close"])
}

/// One answer before the load; what is wrong with it ends the step.
fn first_answer(
    common: &Common<'_>,
    planned: &PlannedStep,
    (running, asked): (&mut Running, &[u8]),
) -> Option<Outcome> {
    let workload = common.stage.plan.workload(planned);
    let answer = probe::once(running.address, asked, ANSWER_MAX);
    if let Some(status) = running.ended() {
        let reason = format!("it ended ({status}); it said: {}", running.said());
        return Some(Outcome::Crashed { reason });
    }
    let reason = match answer {
        Err(error) => Some(format!("a request is not answered: {error}")),
        Ok(answer) => wrong(workload, &answer),
    };
    reason.map(|reason| Outcome::WrongAnswers { reason })
}

/// What became of the subject under the load.
fn outcome(running: &mut Running, request: &[u8]) -> Outcome {
    let answers = running.answers(request);
    match (running.ended(), answers) {
        (Some(status), _) => Outcome::Crashed {
            reason: format!(
                "it ended under the load ({status}); it said: {}",
                running.said()
            ),
        },
        (None, false) => Outcome::Crashed {
            reason: format!(
                "it runs and does not answer any more; it said: {}",
                running.said()
            ),
        },
        (None, true) => Outcome::Measured,
    }
}

/// What the lab itself finds against the figures, beside what the generator found.
fn remarks(step: &Step, run: &Run) -> Vec<Finding> {
    let mut remarks = Vec::new();
    let wrong = run.errors.wrong_status + run.errors.wrong_content;
    if wrong > 0 {
        remarks.push(Finding {
            rule: "wrong_answers".to_owned(),
            verdict: Verdict::Failed,
            measured: format!("{wrong} answers that the workload does not expect"),
            bound: "none".to_owned(),
            meaning: "the subject did not do the work that the others did".to_owned(),
            advice: "look at what it answers: status, length and content".to_owned(),
        });
    }
    remarks.extend(starved(run));
    if let Outcome::Crashed { reason } = &step.outcome {
        remarks.push(Finding {
            rule: "crash".to_owned(),
            verdict: Verdict::Failed,
            measured: reason.clone(),
            bound: "the subject runs to the end of the step".to_owned(),
            meaning: "what was measured until then is no figure of it".to_owned(),
            advice: "find out why it ended before measuring it".to_owned(),
        });
    }
    remarks
}

/// A generator that others keep from its cores is slow whatever the server does.
fn starved(run: &Run) -> Option<Finding> {
    let generator = &run.generator;
    let waited = generator
        .occupied_thread_permille
        .saturating_sub(generator.busiest_thread_permille);
    let is_told = run.achieved.window_us >= WINDOW_US_MIN && waited > WAITED_PERMILLE_MAX;
    is_told.then(|| Finding {
        rule: "generator_starved".to_owned(),
        verdict: Verdict::Failed,
        measured: format!(
            "a thread of the generator waited for a core for {:.1} % of the time",
            f64::from(waited) / 10.0
        ),
        bound: format!("at most {} %", WAITED_PERMILLE_MAX / 10),
        meaning: "others had the cores of the generator: rate and times are those of the line for a core"
            .to_owned(),
        advice: "let nothing else run on the cores of the generator, and give the server others (`cores`)"
            .to_owned(),
    })
}
