//! Text that is not to be seen again.

use std::fmt;

use super::Text;
use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::Node;

/// Text that neither `config show` nor a log repeats: a key, a password. It is best given as `"${NAME}"`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Text);

impl Secret {
    /// What is to be kept.
    pub fn new(text: impl Into<Text>) -> Secret {
        Secret(text.into())
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl FromConfig for Secret {
    fn shape() -> Shape {
        Shape::Text(TextShape {
            noun: "secret text",
            example: "",
            pattern: None,
        })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(node, &Self::shape())?;
        Some(Secret(text.into_owned()))
    }

    fn show(&self) -> Shown {
        Shown::Hidden
    }
}
