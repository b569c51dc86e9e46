//! A run as one page of HTML: no script, no network, good on a telephone and in the dark.

mod charts;
mod document;

pub use document::html;
