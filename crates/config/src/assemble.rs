//! How headers, dotted names and several files grow into one tree.
//!
//! The rules are those of TOML, and hold across files as within one: what a second file adds is read as if it stood in
//! the first. Lists of tables are continued, tables that only other headers have made may get their own, and everything
//! else is given once.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use crate::tree::{Entry, Key, ListForm, Node, Table, TableForm, Value};

/// What a header opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// `[name]`
    Table,
    /// `[[name]]`
    Element,
}

/// The tree of all files so far, and the table that directives go to now.
#[derive(Debug)]
pub(crate) struct Assembly {
    root: Table,
    current: Current,
}

#[derive(Debug)]
enum Current {
    /// The table at these names, through the last elements of lists.
    Table(Vec<String>),
    /// The same, whose header stands there for the second time: what is in it twice is not worth another word.
    Again(Vec<String>),
    /// None: the header was wrong.
    Nowhere,
}

impl Assembly {
    pub(crate) fn new() -> Assembly {
        Assembly {
            root: Table::new(TableForm::Header),
            current: Current::Table(Vec::new()),
        }
    }

    /// Goes back to the top level, where each file begins.
    pub(crate) fn begin_file(&mut self) {
        self.current = Current::Table(Vec::new());
    }

    /// Whether directives now go to the top level.
    pub(crate) fn is_at_top(&self) -> bool {
        matches!(&self.current, Current::Table(path) if path.is_empty())
    }

    /// The tree.
    pub(crate) fn into_root(self) -> Table {
        self.root
    }

    /// Opens the table of a header.
    pub(crate) fn header(
        &mut self,
        path: &[Key],
        span: Span,
        header: Header,
        found: &mut Diagnostics,
    ) {
        let names = path.iter().map(|key| key.name.clone()).collect();
        self.current = match self.open(path, span, header) {
            Ok(()) => Current::Table(names),
            Err(problem) => {
                let again = self.table_at(&names).is_some();
                found.extend_with(problem);
                if again {
                    Current::Again(names)
                } else {
                    Current::Nowhere
                }
            }
        };
    }

    fn open(&mut self, path: &[Key], span: Span, header: Header) -> Result<(), Problem> {
        let Some((last, parents)) = path.split_last() else {
            return Err(Problem::Known);
        };
        let mut table = &mut self.root;
        for key in parents {
            table = descend(table, key, TableForm::Implied)?;
        }
        let fresh = Node {
            span,
            value: Value::Table(Table::new(TableForm::Header)),
        };
        let Some(at) = table.position(&last.name) else {
            let node = match header {
                Header::Table => fresh,
                Header::Element => Node {
                    span,
                    value: Value::List(vec![fresh], ListForm::Headers),
                },
            };
            table.entries.push(Entry {
                key: last.clone(),
                node,
            });
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
            (Value::Broken, _) => Err(Problem::Known),
            _ => Err(given_twice(last, entry)),
        }
    }

    /// Gives a directive of the current table its value.
    pub(crate) fn directive(&mut self, path: &[Key], node: Node, found: &mut Diagnostics) {
        let Err(problem) = self.give(path, node) else {
            return;
        };
        if matches!(self.current, Current::Table(_)) {
            found.extend_with(problem);
        }
    }

    fn give(&mut self, path: &[Key], node: Node) -> Result<(), Problem> {
        let (Current::Table(names) | Current::Again(names)) = &self.current else {
            return Err(Problem::Known);
        };
        let names = names.clone();
        let (Some(mut table), Some((last, parents))) = (self.table_at(&names), path.split_last())
        else {
            return Err(Problem::Known);
        };
        for key in parents {
            table = descend(table, key, TableForm::Dotted)?;
        }
        insert(table, last, node)
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

/// Why something has no place in the tree.
pub(crate) enum Problem {
    /// What is to be said.
    New(Box<Diagnostic>),
    /// It has been said.
    Known,
}

impl Diagnostics {
    pub(crate) fn extend_with(&mut self, problem: Problem) {
        if let Problem::New(diagnostic) = problem {
            self.push(*diagnostic);
        }
    }
}

/// Puts a directive into a table in braces, or into the table that its dotted name leads to.
pub(crate) fn give_within(table: &mut Table, path: &[Key], node: Node) -> Result<(), Problem> {
    let Some((last, parents)) = path.split_last() else {
        return Err(Problem::Known);
    };
    let mut table = table;
    for key in parents {
        table = descend(table, key, TableForm::Dotted)?;
    }
    insert(table, last, node)
}

fn insert(table: &mut Table, key: &Key, node: Node) -> Result<(), Problem> {
    if let Some(entry) = table.get(&key.name) {
        return Err(given_twice(key, entry));
    }
    table.entries.push(Entry {
        key: key.clone(),
        node,
    });
    Ok(())
}

/// The table of a name within another, made in the given form if there is none.
fn descend<'t>(table: &'t mut Table, key: &Key, made: TableForm) -> Result<&'t mut Table, Problem> {
    let at = table.position(&key.name).unwrap_or_else(|| {
        table.entries.push(Entry {
            key: key.clone(),
            node: Node {
                span: key.span,
                value: Value::Table(Table::new(made)),
            },
        });
        table.entries.len() - 1
    });
    let entry = &mut table.entries[at];
    let twice = given_twice(key, entry);
    match &mut entry.node.value {
        Value::Table(inner) if may_grow(inner.form, made) => Ok(inner),
        Value::List(elements, ListForm::Headers) if made == TableForm::Implied => {
            last_table(elements).ok_or(twice)
        }
        Value::Broken => Err(Problem::Known),
        _ => Err(twice),
    }
}

/// Whether a table of one form may get more from a header (`Implied`) or a dotted name (`Dotted`).
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

fn given_twice(key: &Key, first: &Entry) -> Problem {
    let note = match &first.node.value {
        Value::Table(table) if table.form == TableForm::Braces => {
            "first given here, complete in its braces".to_owned()
        }
        Value::Table(_) => "first given here".to_owned(),
        other => format!("first given here, as {}", other.kind()),
    };
    let message = format!("`{}` is given twice", key.name);
    let diagnostic = Diagnostic::error(key.span, message).note_at(first.key.span, note);
    Problem::New(Box::new(diagnostic))
}
