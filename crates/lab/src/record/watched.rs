//! What the server spent during a step, as whoever watched it saw it.

use serde::{Deserialize, Serialize};

/// What was watched of a subject's process tree during a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// The figures are those of the whole tree for the whole step.
    Valid(ServerFigures),
    /// They are not to be used: a process was replaced, or could not be read.
    Invalid {
        /// Why.
        reason: String,
    },
}

impl Watched {
    /// The figures, when they may be used.
    pub fn figures(&self) -> Option<&ServerFigures> {
        match self {
            Self::Valid(figures) => Some(figures),
            Self::Invalid { .. } => None,
        }
    }
}

/// What a process tree spent between the first and the last request of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerFigures {
    /// Processor time in user mode, in microseconds.
    pub cpu_user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub cpu_system_us: u64,
    /// Processor time by the scheduler's clock, in nanoseconds; none where it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// How long the server was ready to run while others had its core, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// The sum of resident memory before the first request, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_idle_bytes: Option<u64>,
    /// The greatest sum of resident memory, in bytes.
    pub rss_peak_bytes: u64,
    /// The mean sum of resident memory, in bytes.
    pub rss_mean_bytes: u64,
    /// The greatest sum of proportional memory, shared pages counted once, in bytes; none where it cannot be read.
    pub pss_peak_bytes: Option<u64>,
    /// The mean of the same.
    pub pss_mean_bytes: Option<u64>,
    /// The greatest number of processes.
    pub processes: u32,
    /// Readings during the step, in order of time; may be empty.
    #[serde(default)]
    pub samples: Vec<WatchedSample>,
}

impl ServerFigures {
    /// Processor time of both modes, in microseconds.
    pub fn cpu_us(&self) -> u64 {
        let ticks = self.cpu_user_us.saturating_add(self.cpu_system_us);
        self.cpu_ns.map_or(ticks, |cpu_ns| cpu_ns / 1000)
    }

    /// The greatest memory, shared pages counted once where the kernel tells, in bytes.
    pub fn memory_peak_bytes(&self) -> u64 {
        self.pss_peak_bytes.unwrap_or(self.rss_peak_bytes)
    }
}

/// One reading of a process tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedSample {
    /// Milliseconds since the step began.
    pub at_ms: u64,
    /// Processor time since the step began, in microseconds.
    pub cpu_us: u64,
    /// Memory at this moment, in bytes.
    pub memory_bytes: u64,
}
