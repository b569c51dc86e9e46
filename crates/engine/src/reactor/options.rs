//! Options of a reactor, and the limits that can change while it runs.

use std::sync::Arc;

use crate::counters::Counters;
use crate::gate::Gate;
use crate::limits::Limits;

/// Options of a reactor.
#[derive(Clone, Debug)]
pub struct ReactorOptions {
    /// Counts connections over all reactors.
    pub gate: Arc<Gate>,
    /// What happens with connections above the limit.
    pub overload: Overload,
    /// The limits of the reactor.
    pub tuning: Tuning,
    /// The counters of this reactor only.
    pub counters: Arc<Counters>,
}

impl ReactorOptions {
    /// For a reactor without a connection limit: one with outgoing connections, which no gate
    /// counts, or one that accepts all.
    pub fn uncapped() -> Self {
        Self {
            gate: Arc::new(Gate::new(0, 0)),
            overload: Overload::default(),
            tuning: Tuning::from(&Limits::default()),
            counters: Arc::default(),
        }
    }
}

/// The limits of the reactor itself; they may change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The maximum number of connections accepted from one listener in one turn.
    pub accept_per_turn_max: u32,
    /// How long a closing connection reads and drops input, in milliseconds.
    pub lingering_close_ms: u64,
    /// How many bytes it drops at most.
    pub lingering_bytes_max: u64,
}

impl From<&Limits> for Tuning {
    fn from(limits: &Limits) -> Self {
        Self {
            accept_per_turn_max: limits.accept_per_turn_max,
            lingering_close_ms: u64::from(limits.lingering_close_ms),
            lingering_bytes_max: u64::from(limits.lingering_bytes_max),
        }
    }
}

/// What to do with connections above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overload {
    /// Accept, respond with 503 and `Retry-After`, and close.
    #[default]
    Reject,
    /// Leave them in the kernel's queue until others have ended.
    Wait,
}
