//! Values that the program can choose.

use crate::reader::{Bounded, FromConfig, Reader};
use crate::shape::{Shape, Word};
use crate::show::Shown;
use crate::tree::{Node, Value};

/// `"auto"`, or a value: `workers = "auto"`, `workers = 4`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Auto<T> {
    /// The program chooses the value.
    #[default]
    Auto,
    /// The value that was given.
    Given(T),
}

const AUTO: &str = "auto";
const WORDS: &[Word] = &[Word {
    name: AUTO,
    doc: " The program finds the best value.",
}];

impl<T> Auto<T> {
    /// Returns the value, if one was given.
    pub fn given(self) -> Option<T> {
        match self {
            Auto::Auto => None,
            Auto::Given(value) => Some(value),
        }
    }
}

impl<T: FromConfig> FromConfig for Auto<T> {
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Word(WORDS), T::shape()])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(text) | Value::Bare(text) if text == AUTO => Some(Auto::Auto),
            Value::Text(text) if text.contains("${") => {
                let text = reader.text(node, &Self::shape())?.into_owned();
                let expanded = Node {
                    span: node.span,
                    value: Value::Bare(text),
                };
                Self::read(&expanded, reader)
            }
            _ => T::read(node, reader).map(Auto::Given),
        }
    }

    fn show(&self) -> Shown {
        match self {
            Auto::Auto => Shown::Text(AUTO.to_owned()),
            Auto::Given(value) => value.show(),
        }
    }
}

impl<T: Bounded> Bounded for Auto<T> {
    type Bound = T::Bound;

    fn is_outside(&self, low: &T::Bound, high: &T::Bound) -> bool {
        match self {
            Auto::Auto => false,
            Auto::Given(value) => value.is_outside(low, high),
        }
    }
}
