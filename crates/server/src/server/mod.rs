//! A server at work: its sockets, its engine, and the change from one plan to the next.

mod reload;
mod running;
mod sockets;

pub use reload::Reloaded;
pub use running::{Server, Setup};
pub use sockets::Sockets;
