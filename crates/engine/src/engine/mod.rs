//! An engine: several reactors with their listeners and services, and its control.

mod builder;
mod control;
mod running;

pub use builder::{Builder, Engine, EngineError};
pub use control::EngineControl;
pub use running::Running;
