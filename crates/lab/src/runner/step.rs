//! One step: a subject is started, loaded, looked at and ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vervet_report::{Finding, Reuse, Run, Verdict};
use vervet_watch::Target;

use super::generator::{MeasureError, Measurer, Order};
use super::resume::unix_ms;
use super::servers::{Server, Servers};
use super::stage::Stage;
use super::watching::{Watching, unwatched};
use crate::fairness::{Gate, wrong};
use crate::plan::{PlannedLoad, PlannedStep, PlannedSubject, SubjectStart};
use crate::probe;
use crate::record::{Outcome, Step, StoredRun, Watched};
use crate::subject::Running;

/// How much of a step a thread of the generator may wait for a core that others have, in
/// thousandths.
const WAITED_PERMILLE_MAX: u32 = 500;
/// Minimum length of a window for this rule, in microseconds; shorter ones are bursts.
const WINDOW_US_MIN: u64 = 500_000;
/// Timeout of the response before a load.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How often a window is measured again because others had a core.
const AGAIN_MAX: u32 = 3;
/// For how much of a window server or generator may wait for its core, in thousandths. That is
/// decided by the scheduler's clock, not by what the window measured.
const DISTURBED_PERMILLE: u32 = 50;

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
    servers: &mut Servers,
    measurer: &mut dyn Measurer,
) -> Result<Step, MeasureError> {
    let mut step = blank(common, planned);
    if let Some(outcome) = common.gate.broken.get(&(planned.workload, planned.subject)) {
        step.outcome = outcome.clone();
        return Ok(step);
    }
    let server = match servers.server_for(common, planned)? {
        Ok(server) => server,
        Err(outcome) => {
            step.outcome = outcome.clone();
            return Ok(step);
        }
    };
    step.began_unix_ms = unix_ms();
    let mut run = load_once(common, planned, server, &mut step, measurer)?;
    while step.window.is_some()
        && step.measured_again < AGAIN_MAX
        && is_disturbed(&step, &run)
        && !common.interrupted.load(Ordering::Relaxed)
    {
        step.measured_again += 1;
        run = load_once(common, planned, server, &mut step, measurer)?;
    }
    step.outcome = outcome(&mut server.running, &server.request);
    step.audit = remarks(&step, &run);
    let stored = StoredRun::new(&run).map_err(|error| MeasureError(error.to_string()))?;
    step.run = Some(stored);
    if step.window.is_none() || step.outcome != Outcome::Measured {
        servers.end(planned.subject, step.outcome.clone());
    }
    Ok(step)
}

/// Loads a server for its time, or for a window of it, and watches it.
fn load_once(
    common: &Common<'_>,
    planned: &PlannedStep,
    server: &mut Server,
    step: &mut Step,
    measurer: &mut dyn Measurer,
) -> Result<Run, MeasureError> {
    let plan = common.stage.plan;
    let whole = plan.load(planned);
    let load = PlannedLoad {
        duration: whole.window.unwrap_or(whole.duration).min(whole.duration),
        warm_up: std::mem::take(&mut server.warm_up),
        ..whole.clone()
    };
    let watching = Watching::begin(&server.targets);
    let run = measurer.measure(&Order {
        address: server.running.address,
        workload: plan.workload(planned),
        targets: &common.targets[planned.workload],
        load: &load,
        cores: &plan.generator_cores,
        seed: plan.seed ^ u64::from(planned.order),
        interrupted: common.interrupted,
    })?;
    step.server = match watching {
        Ok(watching) => watching.end(&run),
        Err(reason) => unwatched(reason),
    };
    if let Watched::Valid(figures) = &mut step.server {
        figures.rss_idle_bytes = server.rss_idle_bytes;
    }
    Ok(run)
}

/// Whether others had a core of the server or of the generator for a part of a window.
fn is_disturbed(step: &Step, run: &Run) -> bool {
    let waited_ns = step.server.figures().and_then(|server| server.waited_ns);
    let bound_ns = run.achieved.window_us * u64::from(DISTURBED_PERMILLE);
    waited_ns.is_some_and(|waited_ns| waited_ns > bound_ns)
        || waited_permille(run) > DISTURBED_PERMILLE
}

/// How long the threads of the generator waited for a core, in thousandths of the window.
fn waited_permille(run: &Run) -> u32 {
    let generator = &run.generator;
    generator.occupied_thread_permille.saturating_sub(generator.busiest_thread_permille)
}

/// The processes of a subject: those that the lab has started, or the one that the file names.
pub(super) fn watched(subject: &PlannedSubject, running: &Running) -> Vec<Target> {
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
        load: load.point(),
        repeat: planned.repeat,
        window: load.window.map(|_| planned.window),
        measured_again: 0,
        began_unix_ms: unix_ms(),
        outcome: Outcome::Measured,
        run: None,
        server: unwatched("nothing was applied"),
        audit: Vec::new(),
    }
}

/// The ceiling sends the same response as the subjects.
pub(super) fn ceiling_arguments(
    common: &Common<'_>,
    planned: &PlannedStep,
) -> Result<Vec<String>, MeasureError> {
    let plan = common.stage.plan;
    if !matches!(plan.subject(planned).start, SubjectStart::Ceiling) {
        return Ok(Vec::new());
    }
    let empty = Vec::new();
    let content = common.gate.contents.get(&planned.workload).unwrap_or(&empty);
    let name = format!("canned-{}", planned.workload);
    let file = common.stage.file(&name, content);
    let file =
        file.map_err(|error| MeasureError(format!("cannot write the canned response: {error}")))?;
    let mut arguments = vec!["--canned-file".to_owned(), file.display().to_string()];
    if plan.load(planned).reuse == Reuse::Close {
        arguments.push("--canned-close".to_owned());
    }
    Ok(arguments)
}

/// Checks one response before the load; a wrong one ends the step.
pub(super) fn first_answer(
    common: &Common<'_>,
    planned: &PlannedStep,
    running: &mut Running,
    request: &[u8],
) -> Option<Outcome> {
    let workload = common.stage.plan.workload(planned);
    let answer = probe::once(running.address, request, ANSWER_MAX);
    if let Some(status) = running.ended() {
        let reason = format!("exited ({status}); output: {}", running.said());
        return Some(Outcome::Crashed { reason });
    }
    let reason = match answer {
        Err(error) => Some(format!("no response to a request: {error}")),
        Ok(answer) => wrong(workload, &answer),
    };
    reason.map(|reason| Outcome::WrongAnswers { reason })
}

/// What became of the subject under the load.
fn outcome(running: &mut Running, request: &[u8]) -> Outcome {
    let answers = running.answers(request);
    match (running.ended(), answers) {
        (Some(status), _) => Outcome::Crashed {
            reason: format!("exited under load ({status}); output: {}", running.said()),
        },
        (None, false) => Outcome::Crashed {
            reason: format!("running, but no longer responding; output: {}", running.said()),
        },
        (None, true) => Outcome::Measured,
    }
}

/// What the lab itself finds against the figures, in addition to the generator.
fn remarks(step: &Step, run: &Run) -> Vec<Finding> {
    let mut remarks = Vec::new();
    let wrong = run.errors.wrong_status + run.errors.wrong_content;
    if wrong > 0 {
        remarks.push(Finding {
            rule: "wrong_answers".to_owned(),
            verdict: Verdict::Failed,
            measured: format!("{wrong} responses that the workload does not expect"),
            bound: "none".to_owned(),
            meaning: "the subject did different work than the others".to_owned(),
            advice: "check its responses: status, length and body".to_owned(),
        });
    }
    remarks.extend(starved(run));
    if let Outcome::Crashed { reason } = &step.outcome {
        remarks.push(Finding {
            rule: "crash".to_owned(),
            verdict: Verdict::Failed,
            measured: reason.clone(),
            bound: "the subject runs until the end of the step".to_owned(),
            meaning: "the figures of this step do not count".to_owned(),
            advice: "find out why it exited".to_owned(),
        });
    }
    remarks
}

/// A generator that others keep from its cores is slow whatever the server does.
fn starved(run: &Run) -> Option<Finding> {
    let waited = waited_permille(run);
    let is_told = run.achieved.window_us >= WINDOW_US_MIN && waited > WAITED_PERMILLE_MAX;
    is_told.then(|| Finding {
        rule: "generator_starved".to_owned(),
        verdict: Verdict::Failed,
        measured: format!(
            "a thread of the generator waited for its core for {:.1} % of the time",
            f64::from(waited) / 10.0
        ),
        bound: format!("at most {} %", WAITED_PERMILLE_MAX / 10),
        meaning: "other processes used the cores of the generator: rate and times include waiting for a core"
            .to_owned(),
        advice: "run nothing else on the cores of the generator, and give the server others (`cores`)"
            .to_owned(),
    })
}
