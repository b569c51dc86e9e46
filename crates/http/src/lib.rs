//! HTTP semantics and the HTTP/1.1 machine. No I/O, no clock.

pub mod conditional;
pub mod date;
pub mod etag;
mod list;
pub mod media_type;
pub mod negotiation;
pub mod range;
pub mod target;
