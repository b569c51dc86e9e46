//! The folder that a lab writes to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::options::RunError;

/// The journal in the folder of a lab.
pub const JOURNAL: &str = crate::record::JOURNAL_FILE;
/// The record in the folder of a lab that came to its end.
pub const RECORD: &str = crate::record::RECORD_FILE;
/// Held while a lab writes.
const LOCK: &str = ".lock";

/// The folder, held for one lab at a time.
#[derive(Debug)]
pub(super) struct Out {
    path: PathBuf,
    lock: File,
}

impl Out {
    /// Makes the folder if need be and takes hold of it.
    pub(super) fn open(path: &Path) -> Result<Self, RunError> {
        let fail = |error| RunError::Folder(path.to_owned(), error);
        fs::create_dir_all(path).map_err(fail)?;
        let lock = File::create(path.join(LOCK)).map_err(fail)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| RunError::Busy(path.to_owned()))?;
        Ok(Self {
            path: path.to_owned(),
            lock,
        })
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    pub(super) fn record(&self) -> PathBuf {
        self.path.join(RECORD)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // A child that is being started has the descriptor until it runs its program: closing alone would not let go.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}
