//! What a reactor needs to know beforehand, and what of it may change while it runs.

use std::sync::Arc;

use super::accept::Overload;
use crate::counters::Counters;
use crate::gate::Gate;
use crate::limits::Limits;

/// What a reactor needs to know beforehand.
#[derive(Clone, Debug)]
pub struct ReactorOptions {
    /// Counts connections over all reactors.
    pub gate: Arc<Gate>,
    /// What happens above the cap.
    pub overload: Overload,
    /// Its share of the limits.
    pub tuning: Tuning,
    /// What is counted of this reactor, and of no other.
    pub counters: Arc<Counters>,
}

impl ReactorOptions {
    /// For a reactor without a cap: one whose connections begin here, which no gate counts, or one that takes whoever comes.
    pub fn uncapped() -> Self {
        Self {
            gate: Arc::new(Gate::new(0, 0)),
            overload: Overload::default(),
            tuning: Tuning::from(&Limits::default()),
            counters: Arc::default(),
        }
    }
}

/// The limits that are the reactor's own; they may change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Connections accepted from one listener in one turn.
    pub accept_per_turn_max: u32,
    /// How long a closing connection reads and drops what its peer still sends, in milliseconds.
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
