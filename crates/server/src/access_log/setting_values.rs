//! Statuses as a document writes them: a number or a text.

use vervet_config::{FromConfig, Node, Reader, Shape, Shown, TextShape, Value};

use super::condition::Statuses;

/// `404`, `"4xx"`, `"400-418"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusesSetting(pub Statuses);

const TEXT: Shape = Shape::Text(TextShape {
    noun: "status, class or range",
    example: "4xx",
    pattern: Some("^[1-9](xx|[0-9][0-9](-[1-9][0-9][0-9])?)$"),
});

const NUMBER: Shape = Shape::Integer { min: 100, max: 999 };

impl FromConfig for StatusesSetting {
    fn shape() -> Shape {
        Shape::Either(vec![NUMBER, TEXT])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = match &node.value {
            Value::Integer(number) => number.to_string(),
            _ => reader.text(node, &Self::shape())?.into_owned(),
        };
        match text.parse() {
            Ok(statuses) => Some(Self(statuses)),
            Err(error) => {
                reader.refuse(
                    node,
                    &Self::shape(),
                    &format!("cannot be `{text}`: it is no {error}"),
                );
                None
            }
        }
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.to_string())
    }
}
