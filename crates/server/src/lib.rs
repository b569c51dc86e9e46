//! Files, listings, compression, access log over the engine.

pub mod root;
mod walk;
