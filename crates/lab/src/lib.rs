//! Compares servers on one machine: subjects, workloads, sweeps in interleaved order, the fairness gate, statistics
//! and reports.

pub mod record;
pub mod statistics;
