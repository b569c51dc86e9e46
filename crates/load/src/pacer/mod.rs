//! When requests are due in open load.

mod arrival;
mod shape;

pub use arrival::Arrival;
pub(crate) use arrival::Schedule;
pub use shape::{Pacer, RATE_MAX, STAGES_MAX, StagesError};
