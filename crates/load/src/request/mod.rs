//! The bytes of a request: from method, URL, headers and body to the message on the wire.
//!
//! [`Url`] is the target, [`Draft`] the request as written, and [`Message`] the compiled draft,
//! which appends itself to a buffer with its variables filled in.

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
