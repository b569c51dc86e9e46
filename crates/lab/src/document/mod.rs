//! The lab file: what is compared, under which load, and how often.

mod lab;
mod subject;
mod sweep;
mod workload;

pub use lab::{Cores, Difference, Figure, History, Lab, OldFigure, Quick, Rule};
pub use subject::{Log, Operations, Plain, Subject, Task};
pub use sweep::{POINTS_MAX, Sweep};
pub use workload::{Expect, Load, Tree, Workload};
