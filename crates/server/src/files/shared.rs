//! State that the file handlers of all reactors share: the roots of a process, limits of memory and
//! descriptors for each reactor, one cache of compressed content, and one thread for long work.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use vervet_http::target::NormalPath;

use crate::caches::{CacheName, Caches};
use crate::error_log::ErrorLog;
use crate::files::cache::RootNumber;
use crate::files::compressed::{COMPRESSED_BYTES_MAX, CompressedFiles};
use crate::files::listing_share::Listings;
use crate::files::options::{CacheLimits, FilesOptions};
use crate::files::root::{Fingerprint, Kind, OpenError, Root};
use crate::offload::Offload;

/// What the reactors of a process share: options, results of compression, the thread for long work.
#[derive(Debug)]
pub struct FilesShared {
    pub(crate) options: Arc<FilesOptions>,
    directory: PathBuf,
    pub(crate) single: Option<Box<[u8]>>,
    pub(crate) root: Arc<Root>,
    pub(crate) root_state: Fingerprint,
    /// The state of the root that was seen last, and its number.
    root_number: Mutex<(Fingerprint, RootNumber)>,
    pub(crate) tools: FilesTools,
}

/// What does not depend on the root: kept results of compression, and the thread for long work. A
/// process has one of each, however many roots it has.
#[derive(Debug, Clone)]
pub(crate) struct FilesTools {
    pub(crate) compressed: Arc<CompressedFiles>,
    pub(crate) listings: Arc<Listings>,
    pub(crate) caches: Caches,
    pub(crate) offload: Arc<Offload>,
    /// Where it is reported why a path is not served.
    pub(crate) error_log: Option<ErrorLog>,
}

impl Default for FilesTools {
    fn default() -> Self {
        let caches = Caches::default();
        let counts = caches.counts(CacheName::Compressed);
        Self {
            compressed: Arc::new(CompressedFiles::new(COMPRESSED_BYTES_MAX, counts)),
            listings: Arc::new(Listings::new(&caches)),
            caches,
            offload: Arc::default(),
            error_log: None,
        }
    }
}

/// The number of the next state of a root.
static NEXT_ROOT: AtomicU32 = AtomicU32::new(0);

fn next_root_number() -> RootNumber {
    NEXT_ROOT.fetch_add(1, Ordering::Relaxed)
}

impl FilesShared {
    /// Opens the root. It may be a directory, or one file that is the whole site.
    pub fn new(options: FilesOptions) -> Result<Arc<Self>, FilesError> {
        Self::with_tools(options, FilesTools::default())
    }

    pub(crate) fn with_tools(
        options: FilesOptions,
        tools: FilesTools,
    ) -> Result<Arc<Self>, FilesError> {
        let refused = |reason| FilesError { root: options.root.clone(), reason };
        let path = std::path::absolute(&options.root).map_err(|_| refused(OpenError::Missing))?;
        let is_whole = options.beneath.is_none();
        let single = is_whole && path.metadata().is_ok_and(|metadata| metadata.is_file());
        let (directory, single) = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if single => (parent, Some(Box::from(name.as_bytes()))),
            _ => (path.as_path(), None),
        };
        let root = open(directory, &options).map_err(refused)?;
        let root_state = root.stat(b"").map_err(refused)?.fingerprint;
        if let Some(name) = &single {
            // A link, which could never be served, is said at once.
            root.stat(name).map_err(refused)?;
        }
        Ok(Arc::new(Self {
            directory: directory.to_owned(),
            single,
            root: Arc::new(root),
            root_state,
            root_number: Mutex::new((root_state, next_root_number())),
            options: Arc::new(options),
            tools,
        }))
    }

    /// Returns the options of this folder.
    pub fn options(&self) -> &FilesOptions {
        &self.options
    }

    /// The folder; the one of the file if the root is one file.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the root is one file.
    pub fn is_single(&self) -> bool {
        self.single.is_some()
    }

    /// Whether a file lies at a raw path now.
    pub(crate) fn has_file(&self, raw_path: &[u8]) -> bool {
        let Ok(path) = NormalPath::decode(raw_path) else {
            return false;
        };
        let found = self.root.stat(&path.as_bytes()[1..]);
        found.is_ok_and(|stat| stat.kind == Kind::File)
    }

    pub(crate) fn open_root(&self) -> Result<Root, OpenError> {
        open(&self.directory, &self.options)
    }

    /// The number of a state of the root: the same for all reactors that have seen the same folder.
    pub(crate) fn root_number(&self, state: &Fingerprint) -> RootNumber {
        let mut known = self.root_number.lock().unwrap_or_else(PoisonError::into_inner);
        if (known.0.device, known.0.inode) != (state.device, state.inode) {
            *known = (*state, next_root_number());
        }
        known.1
    }
}

fn open(directory: &Path, options: &FilesOptions) -> Result<Root, OpenError> {
    match &options.beneath {
        Some(inner) => Root::open_beneath(directory, inner, options.symlinks),
        None => Root::open(directory, options.symlinks),
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
        write!(formatter, "cannot serve {}: {}", self.root.display(), self.reason)
    }
}

impl std::error::Error for FilesError {}

/// The roots that are in use. A pool outlives the plans: a root that the next plan has too stays
/// open, and cached.
#[derive(Debug, Default)]
pub struct FilesPool {
    roots: Mutex<HashMap<FilesOptions, Weak<FilesShared>>>,
    tools: FilesTools,
}

impl FilesPool {
    /// A pool without roots.
    pub fn new() -> Self {
        Self::default()
    }

    /// A pool without roots, whose files report to a log why a path is not served.
    pub fn with_log(error_log: ErrorLog) -> Self {
        let tools = FilesTools { error_log: Some(error_log), ..FilesTools::default() };
        Self { tools, ..Self::default() }
    }

    /// The root with these options, opened if no plan in use has it. `limits` are those of a
    /// reactor for all its roots, whatever the options say.
    pub fn root(
        &self,
        options: FilesOptions,
        limits: CacheLimits,
    ) -> Result<Arc<FilesShared>, FilesError> {
        let options = FilesOptions { limits, ..options };
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = roots.get(&options).and_then(Weak::upgrade) {
            return Ok(root);
        }
        let root = FilesShared::with_tools(options.clone(), self.tools.clone())?;
        if roots.len() == roots.capacity() {
            // Before the table grows, those that no plan has any more make room.
            roots.retain(|_, known| known.strong_count() > 0);
        }
        roots.insert(options, Arc::downgrade(&root));
        Ok(root)
    }

    /// How many roots are in use.
    pub fn len(&self) -> usize {
        let roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.values().filter(|root| root.strong_count() > 0).count()
    }

    /// Whether no root is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The thread for long work.
    pub(crate) fn offload(&self) -> Arc<Offload> {
        Arc::clone(&self.tools.offload)
    }

    /// The counters of its caches.
    pub fn caches(&self) -> &Caches {
        &self.tools.caches
    }
}
