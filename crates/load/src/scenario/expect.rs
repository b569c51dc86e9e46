//! Assertions on the response to a step.

use memchr::memmem::Finder;
use serde_json::Value;
use vervet_config::{Diagnostic, Diagnostics, Setting, Span};

use super::answer::AnswerView;
use super::document::{ExpectSection, Verbatim};
use crate::check::StatusSet;

/// One thing that must hold.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// The status is one of these.
    Status(StatusSet),
    /// The text is in the content.
    Contains(Finder<'static>),
    /// The text is not in the content.
    Lacks(Finder<'static>),
    /// A field of this name is there.
    Field(String),
    /// What a JSON pointer names is this.
    Json(String, Value),
    /// The length of the body.
    Bytes(u64),
}

impl Rule {
    /// The name of the assertion in the report.
    pub(super) fn name(&self) -> String {
        let text = |finder: &Finder<'_>| String::from_utf8_lossy(finder.needle()).into_owned();
        match self {
            Self::Status(set) => format!("status is {set}"),
            Self::Contains(finder) => format!("contains {:?}", text(finder)),
            Self::Lacks(finder) => format!("lacks {:?}", text(finder)),
            Self::Field(name) => format!("has field {name}"),
            Self::Json(pointer, value) => format!("json {pointer} is {value}"),
            Self::Bytes(bytes) => format!("the body has {bytes} bytes"),
        }
    }

    /// Whether it holds. Content beyond what the generator keeps is not seen.
    pub(super) fn holds(&self, view: &AnswerView<'_>) -> bool {
        match self {
            Self::Status(set) => set.contains(view.answer.status),
            Self::Contains(finder) => finder.find(view.answer.content).is_some(),
            Self::Lacks(finder) => finder.find(view.answer.content).is_none(),
            Self::Field(name) => view.field(name).is_some(),
            Self::Json(pointer, value) => view.json(pointer) == Some(value),
            Self::Bytes(bytes) => view.answer.content_bytes == *bytes,
        }
    }
}

/// The rules of a section: the status first, because a wrong one explains what is missing in the
/// content, then the others in the order of the file.
pub(super) fn rules(expect: &ExpectSection, found: &mut Diagnostics) -> Vec<Rule> {
    for text in expect.contains.iter().chain(expect.lacks.iter()) {
        if text.is_empty() {
            let problem = Diagnostic::error(text.span(), "the text is empty");
            found.push(problem.expected("a text of one character or more"));
        }
    }
    let finder = |text: &Setting<Verbatim>| Finder::new(text.as_bytes()).into_owned();
    let contains = expect.contains.iter();
    let contains = contains.map(|text| (text.span(), Rule::Contains(finder(text))));
    let lacks = expect.lacks.iter();
    let lacks = lacks.map(|text| (text.span(), Rule::Lacks(finder(text))));
    let fields = expect.field.iter();
    let fields = fields.map(|name| (name.span(), Rule::Field(name.to_string())));
    let json = expect.json.iter().map(|(pointer, value)| {
        check_pointer(pointer, pointer.span(), found);
        let rule = Rule::Json(pointer.to_string(), value.0.clone());
        (value.span(), rule)
    });
    let bytes = expect.bytes.iter();
    let bytes = bytes.map(|bytes| (expect.bytes.span(), Rule::Bytes(*bytes)));
    let rules = contains.chain(lacks).chain(fields).chain(json).chain(bytes);
    let mut rules: Vec<(Span, Rule)> = rules.collect();
    rules.sort_by_key(|(span, _)| span.start());
    let status = Rule::Status(expect.status.value().clone().unwrap_or_default());
    let rules = rules.into_iter().map(|(_, rule)| rule);
    std::iter::once(status).chain(rules).collect()
}

/// Reports a text that is not a JSON pointer. RFC 6901: a pointer is empty or begins with a slash.
pub(super) fn check_pointer(pointer: &str, span: Span, found: &mut Diagnostics) {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let message = format!("`{pointer}` is not a JSON pointer");
        let problem = Diagnostic::error(span, message);
        found.push(problem.expected("a pointer such as \"/items/0/id\""));
    }
}
