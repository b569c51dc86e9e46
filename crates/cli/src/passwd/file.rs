//! A user file as lines, and its atomic replacement: under a lock, with the same or stricter
//! permissions.
//!
//! Lines of other users, comments and all other lines are kept unchanged.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use vervet_server::files::read_regular;
use vervet_server::filters::basic_auth::USER_FILE_BYTES_MAX;

use super::command::PasswdError;

/// Permissions of a new file, and the most that a replaced one keeps: the owner writes, the group
/// reads.
const MODE: u32 = 0o640;

/// The lines of a user file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UserFile(Vec<u8>);

/// What setting a user did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// There was none of this name.
    Added,
    /// There was one.
    Changed,
}

impl UserFile {
    /// Reads a file that has to be there.
    pub(super) fn read(path: &Path) -> Result<Self, PasswdError> {
        read(path).map(Self).map_err(failed(path, "read"))
    }

    /// Reads a file; one that is not there has no lines.
    pub(super) fn read_or_empty(path: &Path) -> Result<Self, PasswdError> {
        match read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self(Vec::new())),
            content => content.map(Self).map_err(failed(path, "read")),
        }
    }

    /// The names of all users, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let lines = self.0.split(|byte| *byte == b'\n');
        lines.filter_map(name).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// Sets the hash of a user. Its line stays in place with its comment; further lines of the user
    /// are removed.
    pub(super) fn set(&mut self, user: &str, entry: &str) -> Change {
        let mut change = Change::Added;
        let mut out = Vec::new();
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            if name(line) != Some(user.as_bytes()) {
                out.extend_from_slice(line);
            } else if change == Change::Added {
                change = Change::Changed;
                out.extend_from_slice(format!("{user}:{entry}").as_bytes());
                out.extend_from_slice(after_hash(line));
            }
        }
        if change == Change::Added {
            if !out.is_empty() && !out.ends_with(b"\n") {
                out.push(b'\n');
            }
            out.extend_from_slice(format!("{user}:{entry}\n").as_bytes());
        }
        self.0 = out;
        change
    }

    /// Removes a user, and returns whether it existed.
    pub(super) fn remove(&mut self, user: &str) -> bool {
        let lines = self.0.split_inclusive(|byte| *byte == b'\n');
        let kept = lines.filter(|line| name(line) != Some(user.as_bytes()));
        let kept = kept.collect::<Vec<_>>().concat();
        let is_removed = kept.len() < self.0.len();
        self.0 = kept;
        is_removed
    }

    /// The lines.
    pub(super) fn content(&self) -> &[u8] {
        &self.0
    }
}

/// The name of a line that is a user's.
fn name(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    (!line.starts_with(b"#")).then_some(&line[..colon])
}

/// What follows the hash in a line: a comment after a second colon, and the end of the line.
fn after_hash(line: &[u8]) -> &[u8] {
    let mut colons = line.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
    let end = line.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(line.len());
    &line[colons.nth(1).unwrap_or(end)..]
}

/// The path of a user file, with symbolic links resolved.
#[derive(Debug)]
pub(super) struct UserFilePath {
    path: PathBuf,
    folder: PathBuf,
}

impl UserFilePath {
    /// Resolves the path of a file that may not exist, in a folder that exists.
    pub(super) fn resolve(path: &Path) -> Result<Self, PasswdError> {
        let path = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::path::absolute(path).map_err(failed(path, "find"))?
            }
            resolved => resolved.map_err(failed(path, "find"))?,
        };
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        match fs::metadata(&folder) {
            Err(error) => Err(failed(&folder, "open")(error)),
            Ok(_) => Ok(Self { path, folder }),
        }
    }

    /// Waits for the lock on the folder. The folder is locked, not the file, which is a new one
    /// after each change.
    pub(super) fn lock(&self) -> Result<File, PasswdError> {
        let folder = File::open(&self.folder).map_err(failed(&self.folder, "open"))?;
        folder.lock().map_err(failed(&self.folder, "lock"))?;
        Ok(folder)
    }

    /// Replaces the file atomically. Owner and group are kept, or nothing is changed: a server that
    /// cannot read its users would reject all logins.
    pub(super) fn replace(&self, content: &[u8]) -> Result<(), PasswdError> {
        let failed = || failed(&self.path, "replace");
        let before = fs::metadata(&self.path).ok();
        let mut next = tempfile::Builder::new()
            .prefix(".passwd-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(&self.folder)
            .map_err(failed())?;
        next.write_all(content).map_err(failed())?;
        let made = next.as_file().metadata().map_err(failed())?;
        if let Some(before) = &before
            && (before.uid(), before.gid()) != (made.uid(), made.gid())
        {
            let (uid, gid) = (Some(before.uid()), Some(before.gid()));
            fchown(next.as_file(), uid, gid).map_err(failed())?;
        }
        let permissions = before.map_or(MODE, |before| before.mode() & MODE);
        next.as_file().set_permissions(Permissions::from_mode(permissions)).map_err(failed())?;
        next.as_file().sync_all().map_err(failed())?;
        next.persist(&self.path).map_err(|error| failed()(error.error))?;
        // The name is safe when its folder is.
        let folder = File::open(&self.folder).map_err(failed())?;
        folder.sync_all().map_err(failed())
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    Ok(read_regular(path, USER_FILE_BYTES_MAX)?)
}

fn failed(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> PasswdError {
    move |error| PasswdError::File(path.to_owned(), what, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_set(before: &str, after: &str, change: &Change) {
        let mut file = UserFile(before.as_bytes().to_vec());
        assert_eq!(&file.set("ann", "NEW"), change);
        assert_eq!(str::from_utf8(file.content()).unwrap(), after);
    }

    #[track_caller]
    fn check_removed(before: &str, after: &str, was_there: bool) {
        let mut file = UserFile(before.as_bytes().to_vec());
        assert_eq!(file.remove("ann"), was_there);
        assert_eq!(str::from_utf8(file.content()).unwrap(), after);
    }

    #[test]
    fn other_lines_are_kept_to_the_byte() {
        check_set("", "ann:NEW\n", &Change::Added);
        check_set("bob:x", "bob:x\nann:NEW\n", &Change::Added);
        check_set(
            "#ann:x\n\nanna:x\nAnn:x\n",
            "#ann:x\n\nanna:x\nAnn:x\nann:NEW\n",
            &Change::Added,
        );
        check_set("rubbish\nann:old\r\nbob:x", "rubbish\nann:NEW\r\nbob:x", &Change::Changed);
        check_set("ann:old", "ann:NEW", &Change::Changed);
        check_set("ann:old:a comment: more\n", "ann:NEW:a comment: more\n", &Change::Changed);
        check_set("ann:1\nbob:x\nann:2\n", "ann:NEW\nbob:x\n", &Change::Changed);
    }

    #[test]
    fn a_user_is_removed_with_all_lines() {
        check_removed("", "", false);
        check_removed("#ann:x\nanna:x\n", "#ann:x\nanna:x\n", false);
        check_removed("bob:x\nann:1\n# c\nann:2", "bob:x\n# c\n", true);
    }

    #[test]
    fn names_are_those_of_users() {
        let file = UserFile(b"# c:\n\nann:x\nrubbish\nb b:y:z".to_vec());
        assert_eq!(file.names(), ["ann", "b b"]);
    }
}
