//! The servers of one round: one alone, or all at once if they are loaded in turn.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vervet_watch::{Target, Watcher};

use super::generator::MeasureError;
use super::stage::apply_congestion;
use super::step::{self, ANSWER_MAX, Common};
use crate::document::Log;
use crate::plan::PlannedStep;
use crate::probe::{Probe, ProbeError};
use crate::record::Outcome;
use crate::subject::Running;
use crate::workload::request;

/// How often the access log of a server is truncated. A log that only grows takes memory that
/// nothing has used yet; on a virtual machine the hypervisor provides each page of it at the first
/// access, which took up to twelve times as long as writing to memory that had been used.
const TRUNCATE_EVERY: Duration = Duration::from_millis(100);

/// How long a server that listens is left alone before its idle memory is read: it may still
/// release the pages that it needed only to start.
const SETTLE: Duration = Duration::from_millis(200);

/// The servers that are up.
#[derive(Default)]
pub(super) struct Servers {
    round: Option<[u64; 3]>,
    up: BTreeMap<usize, Result<Server, Outcome>>,
}

/// A running server that is ready.
pub(super) struct Server {
    pub(super) running: Running,
    /// The request that is sent before and after each load to check the server.
    pub(super) request: Vec<u8>,
    pub(super) targets: Vec<Target>,
    pub(super) rss_idle_bytes: Option<u64>,
    /// What its first load begins with; later windows need no warm-up.
    pub(super) warm_up: Duration,
    _idle: Vec<Probe>,
    _log: Option<LogTruncation>,
}

impl Servers {
    /// The server of a step, or why it cannot be loaded. The servers of the round before end.
    pub(super) fn server_for(
        &mut self,
        common: &Common<'_>,
        planned: &PlannedStep,
    ) -> Result<&mut Result<Server, Outcome>, MeasureError> {
        let plan = common.stage.plan;
        let in_turn = plan.load(planned).window.is_some();
        if !in_turn || self.round != Some(planned.round()) {
            self.up.clear();
            if let Some(control) = &plan.workload(planned).congestion {
                apply_congestion(control).map_err(MeasureError)?;
            }
            let mut subjects = vec![planned.subject];
            if in_turn {
                let is_up = |subject: &usize| {
                    common.stage.is_there(*subject)
                        && plan.is_measured(planned.workload, *subject)
                        && !common.gate.broken.contains_key(&(planned.workload, *subject))
                };
                let all = plan.workload(planned).subjects.iter().copied();
                subjects = all.filter(is_up).collect();
            }
            for subject in subjects {
                let planned = PlannedStep { subject, ..*planned };
                let started = match Server::start(common, &planned) {
                    Ok(server) => Ok(server),
                    Err(StartError::Subject(outcome)) => Err(outcome),
                    Err(StartError::Lab(error)) => return Err(error),
                };
                self.up.insert(subject, started);
            }
            self.round = Some(planned.round());
        }
        let server = self.up.get_mut(&planned.subject);
        server.ok_or_else(|| MeasureError("a subject of the round was not started".to_owned()))
    }

    /// Ends a server; later windows of the round have its outcome.
    pub(super) fn end(&mut self, subject: usize, outcome: Outcome) {
        self.up.insert(subject, Err(outcome));
    }
}

/// Why a server did not start.
enum StartError {
    /// The subject failed: the outcome of its steps.
    Subject(Outcome),
    /// The lab failed.
    Lab(MeasureError),
}

impl Server {
    fn start(common: &Common<'_>, planned: &PlannedStep) -> Result<Self, StartError> {
        let plan = common.stage.plan;
        let load = plan.load(planned);
        let arguments = step::ceiling_arguments(common, planned).map_err(StartError::Lab)?;
        let not_ready = |reason| StartError::Subject(Outcome::NotReady { reason });
        let started =
            common.stage.start(planned.workload, planned.load, planned.subject, &arguments);
        let mut running = started.map_err(|error| not_ready(error.to_string()))?;
        let subject = plan.subject(planned);
        let targets = step::watched(subject, &running);
        running.settle(SETTLE);
        let rss_idle_bytes = rss_bytes(&targets);
        let request = one_request(common, planned, &running);
        if let Some(outcome) = step::first_answer(common, planned, &mut running, &request) {
            return Err(StartError::Subject(outcome));
        }
        let idle = idle_connections(common, planned, &running).map_err(not_ready)?;
        let log = (subject.log == Log::Access).then(|| LogTruncation::start(running.access_log()));
        Ok(Self {
            running,
            request,
            targets,
            rss_idle_bytes,
            warm_up: load.warm_up,
            _idle: idle,
            _log: log,
        })
    }
}

/// A request for the first target, on a connection of its own.
fn one_request(common: &Common<'_>, planned: &PlannedStep, running: &Running) -> Vec<u8> {
    let workload = common.stage.plan.workload(planned);
    let target = first_target(common, planned);
    request(workload, target, running.address, &["Connection: close"])
}

fn first_target<'a>(common: &'a Common<'_>, planned: &PlannedStep) -> &'a str {
    let first = common.targets[planned.workload].first();
    first.unwrap_or(&common.stage.plan.workload(planned).request.target)
}

/// Opens the idle connections of a load: each gets one response and stays open.
fn idle_connections(
    common: &Common<'_>,
    planned: &PlannedStep,
    running: &Running,
) -> Result<Vec<Probe>, String> {
    let plan = common.stage.plan;
    let address = running.address;
    let bytes = request(plan.workload(planned), first_target(common, planned), address, &[]);
    let open = || {
        let mut probe = Probe::connect(address, ANSWER_MAX)?;
        probe.ask(&bytes)?;
        Ok(probe)
    };
    let count = plan.load(planned).idle_connections;
    let opened: Result<Vec<Probe>, ProbeError> = (0..count).map(|_| open()).collect();
    opened.map_err(|error| format!("cannot open an idle connection: {error}"))
}

/// Resident memory of a server before the first request, in bytes.
fn rss_bytes(targets: &[Target]) -> Option<u64> {
    let of = |target: &Target| {
        let mut watcher = Watcher::open(target).ok()?;
        Some(watcher.sample(Instant::now()).rss_bytes)
    };
    let sum: u64 = targets.iter().map(of).sum::<Option<u64>>()?;
    (sum > 0).then_some(sum)
}

/// Truncates a log every 100 ms until it is dropped. Its writer has to append.
struct LogTruncation {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogTruncation {
    fn start(log: PathBuf) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let work = move || {
            while stopped.recv_timeout(TRUNCATE_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Ok(file) = File::options().write(true).open(&log) {
                    // One that fails is made up for by the next.
                    let _ = file.set_len(0);
                }
            }
        };
        Self { stop: Some(stop), thread: Some(std::thread::spawn(work)) }
    }
}

impl Drop for LogTruncation {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
