//! The pollable HTTP engine.

pub mod notify;
pub mod pipe;
pub mod wheel;
