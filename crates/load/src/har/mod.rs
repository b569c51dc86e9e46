//! What a browser recorded (HAR 1.2), as a scenario: a document that can be read, changed and run.
//!
//! `archive` is the part of the format that matters, `convert` decides what becomes of each entry,
//! and `write` writes the document. Notes report the entries that are left out.

mod archive;
mod convert;
mod write;

pub use convert::{Converted, ENTRIES_MAX, HAR_BYTES_MAX, Hosts, convert};

#[cfg(test)]
mod tests;
