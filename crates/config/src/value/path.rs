//! Paths of files and folders.

use std::ops::Deref;
use std::path::PathBuf;

use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::Node;

/// A path. A relative one starts from the folder of the file in which it stands, one in a flag or a variable from the
/// working directory. Whether something is there is not asked here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(PathBuf);

impl Path {
    /// A path as it is.
    pub fn new(path: impl Into<PathBuf>) -> Path {
        Path(path.into())
    }

    /// The path alone.
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
        Shape::Text(TextShape {
            noun: "path",
            example: "",
            pattern: None,
        })
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
