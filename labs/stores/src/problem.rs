//! What can go wrong, and whose fault it is.

use std::fmt;

/// Why the phases were not passed through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The store did not do what it was asked for.
    Store {
        /// What it was asked for.
        doing: String,
        /// What came of it.
        why: String,
    },
    /// The store did as if, and what it gave was not what it had been given.
    Wrong(String),
    /// This program: it was asked for what it does not know, or nobody reads what it says.
    Own(String),
}

impl Problem {
    /// How the program ends: 1 for a store that failed, 2 for a mistake of ours, 3 for wrong values.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Store { .. } => 1,
            Self::Own(_) => 2,
            Self::Wrong(_) => 3,
        }
    }

    /// For `map_err`: the store failed while it was `doing` something.
    pub(crate) fn of<E: fmt::Display>(doing: impl Into<String>) -> impl FnOnce(E) -> Self {
        let doing = doing.into();
        move |error| Self::Store { doing, why: error.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { doing, why } => write!(f, "cannot {doing}: {why}"),
            Self::Wrong(what) | Self::Own(what) => f.write_str(what),
        }
    }
}
