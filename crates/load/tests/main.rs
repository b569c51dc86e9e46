//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod audit;
mod canned;
mod closed;
mod common;
mod connections;
mod control;
mod discard;
mod hostile;
mod open;
