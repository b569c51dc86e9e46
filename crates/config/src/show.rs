//! Values as they are written in a document: what `config show` prints, as TOML with the origin of
//! each directive in a comment, or as JSON.

use std::fmt::Write as _;

use serde_json::Value as Json;
use serde_json::{Map, json};

use crate::reader::FromConfig;
use crate::setting::Origin;
use crate::source::Span;
use crate::source::{Source, SourceKind, Sources};

/// A value in the form that a document has.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A directive that is not set and has no default.
    Nothing,
    /// A text, without quotes.
    Text(String),
    /// A text that must not be shown.
    Hidden,
    /// A number without a fraction.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// A boolean: `true` or `false`.
    Boolean(bool),
    /// A list of values.
    List(Vec<Shown>),
    /// A section, or a table whose names users choose.
    Table(Vec<ShownEntry>),
}

/// One directive of a section, or one name of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEntry {
    /// The name of the directive.
    pub name: String,
    /// Where the value came from; `None` for a name of a table, whose directives have their own
    /// origins.
    pub origin: Option<Origin>,
    /// The value of the directive.
    pub value: Shown,
}

/// Returns a section as TOML that reads as the same section, with the origin of each directive in a
/// comment. Only hidden texts are missing.
pub fn show_text<T: FromConfig>(value: &T, sources: &Sources) -> String {
    let mut page = Page { sources, text: String::new() };
    if let Shown::Table(entries) = value.show() {
        page.table(&entries, "");
    }
    page.text
}

/// Returns a section as JSON in which each directive is an object of its `value` and its `origin`.
pub fn show_json<T: FromConfig>(value: &T, sources: &Sources) -> Json {
    with_origins(&value.show(), sources)
}

impl Shown {
    /// Returns the value as JSON, without origins.
    pub fn to_json(&self) -> Json {
        match self {
            Shown::Nothing | Shown::Hidden => Json::Null,
            Shown::Text(text) => json!(text),
            Shown::Integer(number) => integer(*number),
            Shown::Number(number) => json!(number),
            Shown::Boolean(value) => json!(value),
            Shown::List(elements) => elements.iter().map(Shown::to_json).collect(),
            Shown::Table(entries) => {
                let entries = entries.iter();
                Json::Object(
                    entries.map(|entry| (entry.name.clone(), entry.value.to_json())).collect(),
                )
            }
        }
    }

    /// Returns whether the value is written under headers of its own.
    fn has_header(&self) -> bool {
        match self {
            Shown::Table(_) => true,
            Shown::List(elements) => {
                !elements.is_empty()
                    && elements.iter().all(|element| matches!(element, Shown::Table(_)))
            }
            _ => false,
        }
    }

    /// Returns the value on one line.
    fn inline(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Shown::Nothing | Shown::Hidden => "\"\"".to_owned(),
            Shown::Text(text) => toml_string(&text.replace("${", "$${")),
            Shown::Integer(number) => number.to_string(),
            Shown::Number(number) => format!("{number:?}"),
            Shown::Boolean(value) => value.to_string(),
            Shown::List(elements) => {
                format!("[{}]", joined(elements.iter().map(Shown::inline).collect()))
            }
            Shown::Table(entries) => {
                let entries = entries.iter().filter(|entry| entry.value != Shown::Nothing);
                let pair = |entry: &ShownEntry| {
                    format!("{} = {}", toml_key(&entry.name), entry.value.inline())
                };
                format!("{{ {} }}", joined(entries.map(pair).collect()))
            }
        }
    }
}

/// Returns a number as JSON, or as text if it has too many digits.
pub(crate) fn integer(number: i128) -> Json {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => json!(number),
        (_, Ok(number)) => json!(number),
        _ => json!(number.to_string()),
    }
}

fn with_origins(shown: &Shown, sources: &Sources) -> Json {
    match shown {
        Shown::List(elements) => {
            elements.iter().map(|element| with_origins(element, sources)).collect()
        }
        Shown::Table(entries) => {
            let mut object = Map::new();
            for entry in entries {
                let value = with_origins(&entry.value, sources);
                let value = match entry.origin {
                    Some(origin) => {
                        let mut directive =
                            json!({"value": value, "origin": origin_json(origin, sources)});
                        if entry.value == Shown::Hidden {
                            directive["hidden"] = json!(true);
                        }
                        directive
                    }
                    None => value,
                };
                object.insert(entry.name.clone(), value);
            }
            Json::Object(object)
        }
        other => other.to_json(),
    }
}

fn origin_json(origin: Origin, sources: &Sources) -> Json {
    let Some((source, span)) = source(origin, sources) else {
        return json!({"kind": "default"});
    };
    match (source.kind(), sources.position(span)) {
        (SourceKind::Environment, _) => json!({"kind": "environment", "name": source.name()}),
        (SourceKind::Flag, _) => json!({"kind": "flag", "name": source.name()}),
        (SourceKind::File, Some(at)) => {
            json!({"kind": "file", "file": at.file, "line": at.line, "column": at.column})
        }
        (SourceKind::File, None) => json!({"kind": "file"}),
    }
}

fn origin_text(origin: Origin, sources: &Sources) -> String {
    let Some((source, span)) = source(origin, sources) else {
        return "default".to_owned();
    };
    match source.kind() {
        SourceKind::Environment => format!("environment {}", source.name()),
        SourceKind::Flag => format!("flag {}", source.name()),
        SourceKind::File => {
            sources.position(span).map_or_else(String::new, |at| format!("{}:{}", at.file, at.line))
        }
    }
}

/// Returns the source of a value and its span; `None` for a default.
fn source(origin: Origin, sources: &Sources) -> Option<(&Source, Span)> {
    match origin {
        Origin::Default => None,
        Origin::Source(span) => Some((sources.get(span.source())?, span)),
    }
}

/// The column in which comments begin, unless the directive is longer.
const COMMENT_COLUMN: usize = 40;

/// The maximum number of columns in a comment of unset names.
const UNSET_COLUMNS_MAX: usize = 80;

struct Page<'a> {
    sources: &'a Sources,
    text: String,
}

impl Page<'_> {
    /// Writes the directives of a table, those without a header first, as TOML requires.
    fn table(&mut self, entries: &[ShownEntry], path: &str) {
        for entry in entries.iter().filter(|entry| !entry.value.has_header()) {
            self.directive(entry);
        }
        let is_unset = |entry: &&ShownEntry| entry.value == Shown::Nothing;
        let unset = entries.iter().filter(is_unset).map(|entry| toml_key(&entry.name));
        self.unset(&unset.collect::<Vec<_>>());
        for entry in entries.iter().filter(|entry| entry.value.has_header()) {
            let path = match path {
                "" => toml_key(&entry.name),
                path => format!("{path}.{}", toml_key(&entry.name)),
            };
            match &entry.value {
                Shown::Table(inner) => self.headed(&format!("[{path}]"), inner, &path, entry),
                Shown::List(elements) => {
                    for element in elements {
                        if let Shown::Table(inner) = element {
                            self.headed(&format!("[[{path}]]"), inner, &path, entry);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn headed(&mut self, header: &str, inner: &[ShownEntry], path: &str, entry: &ShownEntry) {
        let is_default = entry.origin == Some(Origin::Default);
        let remark = if is_default { "default" } else { "" };
        // A table of names only needs no header, and would have none in a document.
        let names_only =
            inner.iter().all(|entry| entry.origin.is_none() && entry.value.has_header());
        if !names_only || inner.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.line(header, remark);
        }
        self.table(inner, path);
    }

    fn directive(&mut self, entry: &ShownEntry) {
        let remark =
            entry.origin.map_or_else(String::new, |origin| origin_text(origin, self.sources));
        let name = toml_key(&entry.name);
        match entry.value {
            Shown::Nothing => {}
            Shown::Hidden => self.line(&format!("# {name} is hidden"), &remark),
            _ => self.line(&format!("{name} = {}", entry.value.inline()), &remark),
        }
    }

    /// Writes the names of directives without a value as comments.
    fn unset(&mut self, names: &[String]) {
        let mut line = String::new();
        for name in names {
            if !line.is_empty() && line.len() + name.len() > UNSET_COLUMNS_MAX {
                self.line(&format!("# not set: {line}"), "");
                line.clear();
            }
            let comma = if line.is_empty() { "" } else { ", " };
            line.push_str(comma);
            line.push_str(name);
        }
        if !line.is_empty() {
            self.line(&format!("# not set: {line}"), "");
        }
    }

    fn line(&mut self, text: &str, remark: &str) {
        // Writing to a string cannot fail.
        let _ = match (remark, text.starts_with('#')) {
            ("", _) => writeln!(self.text, "{text}"),
            (_, true) => writeln!(self.text, "{text}, {remark}"),
            (_, false) => writeln!(self.text, "{text:<COMMENT_COLUMN$} # {remark}"),
        };
    }
}

/// Returns a name, quoted if necessary.
pub fn toml_key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { toml_string(name) }
}

/// Returns a text as a TOML string in double quotes on one line.
pub fn toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if other.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, as_key: &str, as_string: &str) {
        assert_eq!((&*toml_key(text), &*toml_string(text)), (as_key, as_string));
    }

    #[test]
    fn quotes_what_needs_it() {
        check("", "\"\"", "\"\"");
        check("a b", "\"a b\"", "\"a b\"");
        check("a.b", "\"a.b\"", "\"a.b\"");
        check(
            "\"\\\n\u{1}\u{85}",
            "\"\\\"\\\\\\n\\u0001\\u0085\"",
            "\"\\\"\\\\\\n\\u0001\\u0085\"",
        );
        check("ü", "\"ü\"", "\"ü\"");
        check("a_b-9", "a_b-9", "\"a_b-9\"");
    }
}
