//! The fairness gate: before any step, each subject answers each of its workloads a few times, and what came back is
//! compared.

mod compare;
mod gate;
mod look;

pub use compare::{refusals, rows};
pub use gate::{Gate, pass};
pub use look::{Looked, look};

pub(crate) use look::wrong;
