//! What the run cost the machine that made it, and what its kernel counted meanwhile.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// The generator itself during the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// Time of processors in user mode, all threads, in microseconds.
    pub cpu_user_us: u64,
    /// Time of processors in the kernel, all threads, in microseconds.
    pub cpu_system_us: u64,
    /// How busy its busiest thread was, in thousandths of a core.
    pub busiest_thread_permille: u32,
    /// How much of the window the thread with the least to spare had a processor or waited for one
    /// that others had, in thousandths. 0 where the machine does not tell.
    #[serde(default)]
    pub occupied_thread_permille: u32,
    /// Errors of threads that ended before the run did. Their part of the load is missing in the
    /// figures.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub thread_errors: BTreeSet<String>,
    /// How late a thread looked at what was due: from the due time, or from the kernel's event, to
    /// its handling.
    pub lag: Histogram,
}

/// What the kernel counted during the run, on the machine of the generator. None where the machine
/// does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KernelCounters {
    /// Connections that found the queue of a listener full (`ListenOverflows`).
    pub listen_overflows: Option<u64>,
    /// Connections that a listener dropped for any reason (`ListenDrops`).
    pub listen_drops: Option<u64>,
    /// Segments sent again (`RetransSegs`), probes among them.
    pub retransmitted_segments: Option<u64>,
    /// Segments sent again to learn whether the first had come (`TCPLossProbes`): a busy peer that
    /// acknowledges late gets them too, and nothing was lost.
    pub loss_probes: Option<u64>,
    /// Requests for a connection sent again (`TCPSynRetrans`).
    pub retransmitted_syns: Option<u64>,
}

impl KernelCounters {
    /// Each counter with the kernel's name.
    pub fn named(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("ListenOverflows", self.listen_overflows),
            ("ListenDrops", self.listen_drops),
            ("RetransSegs", self.retransmitted_segments),
            ("TCPLossProbes", self.loss_probes),
            ("TCPSynRetrans", self.retransmitted_syns),
        ]
    }
}

/// The readings of one watched tree of processes.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Watched {
    /// What was watched, for people: "nginx (pid 4711 and 3 more)".
    pub name: String,
    /// Why the figures of the whole run do not hold: "restarted at 3.2 s". Empty where they do.
    pub invalid: String,
    /// Readings, in order of time.
    pub samples: Vec<WatchedSample>,
}

/// One reading of a watched tree.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct WatchedSample {
    /// When, in milliseconds since the window began.
    pub at_ms: u64,
    /// Time of processors in user mode since the reading before, in thousandths of a core.
    pub cpu_user_permille: u32,
    /// Time of processors in the kernel since the reading before, in thousandths of a core.
    pub cpu_system_permille: u32,
    /// Memory held, in bytes: PSS where the kernel tells it, RSS otherwise.
    pub memory_bytes: u64,
    /// Processes of the tree.
    pub processes: u32,
    /// Threads of the tree.
    pub threads: u32,
}
