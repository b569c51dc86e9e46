//! The bytes of a request: from what a user writes (method, URL, fields, content) to what goes on
//! the wire.
//!
//! [`Url`] says who is asked for what, [`Draft`] what the request is made of, and [`Message`] is
//! the draft compiled: it appends itself to a buffer, the same bytes each time or with its
//! variables filled in.

mod draft;
mod list;
mod message;
mod url;

pub use draft::{Common, Content, Credentials, Draft, DraftPart, Fault, Framing, split_field};
pub use list::{Fixed, FixedScript, NAMED_REQUESTS_MAX, Requests, Weighted};
pub use message::{Extra, Message};
pub use url::{Peer, Url, UrlError};

#[cfg(test)]
mod tests;
