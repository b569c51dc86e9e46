//! Lists, and tables whose names users choose.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::reader::{Bounded, FromConfig, Reader};
use crate::setting::Setting;
use crate::shape::Shape;
use crate::show::{Shown, ShownEntry};
use crate::source::Span;
use crate::tree::{Node, Value};

impl<T: FromConfig> FromConfig for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, reader).map(Some)
    }

    fn show(&self) -> Shown {
        self.as_ref().map_or(Shown::Nothing, T::show)
    }

    fn needs_value() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(None)
    }
}

impl<T: Bounded> Bounded for Option<T> {
    type Bound = T::Bound;

    fn is_outside(&self, low: &T::Bound, high: &T::Bound) -> bool {
        self.as_ref().is_some_and(|value| value.is_outside(low, high))
    }
}

/// A list in brackets or of tables. A single value without structure stands for a list of one; the
/// text of a flag or variable has its elements separated by commas.
impl<T: FromConfig> FromConfig for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::List(elements, _) => Some(read_all(elements, reader)),
            Value::Bare(text) => Some(read_all(&pieces(node.span, text), reader)),
            value if !matches!(value, Value::Table(_)) && T::shape().accepts(value) => {
                T::read(node, reader).map(|value| vec![value])
            }
            Value::Table(_) if matches!(T::shape(), Shape::Section(_)) => {
                let message = format!("{} is given a table", reader.subject());
                let problem =
                    Diagnostic::error(node.span, message).expected(Self::shape().phrase());
                let hint =
                    "each of them begins with its name in double brackets, such as `[[site]]`";
                reader.report(problem.note(hint));
                None
            }
            _ => {
                reader.mismatch(node, &Self::shape());
                None
            }
        }
    }

    fn show(&self) -> Shown {
        Shown::List(self.iter().map(T::show).collect())
    }

    fn needs_value() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(Vec::new())
    }
}

impl<T: Bounded> Bounded for Vec<T> {
    type Bound = T::Bound;

    fn is_outside(&self, low: &T::Bound, high: &T::Bound) -> bool {
        self.iter().any(|value| value.is_outside(low, high))
    }
}

/// Reads all elements, and leaves out invalid ones, which have been reported.
fn read_all<T: FromConfig>(elements: &[Node], reader: &mut Reader<'_>) -> Vec<T> {
    let elements = elements.iter();
    let read = elements.filter_map(|element| reader.element(|reader| T::read(element, reader)));
    read.collect()
}

fn pieces(span: Span, text: &str) -> Vec<Node> {
    let mut begin = 0;
    let mut pieces = Vec::new();
    for piece in text.split(',') {
        let trimmed = piece.trim();
        let at = begin + piece.len() - piece.trim_start().len();
        if !trimmed.is_empty() {
            pieces.push(Node {
                span: span.part(at, at + trimmed.len()),
                value: Value::Bare(trimmed.to_owned()),
            });
        }
        begin += piece.len() + 1;
    }
    pieces
}

/// An element of a list with its own span.
impl<T: FromConfig> FromConfig for Setting<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let value = T::read(node, reader)?;
        Some(reader.setting(node, value))
    }

    fn show(&self) -> Shown {
        self.value().show()
    }

    fn needs_value() -> bool {
        T::needs_value()
    }

    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        let value = T::absent(at, reader)?;
        Some(Setting::default_at(value, at))
    }
}

/// A value that several parts of a program share.
impl<T: FromConfig> FromConfig for Arc<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, reader).map(Arc::new)
    }

    fn show(&self) -> Shown {
        T::show(self)
    }

    fn needs_value() -> bool {
        T::needs_value()
    }

    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        T::absent(at, reader).map(Arc::new)
    }
}

/// A name that the user chose, with its span.
pub type Name = Setting<String>;

/// Values under names of the user's choice, in the order of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    values: Vec<(Name, T)>,
    /// The names of values that could not be read, which happens only in a rejected document.
    unread: Vec<String>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { values: Vec::new(), unread: Vec::new() }
    }
}

impl<T> Named<T> {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
    }

    /// Iterates over names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &T)> {
        self.values.iter().map(|(name, value)| (name, value))
    }

    /// Iterates over the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// Iterates over the names of values that could not be read and are left out. A document that
    /// has such is rejected; that the names are there is known.
    pub fn unread(&self) -> impl Iterator<Item = &str> {
        self.unread.iter().map(String::as_str)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<T> FromIterator<(Name, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (Name, T)>>(iter: I) -> Self {
        Named { values: iter.into_iter().collect(), unread: Vec::new() }
    }
}

impl<T: FromConfig> FromConfig for Named<T> {
    fn shape() -> Shape {
        Shape::Named(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            reader.mismatch(node, &Self::shape());
            return None;
        };
        let mut named = Named::default();
        named.values.reserve_exact(table.entries().len());
        for entry in table.entries() {
            if entry.key.name.is_empty() {
                reader.report(Diagnostic::error(entry.key.span, "a name cannot be empty"));
            }
            let at = Node { span: entry.key.span, value: Value::Broken };
            let name = reader.setting(&at, entry.key.name.clone());
            let value =
                reader.within(entry.key.name.clone(), |reader| T::read(&entry.node, reader));
            match value {
                Some(value) => named.values.push((name, value)),
                // It has been reported, and is left out.
                None => named.unread.push(entry.key.name.clone()),
            }
        }
        Some(named)
    }

    fn show(&self) -> Shown {
        let entry = |(name, value): (&Name, &T)| ShownEntry {
            name: name.to_string(),
            origin: None,
            value: value.show(),
        };
        Shown::Table(self.iter().map(entry).collect())
    }

    fn needs_value() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(Named::default())
    }
}
