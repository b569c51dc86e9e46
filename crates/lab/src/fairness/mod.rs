//! The fairness gate: before any step, each subject answers each of its workloads a few times, and
//! what came back is compared.

mod compare;
mod examine;
mod gate;

pub use compare::{refusals, rows};
pub use examine::{ExaminedSubject, examine};
pub use gate::{Gate, pass};

pub(crate) use examine::wrong;
