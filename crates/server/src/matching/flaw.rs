//! An error in a short text of the configuration, with its position in the text.

use std::fmt;
use std::ops::Range;

use vervet_config::{Diagnostic, Span};

/// A mistake in a host name, a path pattern, a regular expression or a template. The fault is the
/// configuration's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The bytes of the text that are wrong; empty where something is missing.
    pub range: Range<usize>,
    /// The error and the remedy, in lower case.
    pub message: String,
}

impl Flaw {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { range, message: message.into() }
    }
}

impl Flaw {
    /// The finding about a text that a document gives at `span`. The wrong part is underlined where
    /// the text stands there as it is, between quotes, without escapes and variables; else the
    /// whole.
    pub fn at(&self, span: Span, text: &str) -> Diagnostic {
        let quotes = (span.end() - span.start()).saturating_sub(text.len());
        let part = match quotes {
            2 | 6 => {
                let begin = quotes / 2;
                let end = self.range.end.max(self.range.start + 1);
                span.part(begin + self.range.start, begin + end)
            }
            _ => span,
        };
        Diagnostic::error(part, self.message.clone())
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Flaw {}
