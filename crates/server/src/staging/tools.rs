//! What outlives plans and stages: open folders and logs, memories, threads.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use vervet_engine::reactor::Now;

use super::kept::Kept;
use crate::access_log::{Logs, Target};
use crate::error_log::{ErrorLog, Level};
use crate::files_pool::FilesPool;
use crate::filters::basic_auth::{Say, Verifier};
use crate::filters::blocks::Blocks;
use crate::metrics::Metrics;
use crate::pages::{Journal, PageSetup};
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
    pub logs: Logs,
    /// Events of the server itself.
    pub error_log: ErrorLog,
    /// What has been answered.
    pub metrics: Metrics,
    /// Whom log files are given to, when privileges are to be dropped: a user and a group.
    pub owner: Option<(u32, u32)>,
    /// Which requests are traced; none where it is missing.
    pub(super) tracer: Option<Arc<Tracer>>,
    pub(super) purpose: Purpose,
    journal: Arc<dyn Journal>,
    verifier: OnceLock<Arc<Verifier>>,
}

impl Tools {
    /// Nothing is open yet. Events go to the error log.
    pub fn new(logs: Logs, error_log: ErrorLog) -> Self {
        Self {
            pool: Arc::default(),
            kept: Kept::default(),
            blocks: Arc::default(),
            logs,
            metrics: Metrics::new(),
            owner: None,
            tracer: None,
            purpose: Purpose::Serve,
            journal: Arc::new(PageJournal(error_log.clone())),
            error_log,
            verifier: OnceLock::new(),
        }
    }

    /// For a stage that is only tried. What would be told later is not.
    pub(super) fn rehearsing() -> io::Result<Self> {
        let logs = Logs::new(|_| {});
        let outlet = logs.open(&Target::Memory).map_err(io::Error::other)?;
        Ok(Self {
            purpose: Purpose::Rehearse,
            ..Self::new(logs, ErrorLog::new(&outlet, Level::Error))
        })
    }

    /// Has requests traced that fit any of the rules.
    pub fn trace(&mut self, rules: &[TraceRule]) {
        let tracer = || Arc::new(Tracer::new(rules.to_vec()));
        self.tracer = (!rules.is_empty()).then(tracer);
    }

    /// What pages are made with.
    pub(super) fn page_setup<'s>(&'s self, server: &'s str) -> PageSetup<'s> {
        PageSetup {
            server,
            journal: &self.journal,
            caches: self.pool.caches(),
            now: Now::read(),
        }
    }

    /// The thread that verifies passwords, started when it is first needed.
    pub(super) fn verifier(&self) -> io::Result<Arc<Verifier>> {
        if let Some(verifier) = self.verifier.get() {
            return Ok(Arc::clone(verifier));
        }
        let started = Verifier::start(1)?;
        Ok(Arc::clone(self.verifier.get_or_init(|| started)))
    }

    /// Where user files that break are told of.
    pub(super) fn say(&self) -> Say {
        let error_log = self.error_log.clone();
        Arc::new(move |text| error_log.write(Level::Error, "auth", format_args!("{text}")))
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tools").finish_non_exhaustive()
    }
}

/// Problems of pages as events.
#[derive(Debug)]
struct PageJournal(ErrorLog);

impl Journal for PageJournal {
    fn tell(&self, line: &str) {
        self.0.write(Level::Error, "page", format_args!("{line}"));
    }
}
