//! The pollable HTTP engine.
