//! The pollable HTTP engine.

pub mod wheel;
