//! All integration tests of the crate, as one program: one module per feature.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

mod client_role;
mod client_skip;
mod common;
mod h1_round_trip;
mod monkey_requests;
mod rfc3986_paths;
mod rfc9110_conditional;
mod rfc9110_dates;
mod rfc9110_media_types;
mod rfc9110_negotiation;
mod rfc9110_ranges;
mod rfc9112_chunked;
mod rfc9112_connection;
mod rfc9112_fields;
mod rfc9112_message_body;
mod rfc9112_request_line;
mod rfc9112_response;
mod rfc9112_targets;
mod state_table;
mod vocabulary;
