//! Why a path is not served: the file that was tried and what is wrong with it, for the error log
//! and for traces. Responses do not say it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use vervet_http::status::Status;

use crate::files::cache::{CacheEntry, LookupResult, PathState};
use crate::files::root::{Kind, OpenError};

/// The reason for a look-up that found nothing to send, in the folder `directory`. `single` is the
/// name of the file if the root is one.
pub(crate) fn reason(entry: &CacheEntry, directory: &Path, single: Option<&[u8]>) -> String {
    let Some(PathState { path, stat }) = entry.dependencies.last() else {
        return no_file(entry, directory, single);
    };
    let path = if path.is_empty() {
        directory.to_owned()
    } else {
        directory.join(OsStr::from_bytes(path))
    };
    let path = path.to_string_lossy().escape_debug().to_string();
    match (stat, &entry.result) {
        (Err(OpenError::Linked), _) => {
            format!("{path}: the path contains a symbolic link, which `symlinks` does not allow")
        }
        (Err(error), _) => format!("{path}: {error}"),
        (Ok(stat), _) if stat.kind == Kind::Directory => {
            format!("{path}: a folder without an index file, and `listing` is off")
        }
        (Ok(_), LookupResult::Failed(Status::FORBIDDEN)) => {
            format!("{path}: {}", OpenError::Unreadable)
        }
        (Ok(_), LookupResult::Failed(_)) => format!("{path}: cannot be read"),
        (Ok(_), _) => format!("{path}: a file, not a folder"),
    }
}

/// The reason for a path for which no file was looked at.
fn no_file(entry: &CacheEntry, directory: &Path, single: Option<&[u8]>) -> String {
    match (&entry.result, single) {
        (LookupResult::Failed(_), _) => "invalid path".to_owned(),
        (_, Some(single)) => {
            let file = directory.join(OsStr::from_bytes(single));
            format!("only the file {} is served", file.display())
        }
        (_, None) => {
            let directory = directory.display();
            format!("{directory}: a name begins with a dot, and `hidden` is off")
        }
    }
}
