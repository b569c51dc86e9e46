//! The users of the machine, from `/etc/passwd` or a file of its format.
//!
//! The file is checked for changes once in [`LOOK_MS`]. Accounts of directory services, such as
//! LDAP, are not looked up, because that may take seconds; a site can list them in a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use vervet_engine::reactor::Now;

use crate::files::read_regular;

/// Interval of checking the file for changes, in milliseconds.
const LOOK_MS: u64 = 900;

/// The largest file that is read, in bytes: a hundred thousand accounts.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// An account of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The user ID of the account.
    pub uid: u32,
    /// The home directory of the account.
    pub home: PathBuf,
}

/// The accounts of a file.
#[derive(Debug, Default)]
pub struct Users {
    file: PathBuf,
    known: HashMap<Box<[u8]>, User>,
    state: Option<State>,
    looked_ms: Option<u64>,
}

/// The version of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    bytes: u64,
    modified_ns: i128,
    inode: u64,
}

/// Whether the accounts have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accounts {
    /// Accounts were added, removed or edited.
    Changed,
    /// The accounts are the same.
    Unchanged,
}

impl Users {
    /// The accounts of `file`, which is read by the first [`Users::look`].
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// Reads the file if it has changed, at most once in [`LOOK_MS`]. If it cannot be read, the
    /// known accounts stay.
    pub fn look(&mut self, now: Now) -> Accounts {
        let is_fresh = |looked: u64| now.monotonic_ms.saturating_sub(looked) < LOOK_MS;
        if self.looked_ms.is_some_and(is_fresh) {
            return Accounts::Unchanged;
        }
        self.looked_ms = Some(now.monotonic_ms);
        let Some(state) = state(&self.file).filter(|state| Some(*state) != self.state) else {
            return Accounts::Unchanged;
        };
        let Ok(text) = read_regular(&self.file, FILE_BYTES_MAX) else {
            return Accounts::Unchanged;
        };
        self.state = Some(state);
        self.known = text.split(|&byte| byte == b'\n').filter_map(account).collect();
        Accounts::Changed
    }

    /// The account of this name when the file was last read.
    pub fn get(&self, name: &[u8]) -> Option<&User> {
        self.known.get(name)
    }
}

fn state(file: &Path) -> Option<State> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata().ok()?;
    (metadata.is_file() && metadata.len() <= FILE_BYTES_MAX).then(|| State {
        bytes: metadata.len(),
        modified_ns: i128::from(metadata.mtime()) * 1_000_000_000
            + i128::from(metadata.mtime_nsec()),
        inode: metadata.ino(),
    })
}

/// Parses `name:password:uid:gid:gecos:home:shell` (passwd(5)). Other lines are ignored.
fn account(line: &[u8]) -> Option<(Box<[u8]>, User)> {
    use std::os::unix::ffi::OsStrExt;
    let mut parts = line.split(|&byte| byte == b':');
    let name = parts.next().filter(|name| !name.is_empty() && name[0] != b'#')?;
    let uid = str::from_utf8(parts.nth(1)?).ok()?.parse().ok()?;
    let home = Path::new(std::ffi::OsStr::from_bytes(parts.nth(2)?));
    parts.next()?;
    home.is_absolute().then(|| {
        let home = home.to_owned();
        (Box::from(name), User { uid, home })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, u32, &str)>) {
        let found = account(line.as_bytes());
        let found = found.as_ref().map(|(name, user)| {
            (str::from_utf8(name).unwrap(), user.uid, user.home.to_str().unwrap())
        });
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_of_another_form_are_no_accounts() {
        for line in [
            "",
            "#bob:x:1:1::/b:",
            ":x:1:1::/b:",
            "bob",
            "bob:x:1:1::/b",
            "bob:x:-1:1::/b:",
            "bob:x:one:1::/b:",
            "bob:x:4294967296:1::/b:",
            "bob:x:1:1:::",
            "bob:x:1:1::b:",
            "+::::::",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn accounts_have_a_number_and_a_home() {
        check("root:x:0:0:root:/:/bin/sh", Some(("root", 0, "/")));
        check("bob:x:1000:1000:Bob, Builder:/data/bob:", Some(("bob", 1000, "/data/bob")));
    }
}
