//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod adapters;
mod apdex;
mod common;
mod compare;
mod compare_tasks;
mod document;
mod estimate;
mod present;
mod published;
mod ranking;
mod record;
mod reproduce;
mod rules;
mod runner;
mod sweep;
mod tasks;
mod trend;
mod trend_tasks;
mod windows;
