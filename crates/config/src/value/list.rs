//! Values that may be missing, and lists.

use crate::diagnostic::Diagnostic;
use crate::faults::Faults;
use std::sync::Arc;

use crate::reader::{Bounded, FromConfig, Reader};
use crate::setting::Setting;
use crate::shape::Shape;
use crate::show::Shown;
use crate::span::Span;
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

    fn insists() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(None)
    }

    fn faults(faults: &mut Faults) {
        T::faults(faults);
    }
}

impl<T: Bounded> Bounded for Option<T> {
    type Bound = T::Bound;

    fn is_outside(&self, low: &T::Bound, high: &T::Bound) -> bool {
        self.as_ref()
            .is_some_and(|value| value.is_outside(low, high))
    }
}

/// A list in brackets or of tables. One value without structure may stand for a list of one; the text of a flag or a
/// variable has its elements between commas.
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

    fn insists() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(Vec::new())
    }

    fn faults(faults: &mut Faults) {
        T::faults(faults);
    }
}

impl<T: Bounded> Bounded for Vec<T> {
    type Bound = T::Bound;

    fn is_outside(&self, low: &T::Bound, high: &T::Bound) -> bool {
        self.iter().any(|value| value.is_outside(low, high))
    }
}

/// Reads all elements, and leaves out those that are wrong, which has been told.
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

/// An element of a list that keeps its own place.
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

    fn insists() -> bool {
        T::insists()
    }

    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        let value = T::absent(at, reader)?;
        Some(Setting::default_at(value, at))
    }

    fn faults(faults: &mut Faults) {
        T::faults(faults);
    }
}

/// A value that several parts of a program hold without copying it.
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

    fn insists() -> bool {
        T::insists()
    }

    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        T::absent(at, reader).map(Arc::new)
    }

    fn faults(faults: &mut Faults) {
        T::faults(faults);
    }
}
