//! Services that outlive plans and stages: open folders and logs, filters with state, threads.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::error_log::{ErrorLog, Level};
use crate::files::FilesPool;
use crate::filters::blocks::Blocks;
use crate::log_sinks::{LogSinks, Target};
use crate::metrics::Metrics;
use crate::resources::Kept;
use crate::web::{TraceRule, Tracer};

/// The purpose of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To serve requests.
    Serve,
    /// To check the configuration: nothing is written, no log file is created.
    Rehearse,
}

/// The shared services of a server.
pub struct Tools {
    /// The pool of open folders.
    pub pool: Arc<FilesPool>,
    /// Filters with state, kept across reloads.
    pub kept: Kept,
    /// The networks that are blocked.
    pub blocks: Arc<Blocks>,
    /// The log targets that are open.
    pub logs: LogSinks,
    /// Events of the server itself.
    pub error_log: ErrorLog,
    /// The counters of requests.
    pub metrics: Metrics,
    /// Whether there is an admin service, which reads the metrics and blocks clients.
    pub has_admin: bool,
    /// The owner of new log files, if privileges will be dropped: a user and a group.
    pub owner: Option<(u32, u32)>,
    /// Which requests are traced; none where it is missing.
    pub(super) tracer: Option<Arc<Tracer>>,
    pub(super) purpose: Purpose,
}

impl Tools {
    /// Nothing is open yet. Events go to the error log.
    pub fn new(logs: LogSinks, error_log: ErrorLog) -> Self {
        Self {
            pool: Arc::new(FilesPool::with_log(error_log.clone())),
            kept: Kept::default(),
            blocks: Arc::default(),
            logs,
            metrics: Metrics::new(),
            has_admin: true,
            owner: None,
            tracer: None,
            purpose: Purpose::Serve,
            error_log,
        }
    }

    /// For a stage that is only tried: problems that would be logged later are dropped.
    pub(super) fn rehearsing() -> io::Result<Self> {
        let logs = LogSinks::new(|_| {});
        let sink = logs.open(&Target::Memory).map_err(io::Error::other)?;
        Ok(Self {
            purpose: Purpose::Rehearse,
            ..Self::new(logs, ErrorLog::new(&sink, Level::Error))
        })
    }

    /// Has requests traced that fit any of the rules.
    pub fn trace(&mut self, rules: &[TraceRule]) {
        let tracer = || Arc::new(Tracer::new(rules.to_vec()));
        self.tracer = (!rules.is_empty()).then(tracer);
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tools").finish_non_exhaustive()
    }
}
