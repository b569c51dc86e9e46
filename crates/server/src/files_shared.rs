//! What the file handlers of all reactors have in common.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::compression::{CompressionResults, RESULTS_BYTES_MAX};
use crate::offload::Offload;
use crate::options::FilesOptions;
use crate::root::{Fingerprint, OpenError, Root};

/// What the reactors of a process share: options, results of compression, the thread for long work.
#[derive(Debug)]
pub struct FilesShared {
    pub(crate) options: Arc<FilesOptions>,
    directory: PathBuf,
    pub(crate) single: Option<Box<[u8]>>,
    pub(crate) root: Arc<Root>,
    pub(crate) root_state: Fingerprint,
    pub(crate) results: Arc<CompressionResults>,
    pub(crate) offload: Offload,
}

impl FilesShared {
    /// Opens the root. It may be a directory, or one file that is the whole site.
    pub fn new(options: FilesOptions) -> Result<Arc<Self>, FilesError> {
        let refused = |reason| FilesError {
            root: options.root.clone(),
            reason,
        };
        let path = std::path::absolute(&options.root).map_err(|_| refused(OpenError::Missing))?;
        let single = path.metadata().is_ok_and(|metadata| metadata.is_file());
        let (directory, single) = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if single => (parent, Some(Box::from(name.as_bytes()))),
            _ => (path.as_path(), None),
        };
        let root = Root::open(directory, options.symlinks).map_err(refused)?;
        let root_state = root.stat(b"").map_err(refused)?.fingerprint;
        Ok(Arc::new(Self {
            directory: directory.to_owned(),
            single,
            root: Arc::new(root),
            root_state,
            options: Arc::new(options),
            results: Arc::new(CompressionResults::new(RESULTS_BYTES_MAX)),
            offload: Offload::default(),
        }))
    }

    /// The options given.
    pub fn options(&self) -> &FilesOptions {
        &self.options
    }

    /// Memory of the kept results of compression, in bytes.
    pub fn compressed_bytes(&self) -> u64 {
        self.results.bytes()
    }

    pub(crate) fn open_root(&self) -> Result<Root, OpenError> {
        Root::open(&self.directory, self.options.symlinks)
    }
}

/// Why a folder cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesError {
    root: PathBuf,
    reason: OpenError,
}

impl fmt::Display for FilesError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "cannot serve {}: {}",
            self.root.display(),
            self.reason
        )
    }
}

impl std::error::Error for FilesError {}
