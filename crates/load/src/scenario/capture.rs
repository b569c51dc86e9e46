//! Captures: values from a response for later steps.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;
use vervet_config::{Diagnostic, Diagnostics, Setting, cited};

use super::answer::AnswerView;
use super::document::{CaptureSection, Verbatim};
use super::expect::check_pointer;

/// The most bytes that are taken.
pub(super) const CAPTURE_BYTES_MAX: usize = 64 << 10;

/// The source of a captured value.
#[derive(Clone, Debug)]
pub(super) enum Capture {
    /// The first group of an expression in the content, or all that it finds.
    Content(Regex),
    /// A field, or what an expression finds in it.
    Field(String, Option<Regex>),
    /// What a JSON pointer names: a text as it is, all else as JSON.
    Json(String),
}

impl Capture {
    /// Reads a section. `None` if something is wrong with it, which is reported.
    pub(super) fn compile(
        section: &Setting<CaptureSection>,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let regex = match section.regex.value() {
            Some(text) => Some(compile_regex(text, &section.regex, found)?),
            None => None,
        };
        match (section.field.value(), section.json.value(), regex) {
            (Some(name), None, regex) => Some(Self::Field(name.to_string(), regex)),
            (None, Some(pointer), None) => {
                check_pointer(pointer, section.json.span(), found);
                Some(Self::Json(pointer.to_string()))
            }
            (None, None, Some(regex)) => Some(Self::Content(regex)),
            _ if section.regex.is_unread() || section.field.is_unread() => None,
            _ if section.json.is_unread() => None,
            _ => {
                let problem = Diagnostic::error(section.span(), "the capture has no single source");
                let expected = "`field`, `regex`, `field` with `regex`, or `json`";
                found.push(problem.expected(expected));
                None
            }
        }
    }

    /// Copies the captured value to `value`. `false` without a match, or if it is too long.
    pub(super) fn take(&self, view: &AnswerView<'_>, value: &mut Vec<u8>) -> bool {
        value.clear();
        let found = match self {
            Self::Content(regex) => find(regex, view.answer.content),
            Self::Field(name, None) => view.field(name),
            Self::Field(name, Some(regex)) => view.field(name).and_then(|value| find(regex, value)),
            Self::Json(pointer) => match view.json(pointer) {
                Some(Value::String(text)) => Some(text.as_bytes()),
                Some(other) => return put(other.to_string().as_bytes(), value),
                None => None,
            },
        };
        found.is_some_and(|found| put(found, value))
    }
}

fn put(found: &[u8], value: &mut Vec<u8>) -> bool {
    let fits = found.len() <= CAPTURE_BYTES_MAX;
    if fits {
        value.extend_from_slice(found);
    }
    fits
}

fn find<'a>(regex: &Regex, text: &'a [u8]) -> Option<&'a [u8]> {
    let captures = regex.captures(text)?;
    let found = captures.get(1).or_else(|| captures.get(0))?;
    Some(found.as_bytes())
}

/// Matches bytes, as responses need not be UTF-8.
fn compile_regex(
    text: &Verbatim,
    setting: &Setting<Option<Verbatim>>,
    found: &mut Diagnostics,
) -> Option<Regex> {
    let built = RegexBuilder::new(text).unicode(false).build();
    built
        .map_err(|error| {
            // The last line gives the reason; those above it draw it.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = cited(reason.trim_start_matches("error: "));
            let message = format!("invalid regular expression: {reason}");
            found.push(Diagnostic::error(setting.span(), message));
        })
        .ok()
}
