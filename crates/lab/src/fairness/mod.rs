//! The fairness gate: before the first step, a few responses of each subject to each of its
//! workloads are compared.

mod compare;
mod examine;
mod gate;

pub use compare::{Refusal, rows};
pub use examine::{ExaminedSubject, examine};
pub use gate::{Gate, pass};

pub(crate) use examine::wrong;
