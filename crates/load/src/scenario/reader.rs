//! A TOML document as values with their places, where each mistake is noted and the reading goes on.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::finding::{Findings, Place, did_you_mean};

/// A value with its place.
pub(super) type Node<'a> = &'a Spanned<DeValue<'a>>;

/// A document and what is wrong with it so far.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    findings: Findings,
}

/// A table whose keys are known.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    table: &'a DeTable<'a>,
    /// Where it stands, for what is missing in it.
    pub(super) span: Range<usize>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node<'a>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &str, text: &'t str) -> Self {
        Self {
            text,
            findings: Findings::new(file),
        }
    }

    /// Notes a mistake.
    pub(super) fn wrong(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.findings.at(Place::of(self.text, span.start), message);
    }

    /// Notes a mistake that is so many bytes into a text. Where the text was written with escapes, it is told at its
    /// beginning.
    pub(super) fn wrong_inside(&mut self, node: Node<'_>, offset: usize, message: String) {
        let span = node.span();
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let value = node.get_ref().as_str().unwrap_or_default();
        let start = match raw.find(value) {
            Some(at) if !value.is_empty() => span.start + at + offset,
            _ => span.start,
        };
        self.findings.at(Place::of(self.text, start), message);
    }

    /// Notes a mistake of the whole document.
    pub(super) fn wrong_whole(&mut self, message: impl Into<String>) {
        self.findings.whole(message);
    }

    /// `value`, unless something is wrong.
    pub(super) fn finish<T>(self, value: T) -> Result<T, Vec<crate::finding::Finding>> {
        self.findings.or(value)
    }

    /// A table with no keys but these; `what` names it.
    pub(super) fn table<'a>(
        &mut self,
        node: Node<'a>,
        what: &str,
        keys: &[&str],
    ) -> Option<Table<'a>> {
        let table = self.any_table(node, what)?;
        self.check_keys(&table, what, keys);
        Some(table)
    }

    /// A table with any keys.
    pub(super) fn any_table<'a>(&mut self, node: Node<'a>, what: &str) -> Option<Table<'a>> {
        let Some(table) = node.get_ref().as_table() else {
            self.wrong_type(node, what, "a table");
            return None;
        };
        Some(Table {
            table,
            span: node.span(),
        })
    }

    /// Notes the keys of a table that are none of these.
    pub(super) fn check_keys(&mut self, table: &Table<'_>, what: &str, keys: &[&str]) {
        for entry in table.entries() {
            if !keys.contains(&entry.key) {
                let hint = did_you_mean(entry.key, keys.iter().copied());
                let known = if hint.is_empty() {
                    format!("; it has {}", keys.join(", "))
                } else {
                    hint
                };
                let message = format!("{what} has no \"{}\"{known}", entry.key);
                self.wrong(&entry.key_span, message);
            }
        }
    }

    /// A text.
    pub(super) fn text<'a>(&mut self, node: Node<'a>, what: &str) -> Option<&'a str> {
        let text = node.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(node, what, "a text");
        }
        text
    }

    /// A whole number between two.
    pub(super) fn number(&mut self, node: Node<'_>, what: &str, range: Range<u64>) -> Option<u64> {
        let Some(integer) = node.get_ref().as_integer() else {
            self.wrong_type(node, what, "a whole number");
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let message = format!(
                "{what} is {integer}; expected {} to {}",
                range.start,
                range.end - 1
            );
            self.wrong(&node.span(), message);
        }
        number
    }

    /// The values of a list, which has one at least.
    pub(super) fn array<'a>(&mut self, node: Node<'a>, what: &str) -> Vec<Node<'a>> {
        let Some(array) = node.get_ref().as_array() else {
            self.wrong_type(node, what, "a list");
            return Vec::new();
        };
        array.iter().collect()
    }

    /// Pairs of names and texts, in order.
    pub(super) fn pairs<'a>(&mut self, node: Node<'a>, what: &str) -> Vec<(&'a str, Node<'a>)> {
        let Some(table) = self.any_table(node, what) else {
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for entry in table.entries() {
            if self.text(entry.value, entry.key).is_some() {
                pairs.push((entry.key, entry.value));
            }
        }
        pairs
    }

    /// Notes a value of the wrong type.
    pub(super) fn wrong_type(&mut self, node: Node<'_>, what: &str, expected: &str) {
        let found = match node.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.wrong(
            &node.span(),
            format!("{what} is {found}; expected {expected}"),
        );
    }
}

/// One value or a list of them.
pub(super) fn one_or_more(node: Node<'_>) -> Vec<Node<'_>> {
    match node.get_ref().as_array() {
        Some(array) => array.iter().collect(),
        None => vec![node],
    }
}

impl<'a> Table<'a> {
    pub(super) fn new(table: &'a Spanned<DeTable<'a>>) -> Self {
        Self {
            table: table.get_ref(),
            span: table.span(),
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key)
    }

    /// All keys in the order of the document.
    pub(super) fn entries(&self) -> Vec<Entry<'a>> {
        let entries = self.table.iter().map(|(key, value)| Entry {
            key: key.get_ref().as_ref(),
            key_span: key.span(),
            value,
        });
        let mut entries: Vec<Entry<'a>> = entries.collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        entries
    }
}
