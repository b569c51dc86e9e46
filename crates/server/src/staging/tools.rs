//! What outlives plans and stages: open folders and logs, memories, threads.

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

/// What a stage is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To serve.
    Serve,
    /// To see whether it could: nothing is written, no log file is made.
    Rehearse,
}

/// What the parts of a server are made with.
pub struct Tools {
    /// Folders that are open.
    pub pool: Arc<FilesPool>,
    /// Filters that remember something.
    pub kept: Kept,
    /// Who is blocked for now.
    pub blocks: Arc<Blocks>,
    /// Log targets that are open.
    pub logs: LogSinks,
    /// Events of the server itself.
    pub error_log: ErrorLog,
    /// What has been answered.
    pub metrics: Metrics,
    /// Whether there is an admin service, which reads the metrics and blocks clients.
    pub has_admin: bool,
    /// Whom log files are given to, when privileges are to be dropped: a user and a group.
    pub owner: Option<(u32, u32)>,
    /// Which requests are traced; none where it is missing.
    pub(super) tracer: Option<Arc<Tracer>>,
    pub(super) purpose: Purpose,
}

impl Tools {
    /// Nothing is open yet. Events go to the error log.
    pub fn new(logs: LogSinks, error_log: ErrorLog) -> Self {
        Self {
            pool: Arc::default(),
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
