//! A value that is handed on as text, however it is written.

use vervet_config::{FromConfig, Node, Reader, Shape, Shown, TextShape, Value};

/// A text, a number or a boolean, as text: what it means is the adapter's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(pub String);

const SHAPE: TextShape = TextShape {
    noun: "text",
    example: "",
    pattern: None,
};

impl FromConfig for Plain {
    fn shape() -> Shape {
        let (min, max) = (i128::from(i64::MIN), i128::from(i64::MAX));
        Shape::Either(vec![
            Shape::Text(SHAPE),
            Shape::Integer { min, max },
            Shape::Boolean,
        ])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Integer(number) => Some(Self(number.to_string())),
            Value::Boolean(value) => Some(Self(value.to_string())),
            _ => Some(Self(reader.text(node, &Self::shape())?.into_owned())),
        }
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.clone())
    }
}
