//! The lab file: what is compared, under which load, and how often.

mod history;
mod lab;
mod rule;
mod subject;
mod sweep;
mod task;
mod workload;

pub use history::{Figure, History, OldFigure};
pub use lab::{Cores, Difference, Lab, Quick};
pub use rule::Rule;
pub use subject::{Log, Plain, Subject};
pub use sweep::{POINTS_MAX, Sweep};
pub use task::{Operations, Task};
pub use workload::{Expect, Load, Tree, Workload};
