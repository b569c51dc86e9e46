//! What operators and their tools ask a running server: whether it lives and is ready, its numbers, its state.
//!
//! [`Admin`] answers on a listener of its own, with an engine of one reactor, so that a busy server still answers. It takes
//! what it tells from [`Facts`], which whoever has put the server together hands in.

mod blocks;
mod process;
mod prometheus;
mod report;
mod service;
mod settings;
mod status;

pub use process::ProcessReport;
pub use report::{Facts, ListenerReport, LogReport, Phase, Reloads, Report};
pub use service::Admin;
pub use settings::AdminSettings;
