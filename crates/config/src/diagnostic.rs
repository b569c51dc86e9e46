//! What is wrong with a document, each finding with its place. How it is shown is the matter of `render`.

use crate::shape::quoted;
use crate::span::Span;

/// Whether a finding stops the server from taking the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The document is refused.
    Error,
    /// The document is taken; something in it is probably not meant so.
    Warning,
}

impl Severity {
    /// Its name: `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// More on a finding; with a place where it speaks of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// One line.
    pub message: String,
    /// The place it speaks of.
    pub span: Option<Span>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is fatal.
    pub severity: Severity,
    /// What is underlined.
    pub span: Span,
    /// One line, in lower case: the thing and what is the matter with it.
    pub message: String,
    /// What should stand there, such as `a time such as "10s"`.
    pub expected: Option<String>,
    /// The known name that is nearest to the one given.
    pub nearest: Option<String>,
    /// More, in order.
    pub notes: Vec<Note>,
    /// Whether it may be there only because of a mistake elsewhere.
    pub is_consequence: bool,
}

impl Diagnostic {
    /// A finding that refuses the document.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            expected: None,
            nearest: None,
            notes: Vec::new(),
            is_consequence: false,
        }
    }

    /// Says that it may be there only because something else could not be read.
    #[must_use]
    pub fn consequence(mut self) -> Diagnostic {
        self.is_consequence = true;
        self
    }

    /// A finding that does not.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(span, message)
        }
    }

    /// Says what should stand there.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Diagnostic {
        self.expected = Some(expected.into());
        self
    }

    /// Says which known name was probably meant, if there is one.
    #[must_use]
    pub fn nearest(mut self, nearest: Option<impl Into<String>>) -> Diagnostic {
        self.nearest = nearest.map(Into::into);
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        self.notes.push(Note {
            message,
            span: None,
        });
        self
    }

    /// Adds a line about another place.
    #[must_use]
    pub fn note_at(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        self.notes.push(Note {
            message,
            span: Some(span),
        });
        self
    }
}

/// All findings of one reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds those of another reading of the same sources.
    pub fn extend(&mut self, others: Diagnostics) {
        self.0.extend(others.0);
    }

    /// Adds what a later look has found: where there are errors already, without what may only follow from them, and
    /// without what is said of the same places.
    pub fn extend_behind(&mut self, later: Diagnostics) {
        let is_clean = !self.has_errors();
        let is_told = |one: &Diagnostic| self.iter().any(|known| known.span.meets(one.span));
        let later = later.0.into_iter();
        let later: Vec<_> = later
            .filter(|one| is_clean || !(one.is_consequence || is_told(one)))
            .collect();
        self.0.extend(later);
    }

    /// Takes all back but the first `length`.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// In the order of the sources and of their lines.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|diagnostic| diagnostic.span);
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Whether one of them refuses the document.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|one| one.severity == Severity::Error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(found: I) -> Self {
        Self(found.into_iter().collect())
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The most characters of a text that a message repeats.
const CITED_CHARACTERS_MAX: usize = 60;

/// A text within a message: on one line, and cut where it is long.
pub fn cited(text: &str) -> String {
    let mut cited = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == CITED_CHARACTERS_MAX {
            cited.push_str("...");
            break;
        }
        if character.is_control() {
            cited.extend(character.escape_default());
        } else {
            cited.push(character);
        }
    }
    cited
}

/// A name that is none of those known.
pub(crate) fn unknown(span: Span, message: String, name: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error(span, message).nearest(nearest(name, known.iter().copied()));
    if known.is_empty() {
        return diagnostic;
    }
    diagnostic.expected(format!("one of {}", quoted(known.iter().copied())))
}

/// Returns the known name that `name` was probably meant for: the nearest by Damerau-Levenshtein distance,
/// if at most a third of its characters differ.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distances = known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= nearest.chars().count().max(3) / 3).then_some(nearest)
}

/// Returns `` ; did you mean `x`? `` with the [`nearest`] known name, or nothing if no name is near.
pub fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceKind, Sources};

    /// What is told of a later look: its findings at these places, the second of which may be a consequence.
    #[track_caller]
    fn check(first: Option<(usize, usize)>, expected: &[&str]) {
        let mut sources = Sources::default();
        let id = sources.add("a".to_owned(), "0123456789".to_owned(), SourceKind::File);
        let at = |(start, end)| Span::new(id, start, end);
        let mut found = Diagnostics::new();
        found.extend(
            first
                .map(|place| Diagnostic::error(at(place), "first"))
                .into_iter()
                .collect(),
        );
        found.extend_behind(Diagnostics::from_iter([
            Diagnostic::error(at((2, 4)), "own"),
            Diagnostic::error(at((6, 8)), "follows").consequence(),
        ]));
        let messages: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_later_look_adds_what_does_not_follow_from_what_is_known() {
        check(None, &["own", "follows"]);
        check(Some((0, 2)), &["first", "own"]);
        check(Some((3, 9)), &["first"]);
        check(Some((4, 6)), &["first", "own"]);
    }

    #[test]
    fn suggests_only_names_that_are_near() {
        let known = ["method", "target", "think"];
        assert_eq!(did_you_mean("methud", known), "; did you mean `method`?");
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
