//! A document as a tree in which every key and every value knows its place. It says nothing of what a directive means.

use crate::span::Span;

/// A value and its place. The place of a table with a header is its header.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

impl Node {
    /// The elements of a list.
    pub fn elements(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(elements, _) => Some(elements),
            _ => None,
        }
    }
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text in quotes, as written: variables in it are not yet expanded.
    Text(String),
    /// The value of a flag or of an environment variable: it has no quotes, so its type is what the directive takes.
    Bare(String),
    /// A number without a fraction.
    Integer(i128),
    /// A number with one.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time of day, or both, as written. No directive takes one.
    Date(String),
    /// A list in brackets, or tables under `[[headers]]`.
    List(Vec<Node>, ListForm),
    /// A table.
    Table(Table),
    /// What could not be read and has been reported: whoever meets it says nothing more.
    Broken,
}

impl Value {
    /// What people call it, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) | Value::Bare(_) => "a text",
            Value::Integer(_) => "an integer",
            Value::Number(_) => "a number with a fraction",
            Value::Boolean(_) => "a boolean",
            Value::Date(_) => "a date",
            Value::List(_, ListForm::Brackets) => "a list",
            Value::List(_, ListForm::Headers) => "a list of tables",
            Value::Table(_) => "a table",
            Value::Broken => "nothing readable",
        }
    }
}

/// How a list was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// `[a, b]`: complete as it stands.
    Brackets,
    /// `[[name]]`: may be continued.
    Headers,
}

/// How a table was written, which decides what may still be added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// `{ a = 1 }`: complete as it stands.
    Braces,
    /// `[name]`, `[[name]]`, or the document itself.
    Header,
    /// `[name.other]` has made `name`; its own header may follow.
    Implied,
    /// `name.other = 1` has made `name`.
    Dotted,
}

/// Keys and values in the order of the document.
#[derive(Clone, Debug)]
pub struct Table {
    /// How it was written.
    pub form: TableForm,
    /// Its directives; no name is there twice.
    pub entries: Vec<Entry>,
}

impl Table {
    pub(crate) fn new(form: TableForm) -> Table {
        Table {
            form,
            entries: Vec::new(),
        }
    }

    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.name == name)
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key.name == name)
    }
}

/// One directive.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub key: Key,
    /// What it is given.
    pub node: Node,
}

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name, without quotes and escapes.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}
