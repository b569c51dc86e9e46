//! What was seen of the server's processes during a run. A type of its own, so that this crate need not know who watches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
