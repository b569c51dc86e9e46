//! The web server: what a configuration document becomes, and how it answers requests.
//!
//! `settings` is the document; `plan` checks and resolves it; `staging` opens what it needs;
//! `server` runs it on the engine and reloads it. On each reactor `web` takes a request through
//! filters and routes (`matching`) to an action: files (`files`), pages from templates (`pages`),
//! redirects and fixed answers (`actions`). `access_log`, `error_log`, `metrics` and `admin` show
//! what happens. The modules form a ladder, which the tidy test of `testkit` checks.

pub mod access_log;
pub mod actions;
pub mod admin;
pub mod caches;
pub mod compression;
pub mod error_log;
pub mod files;
pub mod filters;
pub mod layout;
pub mod log_sinks;
pub mod matching;
pub mod metrics;
pub mod offload;
pub mod pages;
pub mod plan;
pub mod resources;
mod response;
pub mod server;
pub mod settings;
pub mod staging;
mod timestamp;
mod trace;
pub mod web;

pub use files::{
    Decision, FileRequest, Files, FilesError, FilesOptions, FilesPool, FilesShared, Job, Usage,
    Whole,
};
pub use vervet_config as config;
pub use vervet_engine as engine;
