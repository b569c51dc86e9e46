//! A document as a tree in which every key and every value knows its span, and how headers, dotted
//! names and several files are assembled into one tree.
//!
//! The rules are those of TOML, and hold across files as within one: what a second file adds is
//! read as if it stood in the first. Lists of tables are continued, tables that only other headers
//! have made may get their own, and everything else is given once.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Up to this many directives of a table are searched one after the other; more have an index.
const SEARCHED_MAX: usize = 32;

/// A value and its span. The span of a table with a header is its header.
#[derive(Clone, Debug)]
pub struct Node {
    /// The text of the value.
    pub span: Span,
    /// The value, if it was valid.
    pub value: Value,
}

impl Node {
    /// Returns the elements of a list.
    pub fn elements(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(elements, _) => Some(elements),
            _ => None,
        }
    }
}

/// A value of a document.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text in quotes, as written: variables in it are not expanded yet.
    Text(String),
    /// The value of a flag or environment variable. It has no quotes, so the directive determines
    /// its type.
    Bare(String),
    /// A number without a fraction.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// A boolean: `true` or `false`.
    Boolean(bool),
    /// A date, a time of day, or both, as written. No directive accepts one.
    Date(String),
    /// A list in brackets, or tables under `[[headers]]`.
    List(Vec<Node>, ListForm),
    /// A table of directives.
    Table(Table),
    /// A value that could not be parsed, which has been reported: it causes no further findings.
    Broken,
}

impl Value {
    /// Returns the name of the value's type, with its article.
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
            Value::Broken => "an invalid value",
        }
    }
}

/// How a list was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// `[a, b]`: cannot be extended.
    Brackets,
    /// `[[name]]`: can be extended by further headers.
    Headers,
}

/// How a table was written, which decides what can be added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// `{ a = 1 }`: cannot be extended.
    Braces,
    /// `[name]`, `[[name]]`, or the document itself.
    Header,
    /// Implied by `[name.other]`; its own header may follow.
    Implied,
    /// Implied by `name.other = 1`.
    Dotted,
}

/// Keys and values in the order of the document.
#[derive(Clone, Debug)]
pub struct Table {
    /// How the table was written.
    pub form: TableForm,
    /// The directives; names are unique.
    entries: Vec<DirectiveEntry>,
    /// The position of each name, if there are more than [`SEARCHED_MAX`].
    index: HashMap<String, usize>,
}

impl Table {
    pub(crate) fn new(form: TableForm) -> Table {
        Table { form, entries: Vec::new(), index: HashMap::new() }
    }

    /// Returns the directives in the order of the document.
    pub fn entries(&self) -> &[DirectiveEntry] {
        &self.entries
    }

    /// Returns the directive of a name.
    pub fn get(&self, name: &str) -> Option<&DirectiveEntry> {
        self.position(name).map(|at| &self.entries[at])
    }

    fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|entry| entry.key.name == name);
        }
        self.index.get(name).copied()
    }

    /// Adds a directive whose name the table does not have.
    fn push(&mut self, key: Key, node: Node) {
        self.entries.push(DirectiveEntry { key, node });
        if self.entries.len() > SEARCHED_MAX {
            // A table that has just become large gets its whole index at once.
            for (at, entry) in self.entries.iter().enumerate().skip(self.index.len()) {
                self.index.insert(entry.key.name.clone(), at);
            }
        }
    }

    /// Sets the value of a directive, in place of the one that the table may have.
    pub(crate) fn replace(&mut self, key: Key, node: Node) {
        match self.position(&key.name) {
            Some(at) => self.entries[at].node = node,
            None => self.push(key, node),
        }
    }
}

/// One directive: a key and its value.
#[derive(Clone, Debug)]
pub struct DirectiveEntry {
    /// The name of the directive.
    pub key: Key,
    /// The value of the directive.
    pub node: Node,
}

/// A name with its span.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name, without quotes and escapes.
    pub name: String,
    /// The text of the name.
    pub span: Span,
}

/// What a header opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// A table: `[name]`.
    Table,
    /// An element of a list: `[[name]]`.
    Element,
}

/// The tree of all files so far, and the table that directives are added to.
#[derive(Debug)]
pub(crate) struct Assembly {
    root: Table,
    current: Current,
}

#[derive(Debug)]
enum Current {
    /// The table at these names, through the last elements of lists.
    Table(Vec<String>),
    /// A table whose header is a duplicate: further duplicates in it are not reported.
    Duplicate(Vec<String>),
    /// None, since the header was invalid.
    Invalid,
}

impl Assembly {
    pub(crate) fn new() -> Assembly {
        Assembly { root: Table::new(TableForm::Header), current: Current::Table(Vec::new()) }
    }

    /// Returns to the top level, where each file begins.
    pub(crate) fn begin_file(&mut self) {
        self.current = Current::Table(Vec::new());
    }

    /// Returns whether directives are added to the top level.
    pub(crate) fn is_at_top(&self) -> bool {
        matches!(&self.current, Current::Table(path) if path.is_empty())
    }

    /// Returns the whole tree.
    pub(crate) fn into_root(self) -> Table {
        self.root
    }

    /// Opens the table of a header.
    pub(crate) fn header(
        &mut self,
        path: &[Key],
        span: Span,
        header: Header,
        findings: &mut Diagnostics,
    ) {
        let names = path.iter().map(|key| key.name.clone()).collect();
        self.current = match self.open(path, span, header) {
            Ok(()) => Current::Table(names),
            Err(problem) => {
                let again = self.table_at(&names).is_some();
                findings.push_new(problem);
                if again { Current::Duplicate(names) } else { Current::Invalid }
            }
        };
    }

    fn open(&mut self, path: &[Key], span: Span, header: Header) -> Result<(), Problem> {
        let (last, parents) = path.split_last().ok_or(None)?;
        let mut table = &mut self.root;
        for key in parents {
            table = descend(table, key, TableForm::Implied)?;
        }
        let fresh = Node { span, value: Value::Table(Table::new(TableForm::Header)) };
        let Some(at) = table.position(&last.name) else {
            let node = match header {
                Header::Table => fresh,
                Header::Element => {
                    Node { span, value: Value::List(vec![fresh], ListForm::Headers) }
                }
            };
            table.push(last.clone(), node);
            return Ok(());
        };
        let entry = &mut table.entries[at];
        match (&mut entry.node.value, header) {
            (Value::List(elements, ListForm::Headers), Header::Element) => {
                elements.push(fresh);
                Ok(())
            }
            (Value::Table(known), Header::Table) if known.form == TableForm::Implied => {
                known.form = TableForm::Header;
                entry.node.span = span;
                entry.key.span = last.span;
                Ok(())
            }
            (Value::Broken, _) => Err(None),
            _ => Err(Some(Box::new(duplicate(last, entry)))),
        }
    }

    /// Adds a directive to the current table.
    pub(crate) fn directive(&mut self, path: &[Key], node: Node, findings: &mut Diagnostics) {
        let Err(problem) = self.add(path, node) else {
            return;
        };
        if matches!(self.current, Current::Table(_)) {
            findings.push_new(problem);
        }
    }

    fn add(&mut self, path: &[Key], node: Node) -> Result<(), Problem> {
        let (Current::Table(names) | Current::Duplicate(names)) = &self.current else {
            return Err(None);
        };
        let names = names.clone();
        let table = self.table_at(&names).ok_or(None)?;
        insert_within(table, path, node)
    }

    fn table_at(&mut self, names: &[String]) -> Option<&mut Table> {
        let mut table = &mut self.root;
        for name in names {
            let at = table.position(name)?;
            table = match &mut table.entries[at].node.value {
                Value::Table(inner) if inner.form != TableForm::Braces => inner,
                Value::List(elements, ListForm::Headers) => last_table(elements)?,
                _ => return None,
            };
        }
        Some(table)
    }
}

/// Why a directive cannot be added to the tree; `None` if that was reported before.
pub(crate) type Problem = Option<Box<Diagnostic>>;

/// Adds a directive to a table in braces, or to the table that its dotted name leads to.
pub(crate) fn insert_within(table: &mut Table, path: &[Key], node: Node) -> Result<(), Problem> {
    let (key, parents) = path.split_last().ok_or(None)?;
    let mut table = table;
    for parent in parents {
        table = descend(table, parent, TableForm::Dotted)?;
    }
    if let Some(entry) = table.get(&key.name) {
        return Err(Some(Box::new(duplicate(key, entry))));
    }
    table.push(key.clone(), node);
    Ok(())
}

/// Returns the table of a name within another; creates it in the given form if it does not exist.
fn descend<'t>(table: &'t mut Table, key: &Key, made: TableForm) -> Result<&'t mut Table, Problem> {
    let at = table.position(&key.name).unwrap_or_else(|| {
        let node = Node { span: key.span, value: Value::Table(Table::new(made)) };
        table.push(key.clone(), node);
        table.entries.len() - 1
    });
    let entry = &mut table.entries[at];
    let problem = Some(Box::new(duplicate(key, entry)));
    match &mut entry.node.value {
        Value::Table(inner) if may_grow(inner.form, made) => Ok(inner),
        Value::List(elements, ListForm::Headers) if made == TableForm::Implied => {
            last_table(elements).ok_or(problem)
        }
        Value::Broken => Err(None),
        _ => Err(problem),
    }
}

/// Returns whether a table of one form can be extended by a header (`Implied`) or a dotted name
/// (`Dotted`).
fn may_grow(form: TableForm, by: TableForm) -> bool {
    match form {
        TableForm::Braces => false,
        TableForm::Header => by == TableForm::Implied,
        TableForm::Implied | TableForm::Dotted => true,
    }
}

fn last_table(elements: &mut [Node]) -> Option<&mut Table> {
    match &mut elements.last_mut()?.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn duplicate(key: &Key, first: &DirectiveEntry) -> Diagnostic {
    let note = match &first.node.value {
        Value::Table(table) if table.form == TableForm::Braces => {
            "first defined here, as an inline table".to_owned()
        }
        Value::Table(_) => "first defined here".to_owned(),
        other => format!("first defined here, as {}", other.kind()),
    };
    let message = format!("`{}` is defined twice", key.name);
    Diagnostic::error(key.span, message).note_at(first.key.span, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key { name: name.to_owned(), span: Span::NOWHERE }
    }

    fn number(value: usize) -> Node {
        Node { span: Span::NOWHERE, value: Value::Integer(value as i128) }
    }

    /// A table of that many directives finds each of them, refuses each a second time, and has an
    /// index of this length.
    #[track_caller]
    fn check(count: usize, indexed: usize) {
        let mut table = Table::new(TableForm::Header);
        for value in 0..count {
            assert!(table.get(&format!("k{value}")).is_none());
            insert_within(&mut table, &[key(&format!("k{value}"))], number(value)).unwrap();
        }
        assert_eq!(table.index.len(), indexed, "{count}");
        for value in 0..count {
            let name = format!("k{value}");
            assert_eq!(table.position(&name), Some(value));
            assert!(insert_within(&mut table, &[key(&name)], number(value)).is_err());
        }
        table.replace(key("k0"), number(7));
        assert!(matches!(table.get("k0").unwrap().node.value, Value::Integer(7)));
        assert_eq!(table.entries().len(), count);
    }

    #[test]
    fn large_tables_have_an_index() {
        check(1, 0);
        check(SEARCHED_MAX, 0);
        check(SEARCHED_MAX + 1, SEARCHED_MAX + 1);
        check(50_000, 50_000);
    }
}
