//! Running a lab: each step in its order, each on the disk before the next begins.

mod assets;
mod generator;
mod options;
mod resume;
mod run;
mod servers;
mod stage;
mod step;
mod tasks;
mod watching;

pub use generator::{Generator, MeasureError, Measurer, Order};
pub use options::{Options, Progress, RunError};
pub use run::run;
pub use stage::Stage;
