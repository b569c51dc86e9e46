//! A lab again, from what its record carries: the lab file and the files that it names, written out as they were.

mod bundle;

pub use bundle::{BundleError, Unlike, Written, write_bundle};
