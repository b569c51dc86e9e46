//! Text, and types that are written as text: paths, secrets, addresses.

use std::fmt::{self, Debug, Display};
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::path::PathBuf;

use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::Node;

/// A text in quotes, with its variables expanded.
pub type Text = String;

impl FromConfig for String {
    fn shape() -> Shape {
        Shape::Text(TextShape { noun: "text", example: "", pattern: None })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(reader.text(node, &Self::shape())?.into_owned())
    }

    fn show(&self) -> Shown {
        Shown::Text(self.clone())
    }
}

/// A type that is written as text with a meaning: a time, a network, a pattern. It is a type of
/// directives by that.
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
    /// The name and form of the text, for messages and the schema.
    const SHAPE: TextShape;

    /// Parses the text, with variables expanded. The error is the reason, as the end of a sentence.
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

/// A path. A relative path starts from the folder of the file that contains it; in a flag or
/// variable, from the working directory. Whether the file exists is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(PathBuf);

impl Path {
    /// Makes a path that is used as it is.
    pub fn new(path: impl Into<PathBuf>) -> Path {
        Path(path.into())
    }

    /// Returns the path as a `PathBuf`.
    pub fn into_path_buf(self) -> PathBuf {
        self.0
    }
}

impl Deref for Path {
    type Target = std::path::Path;

    fn deref(&self) -> &std::path::Path {
        &self.0
    }
}

impl AsRef<std::path::Path> for Path {
    fn as_ref(&self) -> &std::path::Path {
        &self.0
    }
}

impl FromConfig for Path {
    fn shape() -> Shape {
        Shape::Text(TextShape { noun: "path", example: "", pattern: None })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(node, &Self::shape())?;
        if text.is_empty() {
            reader.refuse(node, &Self::shape(), "cannot be empty");
            return None;
        }
        if text.contains('\0') {
            reader.refuse(node, &Self::shape(), "cannot hold a zero byte");
            return None;
        }
        // `join` leaves an absolute path as it is.
        Some(Path(reader.folder(node).join(&*text)))
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.to_string_lossy().into_owned())
    }
}

/// A text that neither `config show` nor a log shows: a key, a password. Best given as `"${NAME}"`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Text);

impl Secret {
    /// Makes a secret of its text.
    pub fn new(text: impl Into<Text>) -> Secret {
        Secret(text.into())
    }

    /// Returns the text of the secret.
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
        Shape::Text(TextShape { noun: "secret text", example: "", pattern: None })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(node, &Self::shape())?;
        Some(Secret(text.into_owned()))
    }

    fn show(&self) -> Shown {
        Shown::Hidden
    }
}

impl FromText for IpAddr {
    const SHAPE: TextShape = TextShape { noun: "IP address", example: "192.0.2.1", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let reason = "an IPv4 address is four numbers up to 255, an IPv6 address groups of hexadecimal digits";
        text.parse().map_err(|_| reason.to_owned())
    }
}

impl FromText for SocketAddr {
    const SHAPE: TextShape =
        TextShape { noun: "socket address", example: "127.0.0.1:8080", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let reason = "it has an IP address, a colon and a port, with an IPv6 address in brackets";
        text.parse().map_err(|_| reason.to_owned())
    }
}
