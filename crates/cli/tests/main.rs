//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod access_log;
mod blocks;
mod check;
mod clients;
mod common;
mod container;
mod docs;
mod generated;
mod guide;
mod kubernetes;
mod lab_experiments;
mod lab_provoke;
mod lab_report;
mod lab_reproduce;
mod layout;
mod listen;
mod load;
mod load_agents;
mod load_agents_lost;
mod load_audit;
mod load_files;
mod load_flags;
mod load_forms;
mod load_scenario;
mod load_search;
mod load_view;
mod migrate;
mod passwd;
mod protect;
mod run_admin;
mod run_caches;
mod run_filters;
mod run_findings;
mod run_life;
mod run_reload;
mod run_reload_rounds;
mod run_signals;
mod run_trace;
mod schema;
mod serve;
mod signals;
mod systemd;
mod watch;
