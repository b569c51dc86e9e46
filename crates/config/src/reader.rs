//! Conversion of values in a document to Rust types: what a type must implement to be used in a
//! section, and the reader that it is passed.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::diagnostic::{Diagnostic, Diagnostics, cited};
use crate::expand::{Fault, Unexpanded, expand};
use crate::setting::Setting;
use crate::shape::{Bounds, Declaration, Field, Literal, Shape};
use crate::shape::{SectionPath, section_paths};
use crate::show::Shown;
use crate::source::Sources;
use crate::source::Span;
use crate::tree::{Node, Value};

/// A type of directives.
///
/// A type that is written as text with a meaning (a time, a network) implements
/// [`FromText`](crate::FromText) instead.
pub trait FromConfig: Clone + Debug + PartialEq + Sized {
    /// Describes the accepted values.
    fn shape() -> Shape;

    /// Reads a value. `None` means that an error was reported, now or when the value was parsed.
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the value in the form that a document has.
    fn show(&self) -> Shown;

    /// Returns whether a directive of this type without a default is required.
    fn needs_value() -> bool {
        true
    }

    /// Returns the value of an optional directive that is missing and has no default.
    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        let _ = (at, reader);
        None
    }
}

/// A type whose values can be compared with the bounds in a declaration.
pub trait Bounded: FromConfig {
    /// The type of the bounds: the type itself, or that of its elements.
    type Bound: Bounded<Bound = Self::Bound>;

    /// Returns whether the value is out of bounds.
    fn is_outside(&self, low: &Self::Bound, high: &Self::Bound) -> bool;
}

/// Reads values: gives access to the sources and environment variables, and collects findings.
pub struct Reader<'a> {
    sources: &'a Sources,
    environment: &'a dyn Fn(&str) -> Option<String>,
    findings: &'a mut Diagnostics,
    /// The declaration of the whole document, for hints about directives of other sections.
    root: Option<&'static Declaration>,
    /// The names of what is being read, from the outermost in.
    subjects: Vec<Subject>,
    /// While a default is read: the section that lacks the directive, where findings are placed.
    default_of: Option<Span>,
}

/// The subject of findings.
struct Subject {
    /// The name of a directive or of a named table; empty for the element of a list.
    name: Cow<'static, str>,
    /// The bounds of the directive.
    bounds: Option<Bounds>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        sources: &'a Sources,
        environment: &'a dyn Fn(&str) -> Option<String>,
        findings: &'a mut Diagnostics,
    ) -> Reader<'a> {
        Reader {
            sources,
            environment,
            findings,
            root: None,
            subjects: Vec::new(),
            default_of: None,
        }
    }

    /// Adds a finding to those of the document.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if let Some(section) = self.default_of {
            diagnostic.span = section;
            diagnostic = diagnostic.note("this comes from the default of the directive");
        }
        self.findings.push(diagnostic);
    }

    /// Returns whether directives of the top level are being read.
    pub(crate) fn is_at_root(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Returns the number of findings so far, for [`Self::truncate_findings`].
    pub(crate) fn finding_count(&self) -> usize {
        self.findings.len()
    }

    /// Removes all findings but the first `findings`.
    pub(crate) fn truncate_findings(&mut self, findings: usize) {
        self.findings.truncate(findings);
    }

    /// Sets the declaration of the whole document.
    pub(crate) fn with_root(mut self, root: &'static Declaration) -> Reader<'a> {
        self.root = Some(root);
        self
    }

    /// Returns the headers of all sections that have a directive of this name.
    pub(crate) fn headers_of(&self, name: &str) -> Vec<String> {
        let sections = self.root.map(section_paths).unwrap_or_default();
        let has = sections.iter().filter(|section| section.declaration.field(name).is_some());
        has.map(SectionPath::header).collect()
    }

    /// Reports that a value has the wrong type.
    pub fn mismatch(&mut self, node: &Node, wanted: &Shape) {
        if matches!(node.value, Value::Broken) {
            return;
        }
        let reason = format!("is given {}", node.value.kind());
        self.refuse(node, wanted, &reason);
    }

    /// Reports that a value is invalid; `reason` is the end of a sentence.
    pub fn refuse(&mut self, node: &Node, wanted: &Shape, reason: &str) {
        let message = format!("{} {reason}", self.subject());
        let bounds = self.subjects.last().and_then(|subject| subject.bounds);
        self.report(Diagnostic::error(node.span, message).expected(wanted.phrase_within(bounds)));
    }

    /// Returns what is being read, to begin a message with: `` `max_age` `` or `` an element of
    /// `hosts` ``.
    pub fn subject(&self) -> String {
        match self.subjects.as_slice() {
            [] => "the document".to_owned(),
            [.., of, element] if element.name.is_empty() => {
                format!("an element of `{}`", of.name)
            }
            [.., subject] => format!("`{}`", subject.name),
        }
    }

    /// Reads a value under another name inside a directive.
    pub fn within<T>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> T {
        let name = name.into();
        self.about(Subject { name, bounds: None }, read)
    }

    /// Reads an element of the list that is being read.
    pub fn element<T>(&mut self, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        let list = self.subjects.last();
        if list.is_some_and(|list| list.name.is_empty()) {
            return read(self);
        }
        let bounds = list.and_then(|list| list.bounds);
        let name = Cow::Borrowed("");
        self.about(Subject { name, bounds }, read)
    }

    /// Reads the value of a directive.
    pub(crate) fn directive<T>(
        &mut self,
        field: &'static Field,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> T {
        let subject = Subject { name: Cow::Borrowed(field.name()), bounds: field.bounds_text() };
        self.about(subject, read)
    }

    fn about<T>(&mut self, subject: Subject, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        self.subjects.push(subject);
        let result = read(self);
        self.subjects.pop();
        result
    }

    /// Returns the text of a value with its variables expanded; reports any other type.
    pub fn text<'n>(&mut self, node: &'n Node, wanted: &Shape) -> Option<Cow<'n, str>> {
        match &node.value {
            Value::Bare(text) => Some(Cow::Borrowed(text)),
            Value::Text(text) => match expand(text, self.environment) {
                Ok(text) => Some(text),
                Err(faults) => {
                    for fault in faults {
                        self.unexpanded(node, text, fault);
                    }
                    None
                }
            },
            _ => {
                self.mismatch(node, wanted);
                None
            }
        }
    }

    /// Parses the text of a value; the error of `parse` ends the sentence of the finding.
    pub fn parsed<T>(
        &mut self,
        node: &Node,
        wanted: &Shape,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.text(node, wanted)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(reason) => {
                let reason = format!("cannot be `{}`: {reason}", cited(&text));
                self.refuse(node, wanted, &reason);
                None
            }
        }
    }

    /// Returns the text of a value that is a number or boolean by type: from a flag or environment
    /// variable, or `"${NAME}"`.
    pub(crate) fn plain<'n>(&mut self, node: &'n Node, wanted: &Shape) -> Option<Cow<'n, str>> {
        match &node.value {
            Value::Text(text) if !text.contains("${") => {
                self.mismatch(node, wanted);
                None
            }
            _ => self.text(node, wanted),
        }
    }

    fn unexpanded(&mut self, node: &Node, text: &str, problem: Unexpanded) {
        let span = self.part(node, text, &problem);
        self.report(match problem.fault {
            Fault::NotSet(name) => {
                let message = format!("the environment variable `{name}` is not set");
                Diagnostic::error(span, message).note(format!("`${{{name}:-text}}` has a fallback"))
            }
            Fault::Open => Diagnostic::error(span, "unclosed variable `${`")
                .expected("`}`")
                .note("`$${` stands for `${` itself"),
            Fault::NoName(name) if name.is_empty() => {
                Diagnostic::error(span, "missing name between the braces")
                    .expected("the name of an environment variable")
                    .note("`$${` stands for `${` itself")
            }
            Fault::NoName(name) => {
                let message =
                    format!("`{}` is not a valid name of an environment variable", cited(&name));
                Diagnostic::error(span, message)
                    .expected("letters, digits and underscores")
                    .note("`$${` stands for `${` itself")
            }
        });
    }

    /// Returns the span of a part of a text: exact, unless the text has escapes.
    fn part(&self, node: &Node, text: &str, problem: &Unexpanded) -> Span {
        let written = self.sources.slice(node.span);
        let quotes = written.len().saturating_sub(text.len()) / 2;
        let inner = written.get(quotes..written.len() - quotes);
        if inner == Some(text) {
            let range = &problem.range;
            node.span.part(range.start + quotes, range.end + quotes)
        } else {
            node.span
        }
    }

    /// Returns the folder that a relative path in this value starts from.
    pub fn folder(&self, node: &Node) -> std::path::PathBuf {
        self.sources.folder(node.span)
    }

    /// Makes a setting of a value, with the origin and span of its node.
    pub fn setting<T>(&self, node: &Node, value: T) -> Setting<T> {
        match self.default_of {
            Some(section) => Setting::default_at(value, section),
            None => Setting::from_source(value, node.span),
        }
    }

    /// Reads something and drops its findings, which are reported elsewhere.
    pub(crate) fn silently<T>(&mut self, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        let before = std::mem::take(self.findings);
        let result = read(self);
        *self.findings = before;
        result
    }

    /// Reads the value in a declaration, on behalf of the section at `section`.
    pub(crate) fn declared<T: FromConfig>(
        &mut self,
        literal: &Literal,
        section: Span,
    ) -> Option<T> {
        let before = self.default_of.replace(section);
        let value = T::read(literal.node(), self);
        self.default_of = before;
        value
    }
}
