//! The pollable HTTP engine.

pub mod executor;
pub mod limits;
pub mod notify;
pub mod pipe;
pub mod wheel;
