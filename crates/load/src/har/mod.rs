//! What a browser recorded (HAR 1.2), as a scenario: a document that can be read, changed and run.
//!
//! `archive` parses the format, `convert` converts the entries, and `write` writes the document.
//! Notes report skipped entries.

mod archive;
mod convert;
mod write;

pub use convert::{Converted, ENTRIES_MAX, HAR_BYTES_MAX, Hosts, convert};

#[cfg(test)]
mod tests;
