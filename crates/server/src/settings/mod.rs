//! The configuration of a server as its users write it. Each section is declared by the part that obeys it; here are the
//! document, and the sections that nothing else owns.

mod document;
mod limits;
mod listen;
mod network;
mod workers;

pub use document::{Document, Overload};
pub use limits::LimitSettings;
pub use listen::Listen;
pub use network::Network;
pub use workers::{WORKERS_MAX, Workers};
