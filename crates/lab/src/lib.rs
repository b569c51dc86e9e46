//! Compares servers on one machine: subjects, workloads, sweeps in interleaved order, the fairness gate, statistics
//! and reports.

pub mod adapter;
mod check;
pub mod document;
mod hash;
pub mod plan;
mod probe;
pub mod record;
pub mod statistics;
pub mod subject;

pub use check::{Checked, check_file, check_text};
