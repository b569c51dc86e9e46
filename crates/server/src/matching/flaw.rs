//! What is wrong in a short text of the configuration, and where in it.

use std::fmt;
use std::ops::Range;

/// A mistake in a host name, a path pattern, a regular expression or a template. The fault is the configuration's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The bytes of the text that are wrong; empty where something is missing.
    pub range: Range<usize>,
    /// What is wrong and what would be right, in lower case.
    pub message: String,
}

impl Flaw {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            range,
            message: message.into(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Flaw {}
