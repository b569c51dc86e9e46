//! HTTP/1 connections on a reactor: the machine of `vervet-http` between completed events and a
//! [`Service`].
//!
//! Owns: the order of exchanges on a connection, limits in time and size, what is kept of a partial
//! request and of an answer under way. Does not own: parsing and framing (`vervet-http`), sockets
//! (the reactor), what a request means (the service).
//!
//! At most one exchange of a connection is with the service at any time. Pipelined requests that
//! are answered at once leave in one send; behind one that is answered later they wait, in the
//! kernel's buffer as far as possible.

mod answer;
mod date;
mod http;
mod preface;
mod receive;
mod state;
mod suspend;

pub use http::{Http, HttpOptions};
pub use state::Connection;
