//! The configuration of a server as its users write it. Each section is declared by the part that
//! obeys it; here are the document, and the sections that nothing else owns.

mod document;
mod limits;
mod listen;
mod registered;
mod site;
mod workers;

pub use document::{Document, Overload, Sandbox};
pub use limits::LimitSettings;
pub use listen::{Address, AdminSettings, Listen, Mode};
pub(crate) use registered::Directive;
pub use site::{Route, Site};
pub use workers::{WORKERS_MAX, Workers};
