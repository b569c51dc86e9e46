//! Resource use of the generator and of watched processes, and counters of the kernel.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Resource use of the generator during the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// User CPU time of all threads, in microseconds.
    pub cpu_user_us: u64,
    /// System CPU time of all threads, in microseconds.
    pub cpu_system_us: u64,
    /// CPU use of the busiest thread, in thousandths of a core.
    pub busiest_thread_permille: u32,
    /// Share of the measurement that the most occupied thread ran or waited for a CPU, in
    /// thousandths. 0 if unknown.
    #[serde(default)]
    pub occupied_thread_permille: u32,
    /// Errors of threads that ended before the run. Their share of the load is missing in the
    /// figures.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub thread_errors: BTreeSet<String>,
    /// Lag of the generator: from the due time of a request, or the event of the kernel, to its
    /// handling.
    pub lag: Histogram,
}

/// TCP counters of the kernel on the machine of the generator during the run; null if not
/// available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KernelCounters {
    /// Connections that found the accept queue of a listener full (`ListenOverflows`).
    pub listen_overflows: Option<u64>,
    /// Connections that a listener dropped for any reason (`ListenDrops`).
    pub listen_drops: Option<u64>,
    /// Retransmitted segments (`RetransSegs`), including probes.
    pub retransmitted_segments: Option<u64>,
    /// Tail loss probes (`TCPLossProbes`): segments sent again, also to a busy peer that
    /// acknowledges late, without any loss.
    pub loss_probes: Option<u64>,
    /// Retransmitted SYN segments (`TCPSynRetrans`).
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

/// Samples of one watched process tree.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Watched {
    /// Name of the tree: "nginx (pid 4711 and 3 more)".
    pub name: String,
    /// Why the figures of the whole run are invalid, such as "restarted at 3.2 s"; empty if they
    /// are valid.
    pub invalid: String,
    /// Samples, in order of time.
    pub samples: Vec<WatchedSample>,
}

/// One sample of a watched process tree.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct WatchedSample {
    /// Time in milliseconds since the start of the measurement.
    pub at_ms: u64,
    /// User CPU time since the previous sample, in thousandths of a core.
    pub cpu_user_permille: u32,
    /// System CPU time since the previous sample, in thousandths of a core.
    pub cpu_system_permille: u32,
    /// Memory in bytes: PSS if the kernel provides it, otherwise RSS.
    pub memory_bytes: u64,
    /// Processes of the tree.
    pub processes: u32,
    /// Threads of the tree.
    pub threads: u32,
}
