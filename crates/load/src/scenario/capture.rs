//! What is taken from an answer, for later steps.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use super::answer::Look;
use super::expect::check_pointer;
use super::reader::{Entry, Node, Reader};
use crate::template::is_name;

/// The most bytes that are taken.
pub(super) const CAPTURE_BYTES_MAX: usize = 64 << 10;

/// The keys of a capture.
const KEYS: [&str; 3] = ["regex", "field", "json"];

/// What to take, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub(super) name: String,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// The first group of an expression in the content, or all that it finds.
    Content(Regex),
    /// A field, or what an expression finds in it.
    Field(String, Option<Regex>),
    /// What a JSON pointer names: a text as it is, all else as JSON.
    Json(String),
}

impl Capture {
    /// Puts what is found into `value`. `false` where nothing is, or too much.
    pub(super) fn take(&self, look: &Look<'_>, value: &mut Vec<u8>) -> bool {
        value.clear();
        let found = match &self.source {
            Source::Content(regex) => find(regex, look.answer.content),
            Source::Field(name, None) => look.field(name),
            Source::Field(name, Some(regex)) => {
                look.field(name).and_then(|value| find(regex, value))
            }
            Source::Json(pointer) => match look.json(pointer) {
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

/// Reads `capture`: names, each with where its value is.
pub(super) fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Vec<Capture> {
    let table = reader.any_table(node, "capture");
    let entries = table.map_or(Vec::new(), |table| table.entries());
    let mut captures = Vec::new();
    for entry in entries {
        if !is_name(entry.key) {
            let message = format!(
                "\"{}\" cannot be written in braces; expected letters, digits, _ and -, a letter first",
                entry.key
            );
            reader.wrong(&entry.key_span, message);
        }
        captures.extend(read_source(reader, &entry).map(|source| Capture {
            name: entry.key.to_owned(),
            source,
        }));
    }
    captures
}

fn read_source(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Source> {
    let table = reader.table(entry.value, "a capture", &KEYS)?;
    let regex = table.get("regex").and_then(|node| read_regex(reader, node));
    let field = table
        .get("field")
        .and_then(|node| reader.text(node, "field"));
    let json = table.get("json").and_then(|node| {
        let pointer = reader.text(node, "json")?;
        check_pointer(reader, pointer, &node.span());
        Some(pointer)
    });
    let is_written = |key: &str| table.get(key).is_some();
    match (field, json, regex) {
        (Some(name), None, regex) => Some(Source::Field(name.to_owned(), regex)),
        (None, Some(pointer), None) => Some(Source::Json(pointer.to_owned())),
        (None, None, Some(regex)) => Some(Source::Content(regex)),
        _ => {
            // A value that is wrong has been told.
            if is_written("json") || !(is_written("field") || is_written("regex")) {
                let message = format!(
                    "{}: expected field, regex, field with regex, or json",
                    entry.key
                );
                reader.wrong(&entry.value.span(), message);
            }
            None
        }
    }
}

/// Bytes are matched, not characters: answers need not be UTF-8.
fn read_regex(reader: &mut Reader<'_>, node: Node<'_>) -> Option<Regex> {
    let text = reader.text(node, "regex")?;
    match RegexBuilder::new(text).unicode(false).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            // The last line says what is wrong; those above draw it.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            reader.wrong(
                &node.span(),
                format!("the regular expression is wrong: {reason}"),
            );
            None
        }
    }
}
