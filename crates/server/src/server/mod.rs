//! A running server: its sockets, its engine, and reloads.

mod reload;
mod running;
mod sockets;

pub use reload::Reloaded;
pub use running::{Server, Setup};
pub use sockets::Sockets;
