//! Who makes the load of a step. The lab knows no more of it than this.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use vervet_report::Run;

use crate::plan::{PlannedLoad, PlannedWorkload};

/// Makes the load of one step after another.
pub trait Measurer {
    /// Applies a load to its end and tells what came of it. A target that fails is no error: the run says so.
    fn measure(&mut self, order: &Order<'_>) -> Result<Run, MeasureError>;
}

/// The load of one step.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Where the subject answers.
    pub address: SocketAddr,
    /// What is asked and what must come back.
    pub workload: &'a PlannedWorkload,
    /// The request targets, of which one is drawn for each request.
    pub targets: &'a [String],
    /// How much, and for how long.
    pub load: &'a PlannedLoad,
    /// The cores of the generator; none: all.
    pub cores: &'a [u32],
    /// What targets are drawn from.
    pub seed: u64,
    /// Set when the step is to be given up.
    pub interrupted: &'a AtomicBool,
}

/// Why a load could not be applied: the fault of the generator or of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureError(pub String);

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
