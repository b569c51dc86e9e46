//! Texts with variables: compiled once, filled in for each request without a search and, once
//! buffers have grown, without memory.
//!
//! `{seq}` counts the requests of all users from 0, `{user}` is the number of the user, `{random}`
//! a number below 2^32 and `{random:1-100}` one between two, both included, `{uuid}` a random UUID.
//! A name of the feed is the column of its row, a name that a scenario captured what was captured;
//! both hide the variable of that name. `{{` is a brace, and so is one that no letter follows, for
//! the sake of JSON.

mod compile;
mod escape;
mod values;

pub(crate) use compile::is_name;
pub use compile::{Names, Template, TemplateContext, TemplateFault};
pub use values::{Shared, Values};

#[cfg(test)]
mod tests;
