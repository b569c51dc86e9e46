//! Values with the origin they came from.

use std::fmt;
use std::ops::Deref;

use crate::source::Span;

/// Where the value of a setting came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default of the directive.
    Default,
    /// This span of a source: a file, an environment variable, or a flag.
    Source(Span),
}

/// The value of one directive with its origin. Two settings are equal if their values are, so
/// moving a directive in its file requires no reload.
#[derive(Clone)]
pub struct Setting<T> {
    value: T,
    // A route has dozens of settings, a document ten thousand routes: the origin takes 13 bytes.
    span: Span,
    is_default: bool,
}

const _: () = assert!(size_of::<Setting<u16>>() == 16);

impl<T> Setting<T> {
    /// Makes a setting of a value from a source.
    pub fn from_source(value: T, span: Span) -> Setting<T> {
        Setting { value, span, is_default: false }
    }

    /// Makes a setting of a default, with the span that findings about it underline.
    pub fn default_at(value: T, span: Span) -> Setting<T> {
        Setting { value, span, is_default: true }
    }

    /// Makes a setting of a value that a program chose, without a document.
    pub fn assumed(value: T) -> Setting<T> {
        Setting::default_at(value, Span::NOWHERE)
    }

    /// Returns the value; the setting also derefs to it.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns the value without its origin.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Returns where the value came from.
    pub fn origin(&self) -> Origin {
        if self.is_default { Origin::Default } else { Origin::Source(self.span) }
    }

    /// Returns the span of the value, or for a default the header of the section that lacks the
    /// directive.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns whether the value is the directive's default.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Converts the value and keeps the origin.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), span: self.span, is_default: self.is_default }
    }
}

impl<T> Setting<Option<T>> {
    /// Returns whether the value replaces one that could not be read, which happens only in a
    /// rejected document.
    pub fn is_unread(&self) -> bool {
        self.value.is_none() && !self.is_default()
    }
}

impl<T> Deref for Setting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Setting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Setting<T> {}

impl<T: fmt::Debug> fmt::Debug for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    #[test]
    fn what_only_moved_is_equal() {
        let moved = Setting::from_source(1, Span::new(SourceId(7), 3, 4));
        assert_eq!(Setting::assumed(1), moved);
        assert_ne!(Setting::assumed(2), moved);
    }
}
