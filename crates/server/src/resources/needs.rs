//! The files and folders that a plan names. Whether they exist is not checked here.

use std::path::{Path, PathBuf};

use vervet_config::Span;

/// How a path is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read.
    Read,
    /// It, or a file in it, is written.
    Write,
}

/// A path that a directive uses.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) span: Span,
}

/// What serving a plan takes, as its directives add it.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) paths: Vec<Need>,
    /// Whether requests need an id.
    pub(crate) request_ids: bool,
}

impl Needs {
    /// Adds a path that is read.
    pub(crate) fn read(&mut self, path: &Path, span: Span) {
        self.add(Access::Read, path, span);
    }

    /// Adds a path that is written.
    pub(crate) fn write(&mut self, path: &Path, span: Span) {
        self.add(Access::Write, path, span);
    }

    fn add(&mut self, access: Access, path: &Path, span: Span) {
        self.paths.push(Need { path: path.to_owned(), access, span });
    }
}
