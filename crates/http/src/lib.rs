//! HTTP semantics and the HTTP/1.1 machine. No I/O, no clock.

mod list;

pub mod conditional;
pub mod date;
pub mod etag;
pub mod field;
pub mod h1;
pub mod media_type;
pub mod method;
pub mod negotiation;
pub mod openmetrics;
pub mod range;
pub mod status;
pub mod target;
pub mod text;
pub mod version;
