//! Several reactors with listeners, a service each, and one hand to stop them: the server in a program.

mod builder;
mod control;
mod error;
mod group;
mod running;
mod worker;

pub use builder::{Builder, Engine};
pub use control::EngineControl;
pub use error::EngineError;
pub use running::Running;
pub use worker::Carrier;
