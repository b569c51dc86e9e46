//! The configuration of a server. Each section is declared by the module that implements it; here
//! are the document, and the sections without such a module.

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
