//! Running a lab: each step in its order, each on the disk before the next begins.

mod assets;
mod congestion;
mod generator;
mod measurer;
mod options;
mod out;
mod resume;
mod run;
mod servers;
mod stage;
mod step;
mod tasks;
mod watching;

pub use generator::Generator;
pub use measurer::{MeasureError, Measurer, Order};
pub use options::{Options, Progress, RunError};
pub use out::{JOURNAL, RECORD};
pub use run::run;
pub use stage::Stage;
