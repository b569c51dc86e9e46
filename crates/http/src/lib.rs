//! HTTP semantics and the HTTP/1.1 machine. No I/O, no clock.

pub mod target;
