//! Compares servers on one machine: subjects, workloads, sweeps in interleaved order, the fairness
//! gate, statistics and reports.

pub mod adapter;
mod check;
pub mod compare;
pub mod document;
pub mod environment;
pub mod fairness;
mod hash;
pub mod host;
pub mod plan;
pub mod present;
mod probe;
pub mod record;
pub mod reproduce;
pub mod runner;
pub mod statistics;
pub mod subject;
pub mod task;
pub mod trend;
pub mod workload;

pub use check::{Checked, check_file, check_text};
