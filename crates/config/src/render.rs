//! Findings as text for people, with the underlined line, and as JSON for programs.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::Value as Json;
use serde_json::json;

use crate::diagnostic::{Diagnostic, Diagnostics, Note, Severity};
use crate::source::Sources;
use crate::source::Span;

/// Whether text is coloured for a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Without colours: for files, pipes and `NO_COLOR`.
    #[default]
    Plain,
    /// With the colours of a terminal.
    Coloured,
}

/// Renders all findings as text, each followed by an empty line.
pub fn render_text(diagnostics: &Diagnostics, sources: &Sources, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&renderer.render(&[group(diagnostic, sources)]));
        text.push_str("\n\n");
    }
    text
}

/// The maximum distance in bytes of two spans shown in one excerpt.
const EXCERPT_BYTES_MAX: usize = 16 << 10;

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    let is_near = |span: Span| {
        span.source() == diagnostic.span.source()
            && span.start().abs_diff(diagnostic.span.start()) <= EXCERPT_BYTES_MAX
    };
    let is_near_note = |note: &&Note| note.span.is_some_and(is_near);
    let (near, far): (Vec<&Note>, Vec<&Note>) = diagnostic.notes.iter().partition(is_near_note);
    let spans: Vec<Span> = near.iter().filter_map(|note| note.span).collect();
    if let Some(excerpt) = Excerpt::new(sources, diagnostic.span, &spans) {
        let mut primary = excerpt.mark(AnnotationKind::Primary, diagnostic.span);
        if let Some(label) = label(diagnostic) {
            primary = primary.label(label);
        }
        let context = near.iter().filter_map(|note| {
            Some(excerpt.mark(AnnotationKind::Context, note.span?).label(note.message.as_str()))
        });
        let marks: Vec<Annotation<'_>> = std::iter::once(primary).chain(context).collect();
        group = group.element(excerpt.snippet().annotations(marks));
    }
    for note in &far {
        group = remark(group, note, sources);
    }
    match (&diagnostic.nearest, &diagnostic.expected) {
        (Some(_), Some(expected)) => {
            group.element(Level::HELP.message(format!("expected {expected}")))
        }
        _ => group,
    }
}

/// Returns the text next to the underline.
fn label(diagnostic: &Diagnostic) -> Option<String> {
    match (&diagnostic.nearest, &diagnostic.expected) {
        (Some(nearest), _) => Some(format!("did you mean `{nearest}`?")),
        (None, Some(expected)) => Some(format!("expected {expected}")),
        (None, None) => None,
    }
}

/// Adds a note that refers to another file or to no place.
fn remark<'a>(group: Group<'a>, note: &'a Note, sources: &'a Sources) -> Group<'a> {
    let excerpt = note.span.and_then(|span| Some((span, Excerpt::new(sources, span, &[])?)));
    match excerpt {
        Some((span, excerpt)) => {
            let mark = excerpt.mark(AnnotationKind::Context, span).label(note.message.as_str());
            group.element(excerpt.snippet().annotation(mark))
        }
        None => group.element(Level::NOTE.message(note.message.as_str())),
    }
}

/// Whole lines of one source, each ended by a line feed.
struct Excerpt<'a> {
    name: &'a str,
    first_line: usize,
    begin: usize,
    original: &'a str,
    text: Cow<'a, str>,
}

impl<'a> Excerpt<'a> {
    /// Returns the lines in which the spans begin, from the first to the last.
    fn new(sources: &'a Sources, span: Span, others: &[Span]) -> Option<Excerpt<'a>> {
        let begins = || others.iter().copied().chain([span]).map(Span::start);
        let (begin, end) = (begins().min()?, begins().max()?);
        let (first_line, begin, original) = sources.lines(span.source(), begin, end)?;
        let text = if original.contains('\r') {
            Cow::Owned(original.replace("\r\n", "\n"))
        } else {
            Cow::Borrowed(original)
        };
        Some(Excerpt {
            name: sources.get(span.source())?.name(),
            first_line,
            begin,
            original,
            text,
        })
    }

    fn snippet(&self) -> Snippet<'a, Annotation<'a>> {
        Snippet::source(self.text.clone()).line_start(self.first_line).path(self.name)
    }

    /// Returns the span up to the end of its first line.
    fn mark(&self, kind: AnnotationKind, span: Span) -> Annotation<'a> {
        kind.span(self.range(span))
    }

    fn range(&self, span: Span) -> Range<usize> {
        let at = |offset: usize| offset.saturating_sub(self.begin).min(self.original.len());
        let (start, end) = (at(span.start()), at(span.end()));
        let returns = self.original[..start].matches("\r\n").count();
        let covered = self.original[start..end].lines().next().unwrap_or_default();
        let start = start - returns;
        start.min(self.text.len())..(start + covered.len()).min(self.text.len())
    }
}

/// Returns findings as a list of objects with `severity`, `message`, `file`, `line`, `column`,
/// `length`, `expected`, `nearest` and `notes`; notes have a `message` and optionally a position.
/// Lines and columns count from 1, columns and lengths in characters. Missing values are `null`.
pub fn render_json(diagnostics: &Diagnostics, sources: &Sources) -> Json {
    diagnostics.iter().map(|one| finding(one, sources)).collect()
}

fn finding(diagnostic: &Diagnostic, sources: &Sources) -> Json {
    let notes = diagnostic.notes.iter();
    let notes = notes.map(|note| {
        let message = json!({ "message": note.message });
        placed(message, note.span.unwrap_or(Span::NOWHERE), sources)
    });
    let finding = json!({
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "expected": diagnostic.expected,
        "nearest": diagnostic.nearest,
        "notes": notes.collect::<Json>(),
    });
    placed(finding, diagnostic.span, sources)
}

fn placed(mut object: Json, span: Span, sources: &Sources) -> Json {
    let position = sources.position(span);
    object["file"] = json!(position.map(|at| at.file));
    object["line"] = json!(position.map(|at| at.line));
    object["column"] = json!(position.map(|at| at.column));
    object["length"] = json!(position.map(|at| at.length));
    object
}
