//! A run from its start to its report: starts the threads, merges their results and audits them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use vervet_engine::reactor::{Command, Handle, Receipt};
use vervet_report::{Interval, KernelCounters, Run, RunSettings};

use crate::audit;
use crate::clock::{ms, now_ns, unix_ms};
use crate::collect::Collector;
use crate::generator::{Report, Start, Stop, Thread};
use crate::kernel;
use crate::plan::{Plan, PlanError};

/// The program, with its version, as reports name it.
pub const TOOL: &str = concat!("vervet ", env!("CARGO_PKG_VERSION"));

/// Between the moment when all threads are ready and the first due time.
const LEAD: Duration = Duration::from_millis(2);

/// A run whose threads wait for the start, with their users created. Dropping it ends the threads.
#[derive(Debug)]
pub struct Prepared {
    plan: Arc<Plan>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<Result<(), Errno>>>,
    starts: Vec<Sender<Start>>,
    control: Control,
}

/// A run in progress.
#[derive(Debug)]
pub struct Running {
    plan: Arc<Plan>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<Result<(), Errno>>>,
    control: Control,
    epoch_ns: u64,
    started_unix_ms: u64,
    kernel: KernelCounters,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// An interval of the window is over.
    Interval(&'a Interval),
    /// Time has passed without an interval.
    Time,
}

/// Stops a run from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    threads: Arc<Mutex<Vec<Handle<Stop>>>>,
}

impl Control {
    pub(crate) fn new(threads: Vec<Handle<Stop>>) -> Self {
        Self { threads: Arc::new(Mutex::new(threads)) }
    }

    /// Ends the run now; requests without a response are counted as censored. Has no effect after
    /// the end.
    pub fn stop(&self) {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.iter() {
            let (reply, _) = Receipt::new(1);
            thread.command(Command::Tell(Stop), reply);
        }
    }
}

/// Why a run could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The plan is invalid.
    Plan(PlanError),
    /// The system refused a thread or a file descriptor.
    System {
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
        errno: Errno,
    },
}

/// Starts a run.
///
/// # Errors
/// As [`prepare`].
pub fn start(plan: Plan) -> Result<Running, StartError> {
    Ok(prepare(plan)?.begin_within(LEAD))
}

/// Prepares a run, so that it can start at a time that the caller chooses.
///
/// # Errors
/// An invalid plan, or a system that refuses a thread.
pub fn prepare(plan: Plan) -> Result<Prepared, StartError> {
    plan.verify().map_err(StartError::Plan)?;
    let plan = Arc::new(plan);
    let threads_used = plan.threads_used();
    let (reports_to, reports) = mpsc::channel();
    let mut threads = Vec::new();
    let mut starts: Vec<Sender<Start>> = Vec::new();
    let mut handles = Vec::new();
    for index in 0..threads_used {
        let (ready_to, ready) = mpsc::channel();
        let (start_to, start) = mpsc::channel();
        let (plan, reports_to) = (Arc::clone(&plan), reports_to.clone());
        let share = plan.share(index);
        let core = plan.cores.get(index as usize % plan.cores.len().max(1)).copied();
        let work = move || {
            if let Some(core) = core {
                bind_to(core)?;
            }
            let thread = Thread::new(&plan, share, reports_to)?;
            // Both fail when the run is given up before it has begun.
            let _ = ready_to.send(thread.handle());
            match start.recv() {
                Ok(start) => thread.run(start),
                Err(_) => Ok(()),
            }
        };
        let builder = std::thread::Builder::new().name(format!("load-{index}"));
        let thread = builder.spawn(work).map_err(|error| StartError::System {
            what: "start a thread",
            errno: Errno::from_io_error(&error).unwrap_or(Errno::AGAIN),
        })?;
        let Ok(handle) = ready.recv() else {
            let errno = match thread.join() {
                Ok(Err(errno)) => errno,
                _ => Errno::INVAL,
            };
            let what = if core.is_some() { "bind a thread to its core" } else { "make a reactor" };
            return Err(StartError::System { what, errno });
        };
        handles.push(handle);
        starts.push(start_to);
        threads.push(thread);
    }
    Ok(Prepared { plan, reports, threads, starts, control: Control::new(handles) })
}

/// Runs a plan from start to end.
///
/// # Errors
/// As [`start`].
pub fn run(plan: Plan) -> Result<Run, StartError> {
    Ok(start(plan)?.finish(|_| {}))
}

impl Prepared {
    /// The plan of the run, as in the report.
    pub fn settings(&self) -> RunSettings {
        self.plan.settings()
    }

    /// Starts it: the first request is due, or the warm-up begins, after this time.
    pub fn begin_within(self, lead: Duration) -> Running {
        let kernel = kernel::counters();
        let epoch_ns = now_ns().saturating_add(crate::clock::ns(lead));
        for start in self.starts {
            // A thread that has ended already has said why.
            let _ = start.send(Start { epoch_ns });
        }
        Running {
            plan: self.plan,
            reports: self.reports,
            threads: self.threads,
            control: self.control,
            epoch_ns,
            started_unix_ms: unix_ms().saturating_add(ms(lead)),
            kernel,
        }
    }
}

impl Running {
    /// For changing the run while it is made.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// The plan of the run, as in the report.
    pub fn settings(&self) -> RunSettings {
        self.plan.settings()
    }

    /// Waits for the end of the run, and passes each completed interval to `each`.
    pub fn finish(self, mut each: impl FnMut(&Interval)) -> Run {
        self.finish_with_progress(Duration::MAX, |progress| {
            if let Progress::Interval(interval) = progress {
                each(interval);
            }
        })
    }

    /// Waits for the end, reports each interval of the window when it is over, and at least
    /// [`Progress::Time`] after each `every`.
    pub fn finish_with_progress(
        self,
        every: Duration,
        mut progress: impl FnMut(Progress<'_>),
    ) -> Run {
        let window_ns = self.epoch_ns + crate::clock::ns(self.plan.warm_up);
        let warm_up_ms = ms(self.plan.warm_up);
        let mut collector = Collector::new(&self.plan, self.threads.len(), window_ns);
        loop {
            let report = match self.reports.recv_timeout(every) {
                Ok(report) => report,
                Err(RecvTimeoutError::Timeout) => {
                    progress(Progress::Time);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            for interval in collector.add(report) {
                progress(Progress::Interval(&interval));
            }
            if collector.is_complete() {
                break;
            }
        }
        let mut thread_errors = BTreeSet::new();
        for thread in self.threads {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(errno)) => drop(thread_errors.insert(errno.to_string())),
                // A bug of ours. The figures of the other threads are reported all the same; the
                // audit fails the run.
                Err(_) => drop(thread_errors.insert("the thread panicked".to_owned())),
            }
        }
        for interval in collector.end() {
            progress(Progress::Interval(&interval));
        }
        let (mut run, evidence) = collector.finish(&self.plan);
        run.started_unix_ms = self.started_unix_ms.saturating_add(warm_up_ms);
        run.kernel = kernel::difference(&self.kernel, &kernel::counters());
        run.generator.thread_errors = thread_errors;
        run.findings = audit::findings(&run, &evidence);
        run
    }
}

fn bind_to(core: usize) -> Result<(), Errno> {
    if core >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL);
    }
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::System { what, errno } => write!(f, "cannot {what}: {errno}"),
        }
    }
}

impl std::error::Error for StartError {}
