//! Several reactors with listeners, a service each, and one hand to stop them: the server in a program.

mod builder;
mod error;
mod running;
mod worker;

pub use builder::{Builder, Engine};
pub use error::EngineError;
pub use running::{EngineControl, Running};
pub use worker::Carrier;
