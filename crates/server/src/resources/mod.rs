//! The resources of directives: open folders, the error log, and objects that outlive plans.
//!
//! An action or a filter gets [`Resources`] when a stage is prepared. Before, it adds to [`Needs`]
//! which files and folders it reads, so that a sandbox can allow them.

mod kept;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vervet_config::{Diagnostics, Span};
use vervet_engine::reactor::Now;

use crate::error_log::ErrorLog;
use crate::files::FilesPool;
use crate::files::options::CacheLimits;

pub use kept::{Keeper, Kept};

/// The result of opening a directive: its runtime object, or all its errors.
pub(crate) type Opened<T = ()> = Result<T, Diagnostics>;

/// The resources with which the actions and filters of a plan are opened.
#[derive(Debug)]
pub struct Resources<'r> {
    /// The value of the Server field.
    pub server: &'r str,
    /// Open folders: equal ones are opened once.
    pub pool: &'r Arc<FilesPool>,
    /// Bounds of the file cache of each reactor.
    pub cache_limits: CacheLimits,
    /// Media types by extension, before the built-in table.
    pub media_types: &'r [(String, String)],
    /// Media type of files with an unknown extension.
    pub default_media_type: &'r str,
    /// The log for problems that occur while requests are answered.
    pub error_log: &'r ErrorLog,
    /// The time at which the plan is opened.
    pub now: Now,
    /// Objects that equal sections share, or that are kept from the last plan.
    pub keeper: Keeper<'r>,
}

/// How the server uses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The path is read.
    Read,
    /// The path, or a file in it, is written.
    Write,
}

/// A path that a directive uses.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) span: Span,
}

/// The files, folders and features that a plan needs, added by its directives.
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
        // The parent of a name alone.
        let path = if path == "" { Path::new(".") } else { path };
        self.paths.push(Need { path: path.to_owned(), access, span });
    }
}
