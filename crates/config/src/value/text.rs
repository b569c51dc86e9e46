//! Text, and types that are written as text.

use std::fmt::{Debug, Display};

use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::Node;

/// Text as it stands in the quotes, with its variables expanded.
pub type Text = String;

impl FromConfig for String {
    fn shape() -> Shape {
        Shape::Text(TextShape {
            noun: "text",
            example: "",
            pattern: None,
        })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(reader.text(node, &Self::shape())?.into_owned())
    }

    fn show(&self) -> Shown {
        Shown::Text(self.clone())
    }
}

/// A type that is written as text with a meaning: a time, a network, a pattern. It is a type of directives by that.
///
/// ```
/// use vervet_config::{FromText, TextShape};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Even(String);
///
/// impl FromText for Even {
///     const SHAPE: TextShape = TextShape { noun: "even word", example: "even", pattern: None };
///
///     fn from_text(text: &str) -> Result<Self, String> {
///         match text.len() % 2 {
///             0 => Ok(Even(text.to_owned())),
///             _ => Err(format!("it has {} letters", text.len())),
///         }
///     }
/// }
///
/// impl std::fmt::Display for Even {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str(&self.0)
///     }
/// }
/// ```
pub trait FromText: Clone + Debug + Display + PartialEq + Sized {
    /// What it is called and what it looks like.
    const SHAPE: TextShape;

    /// Reads it, with variables already expanded; or says why it is none, as the end of a sentence.
    fn from_text(text: &str) -> Result<Self, String>;
}

impl<T: FromText> FromConfig for T {
    fn shape() -> Shape {
        Shape::Text(T::SHAPE)
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parsed(node, &T::shape(), T::from_text)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}
