//! All integration tests of the crate, as one program: the gate's own functions, and the rules of
//! the repository.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod gate;
mod tidy;
