//! The admin service: health checks, metrics and status of a running server.
//!
//! [`Admin`] answers on a listener of its own, with an engine of one reactor, so that a busy server
//! still answers. It gets the state of the server from a [`StatusSource`].

mod blocks;
mod prometheus;
mod report;
mod service;
mod status;

pub use report::{ListenerReport, LogReport, Phase, ProcessReport, Reloads, Report, StatusSource};
pub use service::Admin;
