//! What must hold of the answer to a step.

use memchr::memmem::Finder;
use serde_json::Value;
use toml::de::DeValue;

use super::answer::Look;
use super::reader::{Entry, Node, Reader, one_or_more};
use crate::check::StatusSet;

/// The keys of `expect`.
const KEYS: [&str; 6] = ["status", "contains", "lacks", "field", "json", "bytes"];

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
    /// The content has so many bytes.
    Bytes(u64),
}

impl Rule {
    /// What figures call it.
    pub(super) fn name(&self) -> String {
        let text = |finder: &Finder<'_>| String::from_utf8_lossy(finder.needle()).into_owned();
        match self {
            Self::Status(set) => format!("status is {set}"),
            Self::Contains(finder) => format!("contains {:?}", text(finder)),
            Self::Lacks(finder) => format!("lacks {:?}", text(finder)),
            Self::Field(name) => format!("has field {name}"),
            Self::Json(pointer, value) => format!("json {pointer} is {value}"),
            Self::Bytes(bytes) => format!("content has {bytes} bytes"),
        }
    }

    /// Whether it holds. Content beyond what the generator keeps is not seen.
    pub(super) fn holds(&self, look: &Look<'_>) -> bool {
        match self {
            Self::Status(set) => set.contains(look.answer.status),
            Self::Contains(finder) => finder.find(look.answer.content).is_some(),
            Self::Lacks(finder) => finder.find(look.answer.content).is_none(),
            Self::Field(name) => look.field(name).is_some(),
            Self::Json(pointer, value) => look.json(pointer) == Some(value),
            Self::Bytes(bytes) => look.answer.content_bytes == *bytes,
        }
    }
}

/// Reads `expect`. A status is always expected: 200 to 399 where none is written.
pub(super) fn read(reader: &mut Reader<'_>, node: Option<Node<'_>>) -> Vec<Rule> {
    let mut rules = Vec::new();
    let table = node.and_then(|node| reader.table(node, "expect", &KEYS));
    let entries = table.map_or(Vec::new(), |table| table.entries());
    for entry in entries {
        read_key(reader, &entry, &mut rules);
    }
    if !rules.iter().any(|rule| matches!(rule, Rule::Status(_))) {
        rules.insert(0, Rule::Status(StatusSet::default()));
    }
    // A wrong status explains more than what is missing in its content.
    rules.sort_by_key(|rule| !matches!(rule, Rule::Status(_)));
    rules
}

fn read_key(reader: &mut Reader<'_>, entry: &Entry<'_>, rules: &mut Vec<Rule>) {
    let node = entry.value;
    match entry.key {
        "status" => rules.extend(status(reader, node).map(Rule::Status)),
        "contains" | "lacks" => {
            for node in one_or_more(node) {
                let Some(text) = reader.text(node, entry.key) else {
                    continue;
                };
                if text.is_empty() {
                    reader.wrong(&node.span(), format!("{} is empty", entry.key));
                }
                let finder = Finder::new(text).into_owned();
                rules.push(match entry.key {
                    "contains" => Rule::Contains(finder),
                    _ => Rule::Lacks(finder),
                });
            }
        }
        "field" => {
            for node in one_or_more(node) {
                rules.extend(
                    reader
                        .text(node, "field")
                        .map(|name| Rule::Field(name.to_owned())),
                );
            }
        }
        "json" => {
            let table = reader.any_table(node, "json");
            for entry in table.map_or(Vec::new(), |table| table.entries()) {
                check_pointer(reader, entry.key, &entry.key_span);
                let value = json(reader, entry.value);
                rules.extend(value.map(|value| Rule::Json(entry.key.to_owned(), value)));
            }
        }
        "bytes" => rules.extend(reader.number(node, "bytes", 0..u64::MAX).map(Rule::Bytes)),
        _ => {}
    }
}

/// `200`, `"2xx"`, `"200-204"`, and lists of them.
fn status(reader: &mut Reader<'_>, node: Node<'_>) -> Option<StatusSet> {
    let parts = one_or_more(node)
        .into_iter()
        .map(|node| match node.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            _ => String::new(),
        });
    let text = parts.collect::<Vec<_>>().join(",");
    let set = StatusSet::parse(&text);
    if set.is_none() {
        let message = "expected a status such as 200, \"2xx\" or [200, 404]";
        reader.wrong(&node.span(), message);
    }
    set
}

/// RFC 6901: a pointer is empty or begins with a slash.
pub(super) fn check_pointer(reader: &mut Reader<'_>, pointer: &str, span: &std::ops::Range<usize>) {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let message =
            format!("\"{pointer}\" is no JSON pointer; expected one such as \"/items/0/id\"");
        reader.wrong(span, message);
    }
}

/// A value that JSON can hold.
fn json(reader: &mut Reader<'_>, node: Node<'_>) -> Option<Value> {
    let value = match node.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(value) => Some(Value::from(*value)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok().map(Value::from),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    };
    if value.is_none() {
        reader.wrong_type(node, "the value", "a text, a number, true or false");
    }
    value
}
