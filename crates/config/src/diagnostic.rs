//! Findings about a document, each with the span it refers to. Rendering is in `render`.

use crate::shape::quoted;
use crate::source::Span;

/// Whether a finding makes the document invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The document is rejected.
    Error,
    /// The document is accepted, but something in it is probably a mistake.
    Warning,
}

impl Severity {
    /// Returns the name: `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// An additional remark on a finding, with a span if it refers to another place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The text, one line.
    pub message: String,
    /// The place that the note refers to, if any.
    pub span: Option<Span>,
}

/// One finding: an error or a warning about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the finding is an error or a warning.
    pub severity: Severity,
    /// The text that is underlined.
    pub span: Span,
    /// One line, in lower case: the subject and what is wrong with it.
    pub message: String,
    /// What was expected instead, such as `a time such as "10s"`.
    pub expected: Option<String>,
    /// The known name that was probably meant; see [`nearest`].
    pub nearest: Option<String>,
    /// Additional remarks, in order.
    pub notes: Vec<Note>,
    /// Whether the finding may only follow from an error elsewhere.
    pub is_consequence: bool,
}

impl Diagnostic {
    /// Makes an error, which rejects the document.
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

    /// Marks the finding as one that may only follow from an error elsewhere.
    #[must_use]
    pub fn consequence(mut self) -> Diagnostic {
        self.is_consequence = true;
        self
    }

    /// Makes a warning, which does not reject the document.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Sets what was expected instead.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Diagnostic {
        self.expected = Some(expected.into());
        self
    }

    /// Sets the known name that was probably meant, if there is one.
    #[must_use]
    pub fn nearest(mut self, nearest: Option<impl Into<String>>) -> Diagnostic {
        self.nearest = nearest.map(Into::into);
        self
    }

    /// Adds a note without a place of its own.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        self.notes.push(Note { message, span: None });
        self
    }

    /// Adds a note that refers to another place.
    #[must_use]
    pub fn note_at(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        self.notes.push(Note { message, span: Some(span) });
        self
    }
}

/// All findings of one reading of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Creates an empty list of findings.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Appends a finding to the list.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Appends the findings of another reading of the same sources.
    pub fn extend(&mut self, others: Diagnostics) {
        self.0.extend(others.0);
    }

    /// Adds a finding unless it was reported before.
    pub(crate) fn push_new(&mut self, problem: Option<Box<Diagnostic>>) {
        self.0.extend(problem.map(|problem| *problem));
    }

    /// Appends the findings of a later check. If there are errors already, consequences of errors
    /// and findings at spans that were reported before are left out.
    pub fn extend_with_later(&mut self, later: Diagnostics) {
        let is_clean = !self.has_errors();
        let is_reported = |one: &Diagnostic| self.iter().any(|known| known.span.meets(one.span));
        let later = later.0.into_iter();
        let later: Vec<_> =
            later.filter(|one| is_clean || !(one.is_consequence || is_reported(one))).collect();
        self.0.extend(later);
    }

    /// Removes all findings but the first `length`.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Sorts the findings by source and position.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|diagnostic| diagnostic.span);
    }

    /// Iterates over the findings in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Returns whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|one| one.severity == Severity::Error)
    }

    /// Returns whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of findings.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(findings: I) -> Self {
        Self(findings.into_iter().collect())
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

/// The maximum number of characters of a text that a message quotes.
const CITED_CHARACTERS_MAX: usize = 60;

/// Returns a text to be quoted in a message: on one line, control characters escaped, and truncated
/// if it is long.
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

/// Makes the finding for a name that is not known.
pub(crate) fn unknown(span: Span, message: String, name: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error(span, message).nearest(nearest(name, known.iter().copied()));
    if known.is_empty() {
        return diagnostic;
    }
    diagnostic.expected(format!("one of {}", quoted(known.iter().copied())))
}

/// Returns the known name that `name` was probably meant for: the nearest by Damerau-Levenshtein
/// distance, if at most a third of its characters differ.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distances =
        known.into_iter().map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= nearest.chars().count().max(3) / 3).then_some(nearest)
}

/// Returns `` ; did you mean `x`? `` with the [`nearest`] known name, or nothing if no name is
/// near.
pub fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceKind, Sources};

    /// Checks the findings of a later check: at these spans, the second of which may be a
    /// consequence.
    #[track_caller]
    fn check(first: Option<(usize, usize)>, expected: &[&str]) {
        let mut sources = Sources::default();
        let id = sources.add("a".to_owned(), "0123456789".to_owned(), SourceKind::File);
        let at = |(start, end)| Span::new(id, start, end);
        let mut findings = Diagnostics::new();
        findings
            .extend(first.map(|place| Diagnostic::error(at(place), "first")).into_iter().collect());
        findings.extend_with_later(Diagnostics::from_iter([
            Diagnostic::error(at((2, 4)), "own"),
            Diagnostic::error(at((6, 8)), "follows").consequence(),
        ]));
        let messages: Vec<_> = findings.iter().map(|one| one.message.as_str()).collect();
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
