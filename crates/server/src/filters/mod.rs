//! What looks at a request before its handler, and what changes answers: each filter in a file of its own.

pub mod access;
pub mod basic_auth;
pub mod blocks;
pub mod compression;
pub mod connections;
pub mod cors;
pub mod field_template;
pub mod field_text;
pub mod fields;
pub mod forwarded;
#[cfg(test)]
mod forwarded_tests;
pub mod host_pattern;
pub mod meters;
pub mod networks;
pub mod rate;
pub mod referer;
mod refusal;
pub mod security;
pub mod target_rules;
