//! A request's way through the sites of a server: what filters and handlers see, and the order in which they are asked.

mod edits;
mod filter;
mod handler;
mod request;

pub use edits::{Edit, Edits};
pub use filter::{RequestFilter, Verdict};
pub use handler::{Action, Handler};
pub use request::Request;
