//! Values on their way back to a document: what `config show` prints, as TOML with the origin of each directive beside
//! it, or as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::reader::FromConfig;
use crate::setting::Origin;
use crate::source::{Source, SourceKind, Sources};
use crate::span::Span;
use crate::toml::{key, string};

/// A value as a document would give it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A directive that is not given and has no default.
    Nothing,
    /// Text, without quotes.
    Text(String),
    /// Text that is not to be seen.
    Hidden,
    /// A number.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// Several values.
    List(Vec<Shown>),
    /// A section, or a table of named ones.
    Table(Vec<ShownEntry>),
}

/// One directive of a section, or one name of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEntry {
    /// Its name.
    pub name: String,
    /// Who said so; nobody for a name of a table, whose directives have their own origins.
    pub origin: Option<Origin>,
    /// Its value.
    pub value: Shown,
}

/// A section as TOML that reads as the same section, with the origin of each directive in a comment. Only hidden texts are
/// not in it.
pub fn show_text<T: FromConfig>(value: &T, sources: &Sources) -> String {
    let mut page = Page {
        sources,
        text: String::new(),
    };
    if let Shown::Table(entries) = value.show() {
        page.table(&entries, "");
    }
    page.text
}

/// A section as JSON in which each directive is an object of its `value` and its `origin`.
pub fn show_json<T: FromConfig>(value: &T, sources: &Sources) -> Json {
    with_origins(&value.show(), sources)
}

impl Shown {
    /// The value alone as JSON, as programs give and take it.
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
                    entries
                        .map(|entry| (entry.name.clone(), entry.value.to_json()))
                        .collect(),
                )
            }
        }
    }

    /// Whether it stands under a header of its own, or several.
    fn has_header(&self) -> bool {
        match self {
            Shown::Table(_) => true,
            Shown::List(elements) => {
                !elements.is_empty()
                    && elements
                        .iter()
                        .all(|element| matches!(element, Shown::Table(_)))
            }
            _ => false,
        }
    }

    /// The value on one line.
    fn inline(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Shown::Nothing | Shown::Hidden => "\"\"".to_owned(),
            Shown::Text(text) => string(&text.replace("${", "$${")),
            Shown::Integer(number) => number.to_string(),
            Shown::Number(number) => format!("{number:?}"),
            Shown::Boolean(value) => value.to_string(),
            Shown::List(elements) => {
                format!("[{}]", joined(elements.iter().map(Shown::inline).collect()))
            }
            Shown::Table(entries) => {
                let entries = entries.iter().filter(|entry| entry.value != Shown::Nothing);
                let pair =
                    |entry: &ShownEntry| format!("{} = {}", key(&entry.name), entry.value.inline());
                format!("{{ {} }}", joined(entries.map(pair).collect()))
            }
        }
    }
}

/// A number of JSON, or text for one that has too many digits.
pub(crate) fn integer(number: i128) -> Json {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => json!(number),
        (_, Ok(number)) => json!(number),
        _ => json!(number.to_string()),
    }
}

fn with_origins(shown: &Shown, sources: &Sources) -> Json {
    match shown {
        Shown::List(elements) => elements
            .iter()
            .map(|element| with_origins(element, sources))
            .collect(),
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
        SourceKind::File => sources
            .position(span)
            .map_or_else(String::new, |at| format!("{}:{}", at.file, at.line)),
    }
}

/// The source of a value, and where in it the value stands; none for a default.
fn source(origin: Origin, sources: &Sources) -> Option<(&Source, Span)> {
    match origin {
        Origin::Default => None,
        Origin::Source(span) => Some((sources.get(span.source())?, span)),
    }
}

/// The column in which comments begin, unless the directive is longer.
const COMMENT_COLUMN: usize = 40;

/// The most columns of names in a line of those that are not set.
const UNSET_COLUMNS_MAX: usize = 80;

struct Page<'a> {
    sources: &'a Sources,
    text: String,
}

impl Page<'_> {
    /// The directives of a table, those without a header first, as TOML wants it.
    fn table(&mut self, entries: &[ShownEntry], path: &str) {
        for entry in entries.iter().filter(|entry| !entry.value.has_header()) {
            self.directive(entry);
        }
        let is_unset = |entry: &&ShownEntry| entry.value == Shown::Nothing;
        let unset = entries
            .iter()
            .filter(is_unset)
            .map(|entry| key(&entry.name));
        self.unset(&unset.collect::<Vec<_>>());
        for entry in entries.iter().filter(|entry| entry.value.has_header()) {
            let path = match path {
                "" => key(&entry.name),
                path => format!("{path}.{}", key(&entry.name)),
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
        // A table of names alone needs no header, and would have none of its own in a document.
        let names_only = inner
            .iter()
            .all(|entry| entry.origin.is_none() && entry.value.has_header());
        if !names_only || inner.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.line(header, remark);
        }
        self.table(inner, path);
    }

    fn directive(&mut self, entry: &ShownEntry) {
        let remark = entry
            .origin
            .map_or_else(String::new, |origin| origin_text(origin, self.sources));
        let name = key(&entry.name);
        match entry.value {
            Shown::Nothing => {}
            Shown::Hidden => self.line(&format!("# {name} is hidden"), &remark),
            _ => self.line(&format!("{name} = {}", entry.value.inline()), &remark),
        }
    }

    /// The names of directives that hold nothing, in lines of comments.
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
