//! How grave an event is.

use vervet_config::words;

use crate::access_log::Severity;

words! {
    /// How grave an event is; a log of one level has the graver ones, too.
    pub enum Level {
        /// Something has failed: a page, a log, a reload.
        Error = "error",
        /// Something may fail, or was given up for now.
        Warning = "warning",
        /// Worth knowing: the start, a reload, a drain.
        Notice = "notice",
        /// What peers did wrong.
        Info = "info",
        /// For whoever looks for a fault.
        Debug = "debug",
    }
}

impl Level {
    /// All levels, the gravest first.
    pub const ALL: [Self; 5] = [
        Self::Error,
        Self::Warning,
        Self::Notice,
        Self::Info,
        Self::Debug,
    ];

    /// Its place among all.
    pub fn index(self) -> usize {
        self as usize
    }

    /// What syslog and the journal call it.
    pub fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Notice => Severity::Notice,
            Self::Info => Severity::Info,
            Self::Debug => Severity::Debug,
        }
    }
}
