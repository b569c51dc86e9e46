//! An engine: several reactors with their listeners and services, and its control.

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
