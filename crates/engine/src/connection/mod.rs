//! HTTP/1 connections on a reactor: the machine of `vervet-http` between completed events and a
//! [`Service`].
//!
//! Owns: the order of exchanges on a connection, timeouts and size limits, the state of a partial
//! request and of a response in progress. Does not own: parsing and framing (`vervet-http`),
//! sockets (the reactor), what a request means (the service).
//!
//! A connection has at most one exchange with the service at any time. The responses to pipelined
//! requests leave in one send if they are immediate. Requests that follow one with a later response
//! wait, in the kernel's buffer as far as possible.

mod answer;
mod http;
mod receive;
mod state;

pub use http::{Http, HttpOptions};
pub use state::Connection;
