//! Findings as JSON for programs: editors, the control interface, continuous integration.

use serde_json::{Value as Json, json};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Sources;
use crate::span::Span;

/// A list of objects with `severity`, `message`, `file`, `line`, `column`, `length`, `expected`, `nearest` and `notes`, which
/// have a `message` and perhaps a place of their own. Lines and columns begin at 1, columns and lengths are characters.
/// What a finding does not have is `null`.
pub fn render_json(diagnostics: &Diagnostics, sources: &Sources) -> Json {
    diagnostics
        .iter()
        .map(|one| finding(one, sources))
        .collect()
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
