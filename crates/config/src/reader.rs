//! From values in a document to values in Rust: what a type has to say to be usable in a section, and what it is given.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::diagnostic::{Diagnostic, Diagnostics, cited};
use crate::expand::{Fault, Unexpanded, expand};
use crate::faults::Faults;
use crate::places::{Place, places};
use crate::setting::Setting;
use crate::shape::{Bounds, Declaration, Field, Literal, Shape};
use crate::show::Shown;
use crate::source::Sources;
use crate::span::Span;
use crate::tree::{Node, Value};

/// A type that directives can have.
///
/// What is text with a meaning (a time, a network) implements [`FromText`](crate::FromText) instead and gets this for free.
pub trait FromConfig: Clone + Debug + PartialEq + Sized {
    /// What it takes.
    fn shape() -> Shape;

    /// Reads it. `None` means that a finding has been reported, or that the value was broken before.
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// The value as a document would give it.
    fn show(&self) -> Shown;

    /// Whether a directive without a default has to be given.
    fn insists() -> bool {
        true
    }

    /// The value of a directive that is not there and has no default; only asked where it does not insist.
    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        let _ = (at, reader);
        None
    }

    /// What is wrong with the declarations of sections in it; see [`faults`](crate::faults).
    #[doc(hidden)]
    fn faults(faults: &mut Faults) {
        let _ = faults;
    }
}

/// What holds between a value and the bounds in its declaration.
pub trait Bounded: FromConfig {
    /// The type of the bounds: that of the value itself, or of what it holds.
    type Bound: Bounded<Bound = Self::Bound>;

    /// Whether it lies outside.
    fn is_outside(&self, low: &Self::Bound, high: &Self::Bound) -> bool;
}

/// What types are read with: the way to texts, variables and findings.
pub struct Reader<'a> {
    sources: &'a Sources,
    environment: &'a dyn Fn(&str) -> Option<String>,
    found: &'a mut Diagnostics,
    /// The declaration of the whole document, for what is said of directives that stand elsewhere.
    root: Option<&'static Declaration>,
    /// What is being read, from the outside in.
    subjects: Vec<Subject>,
    /// While a default is read: the section that lacks the directive, which takes the blame for it.
    default_of: Option<Span>,
}

/// What findings speak of.
struct Subject {
    /// The name of a directive, or the one that the user has given to a table; empty for the element of a list.
    name: Cow<'static, str>,
    /// Of the directive.
    bounds: Option<Bounds>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        sources: &'a Sources,
        environment: &'a dyn Fn(&str) -> Option<String>,
        found: &'a mut Diagnostics,
    ) -> Reader<'a> {
        Reader {
            sources,
            environment,
            found,
            root: None,
            subjects: Vec::new(),
            default_of: None,
        }
    }

    /// Adds a finding.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if let Some(section) = self.default_of {
            diagnostic.span = section;
            diagnostic = diagnostic.note("this comes from the default of the directive");
        }
        self.found.push(diagnostic);
    }

    /// Whether directives of the top level are being read.
    pub(crate) fn is_at_root(&self) -> bool {
        self.subjects.is_empty()
    }

    /// How many findings there are, to be given to [`Self::forget_since`].
    pub(crate) fn found_so_far(&self) -> usize {
        self.found.len()
    }

    /// Takes back what was found since there were so many.
    pub(crate) fn forget_since(&mut self, found: usize) {
        self.found.truncate(found);
    }

    /// Makes the declarations of a whole document known.
    pub(crate) fn of(mut self, root: &'static Declaration) -> Reader<'a> {
        self.root = Some(root);
        self
    }

    /// The headers of all sections that have a directive of this name.
    pub(crate) fn headers_of(&self, name: &str) -> Vec<String> {
        let places = self.root.map(places).unwrap_or_default();
        let has = places
            .iter()
            .filter(|place| place.declaration.field(name).is_some());
        has.map(Place::header).collect()
    }

    /// Reports that a value is of another kind than the one that is taken.
    pub fn mismatch(&mut self, node: &Node, wanted: &Shape) {
        if matches!(node.value, Value::Broken) {
            return;
        }
        let reason = format!("is given {}", node.value.kind());
        self.refuse(node, wanted, &reason);
    }

    /// Reports that a value is none of what is taken, with the reason as the end of a sentence.
    pub fn refuse(&mut self, node: &Node, wanted: &Shape, reason: &str) {
        let message = format!("{} {reason}", self.subject());
        let bounds = self.subjects.last().and_then(|subject| subject.bounds);
        self.report(Diagnostic::error(node.span, message).expected(wanted.phrase_within(bounds)));
    }

    /// What is being read, for the beginning of a message: `` `max_age` `` or `` an element of `hosts` ``.
    pub fn subject(&self) -> String {
        match self.subjects.as_slice() {
            [] => "the document".to_owned(),
            [.., of, element] if element.name.is_empty() => {
                format!("an element of `{}`", of.name)
            }
            [.., subject] => format!("`{}`", subject.name),
        }
    }

    /// Reads something of another name inside of a directive.
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

    /// Reads a directive.
    pub(crate) fn directive<T>(
        &mut self,
        field: &'static Field,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> T {
        let subject = Subject {
            name: Cow::Borrowed(field.name()),
            bounds: field.bounds_text(),
        };
        self.about(subject, read)
    }

    fn about<T>(&mut self, subject: Subject, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        self.subjects.push(subject);
        let result = read(self);
        self.subjects.pop();
        result
    }

    /// The text of a value with its variables expanded; everything else is a mismatch.
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

    /// What a value's text means by `parse`, whose error ends the sentence that refuses it.
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

    /// The text of a value that is a number or a boolean by type: that of a flag or variable, or `"${NAME}"`.
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
            Fault::Open => Diagnostic::error(span, "`${` begins a variable and is not closed")
                .expected("`}`")
                .note("`$${` stands for `${` itself"),
            Fault::NoName(name) if name.is_empty() => {
                Diagnostic::error(span, "there is no name between the braces")
                    .expected("the name of an environment variable")
                    .note("`$${` stands for `${` itself")
            }
            Fault::NoName(name) => {
                let message = format!("`{}` is no name of an environment variable", cited(&name));
                Diagnostic::error(span, message)
                    .expected("letters, digits and underscores")
                    .note("`$${` stands for `${` itself")
            }
        });
    }

    /// Where a part of a text stands: exactly, unless escapes have moved it.
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

    /// The folder that a relative path of this value starts from.
    pub fn folder(&self, node: &Node) -> std::path::PathBuf {
        self.sources.folder(node.span)
    }

    /// A value with the origin and the place of its node.
    pub fn setting<T>(&self, node: &Node, value: T) -> Setting<T> {
        match self.default_of {
            Some(section) => Setting::default_at(value, section),
            None => Setting::given(value, node.span),
        }
    }

    /// Reads something whose findings are told elsewhere.
    pub(crate) fn silently<T>(&mut self, read: impl FnOnce(&mut Reader<'a>) -> T) -> T {
        let before = std::mem::take(self.found);
        let result = read(self);
        *self.found = before;
        result
    }

    /// Reads the value that a declaration gives, on behalf of the section at `section`.
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
