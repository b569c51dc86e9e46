//! The lab file: what is compared, under which load, and how often. One section, one file.

mod cores;
mod expect;
mod history;
mod lab;
mod load;
mod plain;
mod quick;
mod rule;
mod subject;
mod sweep;
mod task;
mod tree;
mod workload;

pub use cores::Cores;
pub use expect::Expect;
pub use history::{Figure, History, OldFigure};
pub use lab::{Difference, Lab};
pub use load::Load;
pub use plain::Plain;
pub use quick::Quick;
pub use rule::Rule;
pub use subject::{Log, Subject};
pub use sweep::{POINTS_MAX, Sweep};
pub use task::{Operations, Task};
pub use tree::Tree;
pub use workload::Workload;
