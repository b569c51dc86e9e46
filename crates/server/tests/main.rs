//! All integration tests of the crate, as one program: one module per feature.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test an unwrap is an assertion"
)]

mod actions;
mod admin;
mod basic_auth;
mod compression;
mod conditional;
mod error_pages;
mod exhausted;
mod file_cache;
mod files;
mod filters_answers;
mod filters_clients;
mod filters_limits;
mod filters_served;
mod layout;
mod listing;
mod listing_share;
mod log_cost;
mod log_lines;
mod log_rotation;
mod log_rules;
mod log_served;
mod log_settings;
mod log_targets;
mod matching;
mod metrics;
mod page_support;
mod pages_cost;
mod pages_edit;
mod pages_escape;
mod pages_examples;
mod pages_guide;
mod pages_inheritance;
mod pages_limits;
mod pages_parameters;
mod pages_properties;
mod pages_scope;
mod pages_settings;
mod pages_site;
mod pages_wire;
mod protect_guide;
mod registries;
mod root;
mod roots;
mod route_sharing;
mod settings;
mod site_files;
mod sites;
mod support;
mod wire;
