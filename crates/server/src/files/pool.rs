//! The roots of a process: equal options are one root, and all roots share one budget of memory and descriptors for
//! each reactor, one memory for compressed content, and one thread for long work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::caches::Caches;
use crate::files::options::{CacheLimits, FilesOptions};
use crate::files::shared::{FilesError, FilesShared, FilesTools};
use crate::offload::Offload;

/// The roots that are in use. A pool outlives the plans: a root that the next plan has too stays open, and cached.
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

    /// The root with these options, opened if no plan in use has it. `limits` are those of a reactor for all its roots,
    /// whatever the options say.
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
        roots
            .values()
            .filter(|root| root.strong_count() > 0)
            .count()
    }

    /// Whether no root is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The thread for long work.
    pub(crate) fn offload(&self) -> Arc<Offload> {
        Arc::clone(&self.tools.offload)
    }

    /// What its caches count.
    pub fn caches(&self) -> &Caches {
        &self.tools.caches
    }
}
