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

use super::stored_hash::{HashWork, OldHashes, StoredHash};
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

/// The most kinds of hashes that a wrong password is compared with. Of more kinds, the slowest
/// count: the others take little of the time.
const KINDS_MAX: usize = 8;

/// Users by name.
pub(super) struct UserTable {
    users: HashMap<Box<str>, Arc<StoredHash>>,
    /// A hash of each kind that the users have, the slowest first; never empty.
    kinds: Box<[Arc<StoredHash>]>,
}

/// The hashes that a password is compared with.
pub(super) struct Comparison {
    /// The hash of the user; `None` for an unknown user.
    pub(super) own: Option<Arc<StoredHash>>,
    /// Hashes that take the same time as those of the other kinds, if the password is wrong.
    pub(super) others: Vec<Arc<StoredHash>>,
}

impl UserTable {
    /// The hash of a user.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<StoredHash>> {
        self.users.get(name)
    }

    /// What a password is compared with. A wrong one costs a verification of each kind of hash,
    /// whether the user exists or not and whatever kind it has: the time does not show who is a
    /// user.
    pub(super) fn comparison(&self, name: &str) -> Comparison {
        let own = self.users.get(name).cloned();
        let work = own.as_ref().map(|own| own.work());
        let others = self.kinds.iter().filter(|kind| Some(kind.work()) != work);
        Comparison { others: others.cloned().collect(), own }
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
    let kinds = kinds(users.values());
    UserTable { users, kinds }
}

/// A hash of each kind, the slowest first, at most [`KINDS_MAX`]; a decoy if there are no hashes.
fn kinds<'h>(hashes: impl Iterator<Item = &'h Arc<StoredHash>>) -> Box<[Arc<StoredHash>]> {
    let mut kinds: Vec<(HashWork, Arc<StoredHash>)> = Vec::new();
    for hash in hashes {
        let work = hash.work();
        if kinds.iter().all(|(known, _)| *known != work) {
            kinds.push((work, Arc::clone(hash)));
            kinds.sort_by_key(|(work, _)| std::cmp::Reverse(work.cost_us()));
            kinds.truncate(KINDS_MAX);
        }
    }
    if kinds.is_empty() {
        return Box::new([Arc::new(StoredHash::decoy())]);
    }
    kinds.into_iter().map(|(_, hash)| hash).collect()
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

    const SHA: &str = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";
    const ARGON2ID: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
    const CHEAP: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
    const BCRYPT: &str = "$2y$12$L6Bc/AlTQHyd9liGgGEZyOFLPHNgyxeEPfgYfBCVxJ7JIlwxyVU3u";
    const FAST: &str = "$2b$04$AFDc5nZYJFJtqgNUybCbFOPCn5u4nEsZyH7vVLPjGPd1OZtbZ11Em";

    fn users(hashes: &[&str]) -> Users {
        let hash = |text: &str| StoredHash::parse(text, OldHashes::Allowed).unwrap();
        let named = |(number, text): (usize, &&str)| (format!("user{number}"), hash(text));
        let users = hashes.iter().enumerate().map(named).collect();
        let sources = UserSources { users, ..UserSources::default() };
        Users::load(sources, Arc::new(|said| panic!("{said}"))).unwrap()
    }

    /// The beginnings of the hashes that a wrong password is compared with, the slowest first: the
    /// same for each user and for nobody.
    #[track_caller]
    fn check(hashes: &[&str], expected: &[&str]) {
        let table = users(hashes);
        let table = table.table();
        let names = (0..hashes.len()).map(|number| format!("user{number}"));
        for name in names.chain(["nobody".to_owned()]) {
            let Comparison { own, others } = table.comparison(&name);
            assert_eq!(own.is_some(), name != "nobody");
            let mut all: Vec<_> = own.into_iter().chain(others).collect();
            all.sort_by_key(|hash| std::cmp::Reverse(hash.work().cost_us()));
            assert_eq!(all.len(), expected.len(), "{name} of {hashes:?}");
            for (hash, expected) in all.iter().zip(expected) {
                assert!(hash.text().starts_with(expected), "{name}: {} {expected}", hash.text());
            }
        }
    }

    #[test]
    fn a_wrong_password_costs_a_verification_of_each_kind() {
        check(&[], &["$argon2id$v=19$m=19456,t=2,p=1$"]);
        check(&[SHA], &["{SHA}"]);
        check(&[CHEAP, SHA], &["$argon2id$v=19$m=8,", "{SHA}"]);
        check(&[ARGON2ID, ARGON2ID], &["$argon2id$v=19$m=19456,"]);
        check(&[ARGON2ID, BCRYPT, BCRYPT], &["$2y$12$", "$argon2id$v=19$m=19456,"]);
        check(
            &[ARGON2ID, FAST, CHEAP],
            &["$argon2id$v=19$m=19456,", "$2b$04$", "$argon2id$v=19$m=8,"],
        );
    }

    #[test]
    fn of_many_kinds_the_slowest_count() {
        let hashes: Vec<_> = (0..=KINDS_MAX)
            .map(|kind| ARGON2ID.replace("m=19456", &format!("m={}", 1000 * (kind + 1))))
            .collect();
        let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
        let nobody = |hashes: &[&str]| users(hashes).table().comparison("nobody").others;
        assert_eq!(nobody(&hashes[..KINDS_MAX]).len(), KINDS_MAX);
        let kept = nobody(&hashes);
        assert_eq!(kept.len(), KINDS_MAX);
        assert!(kept.iter().all(|hash| !hash.text().contains("m=1000,")));
    }
}
