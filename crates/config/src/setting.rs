//! A value and where it came from.

use std::fmt;
use std::ops::Deref;

use crate::span::Span;

/// Who said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody: the directive's default.
    Default,
    /// The source in which this lies: a file, an environment variable, or a flag of the command line.
    Source(Span),
}

/// The value of one directive with its origin. Two settings are equal when their values are: a document that only moved
/// on its page asks for no reload.
#[derive(Clone)]
pub struct Setting<T> {
    value: T,
    // A route has dozens of settings, and a document ten thousand routes: what a setting has beside its value is 13 bytes.
    span: Span,
    is_default: bool,
}

const _: () = assert!(size_of::<Setting<u16>>() == 16);

impl<T> Setting<T> {
    /// A value that a source gives.
    pub fn given(value: T, span: Span) -> Setting<T> {
        Setting {
            value,
            span,
            is_default: false,
        }
    }

    /// A value that nobody gives, with the place that is underlined when something turns out to be wrong with it.
    pub fn default_at(value: T, span: Span) -> Setting<T> {
        Setting {
            value,
            span,
            is_default: true,
        }
    }

    /// A value that a program has chosen, without any document.
    pub fn assumed(value: T) -> Setting<T> {
        Setting::default_at(value, Span::NOWHERE)
    }

    /// The value; the setting itself derefs to it.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The value alone.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Who said so.
    pub fn origin(&self) -> Origin {
        if self.is_default {
            Origin::Default
        } else {
            Origin::Source(self.span)
        }
    }

    /// The value that was given, or for a default the header of the section that did not give one.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether it is the directive's default.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Another value of the same origin.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting {
            value: change(self.value),
            span: self.span,
            is_default: self.is_default,
        }
    }
}

impl<T> Setting<Option<T>> {
    /// Whether something was given that could not be read, which has been told: only in a document that is refused.
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
    use crate::span::SourceId;

    #[test]
    fn what_only_moved_is_equal() {
        let moved = Setting::given(1, Span::new(SourceId(7), 3, 4));
        assert_eq!(Setting::assumed(1), moved);
        assert_ne!(Setting::assumed(2), moved);
    }
}
