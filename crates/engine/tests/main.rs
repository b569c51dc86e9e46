//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod admit;
mod amend;
mod balance;
mod carriers;
mod common;
mod conformance;
mod content;
mod cork;
mod counters;
mod discard;
mod drain;
mod embed;
mod files;
mod footprint;
mod idle_memory;
mod later;
mod limits;
mod limits_reference;
mod listener;
mod live;
mod live_change;
mod live_rounds;
mod outgoing;
mod pipe;
mod pipelining;
mod response;
mod slow;
mod streaming;
mod stress;
mod suspend;
#[cfg(feature = "tower")]
mod tower;
mod whole;
