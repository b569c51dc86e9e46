//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod bounds;
mod common;
mod directive;
mod faults;
mod manual;
mod partial;
mod properties;
mod reading;
mod reference;
mod schema;
mod showing;
mod wrong;
