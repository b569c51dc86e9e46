//! The users of a realm, from the configuration and from files. A changed file is reloaded within a
//! second; if it is invalid, the error is logged once and the previous users stay.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;

use super::stored_hash::{OldHashes, StoredHash};
use super::user_file::{UserFileError, read_user_file};

/// Interval of checking the files for changes while there are requests, in milliseconds.
pub(super) const LOOK_MS: u64 = 900;

/// A file changed so short a time ago may change again within the same tick of its time stamp: it
/// is read again.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// Reports an error of a user file to the error log.
pub type ReportError = Arc<dyn Fn(&str) + Send + Sync>;

/// The sources of users. If a name occurs more than once, the first one counts: `users` before
/// files, and files in their order.
#[derive(Clone, Debug, Default)]
pub struct UserSources {
    /// The files of users and password hashes.
    pub files: Vec<PathBuf>,
    /// Names and their hashes.
    pub users: Vec<(String, StoredHash)>,
    /// Whether `{SHA}` hashes are accepted.
    pub old_hashes: OldHashes,
}

/// The users of a realm, shared by all reactors.
pub struct Users {
    sources: UserSources,
    table: ArcSwap<UserTable>,
    looked: Mutex<Vec<CheckedFile>>,
    /// When the files are looked at next, in milliseconds of the monotonic clock.
    look_at_ms: AtomicU64,
    report: ReportError,
}

/// Users by name.
pub(super) struct UserTable {
    users: HashMap<Box<str>, Arc<StoredHash>>,
    /// The hash that takes the longest.
    slowest: Arc<StoredHash>,
}

impl UserTable {
    /// The hash of a user.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<StoredHash>> {
        self.users.get(name)
    }

    /// What a password of nobody is compared with, for as long as one of anybody's, so that the
    /// time does not tell who is a user. Where users have hashes of several kinds it is that of
    /// the slowest.
    pub(super) fn decoy(&self) -> &Arc<StoredHash> {
        &self.slowest
    }
}

/// The result of the last check of a file.
struct CheckedFile {
    state: Option<State>,
    users: Vec<(String, StoredHash)>,
    /// The error reported since the file was last valid.
    complaint: Option<String>,
}

/// What changes when a file does: device, inode, size, and the times of its content and of its
/// inode, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State([i128; 5]);

impl Users {
    /// Reads all sources, or returns all their errors.
    pub fn load(sources: UserSources, report: ReportError) -> Result<Self, Vec<UserFileError>> {
        let (mut looked, mut errors) = (Vec::new(), Vec::new());
        for path in &sources.files {
            // Before it is read: a change meanwhile shows at the next look.
            let state = state(path);
            match read_user_file(path, sources.old_hashes) {
                Ok(users) => looked.push(CheckedFile { state, users, complaint: None }),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let table = table(&sources, &looked);
        Ok(Self {
            sources,
            table: ArcSwap::from_pointee(table),
            looked: Mutex::new(looked),
            look_at_ms: AtomicU64::new(0),
            report,
        })
    }

    /// The users as they were last read.
    pub(super) fn table(&self) -> arc_swap::Guard<Arc<UserTable>> {
        self.table.load()
    }

    /// Whether it is time to [look](Self::look); says so to one caller only.
    pub(super) fn is_look_due(&self, now_ms: u64) -> bool {
        let due = self.look_at_ms.load(Ordering::Relaxed);
        let next = now_ms + LOOK_MS;
        !self.sources.files.is_empty()
            && now_ms >= due
            && self
                .look_at_ms
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Reads the files that have changed. Does I/O, so it is for a thread that may wait.
    pub(super) fn look(&self) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_changed = false;
        for (path, last) in self.sources.files.iter().zip(looked.iter_mut()) {
            let state = state(path);
            if state.is_some() && state == last.state {
                continue;
            }
            last.state = state;
            match read_user_file(path, self.sources.old_hashes) {
                Ok(users) => {
                    has_changed |= users != last.users;
                    last.users = users;
                    last.complaint = None;
                }
                Err(error) => {
                    last.complain(
                        format!("{error} (the previous users stay in use)"),
                        &self.report,
                    );
                }
            }
        }
        if has_changed {
            self.table.store(Arc::new(table(&self.sources, &looked)));
        }
    }
}

impl CheckedFile {
    fn complain(&mut self, complaint: String, report: &ReportError) {
        if self.complaint.as_ref() != Some(&complaint) {
            report(&complaint);
            self.complaint = Some(complaint);
        }
    }
}

fn table(sources: &UserSources, looked: &[CheckedFile]) -> UserTable {
    let mut users = HashMap::new();
    let files = looked.iter().flat_map(|looked| &looked.users);
    for (name, hash) in sources.users.iter().chain(files) {
        users.entry(name.as_str().into()).or_insert_with(|| Arc::new(hash.clone()));
    }
    let slowest = users.values().max_by_key(|hash| hash.cost_us()).cloned();
    UserTable { users, slowest: slowest.unwrap_or_else(|| Arc::new(StoredHash::decoy())) }
}

/// The state of a file; `None` where it cannot be told, or is too young to be told from the next.
fn state(path: &Path) -> Option<State> {
    let metadata = std::fs::metadata(path).ok()?;
    let age = SystemTime::now().duration_since(metadata.modified().ok()?).ok()?;
    (age >= SETTLED_AFTER).then(|| {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        State([
            i128::from(metadata.dev()),
            i128::from(metadata.ino()),
            i128::from(metadata.size()),
            nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        ])
    })
}

impl fmt::Debug for Users {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Users");
        shown
            .field("files", &self.sources.files)
            .field("users", &self.table.load().users.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash that a password of nobody is compared with.
    #[track_caller]
    fn check_decoy(users: &[&str], expected: &str) {
        let hash = |text: &str| StoredHash::parse(text, OldHashes::Allowed).unwrap();
        let named = |(number, text): (usize, &&str)| (format!("user{number}"), hash(text));
        let users = users.iter().enumerate().map(named).collect();
        let sources = UserSources { users, ..UserSources::default() };
        let users = Users::load(sources, Arc::new(|said| panic!("{said}"))).unwrap();
        assert!(users.table().decoy().text().starts_with(expected));
    }

    #[test]
    fn nobody_takes_as_long_as_the_slowest_user() {
        let sha = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";
        let argon2id =
            "$argon2id$v=19$m=19456,t=2,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
        let cheap = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
        let bcrypt = "$2y$12$L6Bc/AlTQHyd9liGgGEZyOFLPHNgyxeEPfgYfBCVxJ7JIlwxyVU3u";
        let fast = "$2b$04$AFDc5nZYJFJtqgNUybCbFOPCn5u4nEsZyH7vVLPjGPd1OZtbZ11Em";
        check_decoy(&[], "$argon2id$v=19$m=19456,t=2,p=1$");
        check_decoy(&[sha], "{SHA}");
        check_decoy(&[cheap, sha], "$argon2id$v=19$m=8,");
        check_decoy(&[fast, argon2id, cheap], "$argon2id$v=19$m=19456,");
        check_decoy(&[argon2id, bcrypt, fast], "$2y$12$");
    }
}
