//! Landlock: restricts the files that the process may open from now on, whatever user it runs as.
//!
//! The kernel applies the rules to the calling thread and to threads that it starts, so this is
//! called on the main thread before it starts others. Open files stay open. Older kernels apply the
//! rights that they support, as the result says.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, make_bitflags,
};

/// The landlock version whose rights are used; later ones add none on files.
const VERSION: ABI = ABI::V5;

/// How far the rules are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// All of them.
    Full,
    /// Those that the kernel knows: its version of Landlock is this.
    Partial(u32),
    /// None: the kernel has no Landlock.
    None,
    /// None: the kernel has Landlock, and it is switched off.
    Disabled,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("file system access is restricted by landlock"),
            Self::Partial(version) => write!(
                f,
                "file system access is restricted in part: landlock version {version}, version {} needed",
                VERSION as u32
            ),
            Self::None => f.write_str("file system access is not restricted: the kernel does not support landlock"),
            Self::Disabled => f.write_str(
                "file system access is not restricted: landlock is disabled (enable it with lsm= on the kernel command line)",
            ),
        }
    }
}

/// Why nothing was restricted. All are the configuration's or the system's fault, or ours.
#[derive(Debug)]
pub(crate) enum LandlockError {
    /// A path that is to be allowed cannot be opened.
    Path(PathBuf, io::Error),
    /// Other threads would go on unrestricted: our bug.
    Threads(usize),
    /// The kernel refused.
    Kernel(RulesetError),
}

impl fmt::Display for LandlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path, error) => write!(
                f,
                "cannot allow {} under landlock: {error} (create it, or remove it from the configuration)",
                path.display()
            ),
            Self::Threads(threads) => {
                write!(f, "cannot apply landlock: {threads} threads are already running")
            }
            Self::Kernel(error) => write!(f, "cannot apply landlock: {error}"),
        }
    }
}

impl std::error::Error for LandlockError {}

impl From<RulesetError> for LandlockError {
    fn from(error: RulesetError) -> Self {
        Self::Kernel(error)
    }
}

/// From now on, files may be read below `read`, and read, written, made and removed below `write`;
/// nothing else, and nothing is run.
pub(crate) fn restrict(read: &[PathBuf], write: &[PathBuf]) -> Result<Level, LandlockError> {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(LandlockError::Threads(threads));
    }
    restrict_thread(read, write)
}

/// Holds the calling thread to the rules, and those it starts.
fn restrict_thread(read: &[PathBuf], write: &[PathBuf]) -> Result<Level, LandlockError> {
    let handled = AccessFs::from_all(VERSION);
    let mut rules = Ruleset::default().handle_access(handled)?.create()?;
    let read = read.iter().map(|path| (path, reading()));
    let write = write.iter().map(|path| (path, writing()));
    for (path, rights) in read.chain(write) {
        rules = rules.add_rule(rule(path, rights)?)?;
    }
    let status = rules.restrict_self()?;
    Ok(level(&status.ruleset, &status.landlock))
}

fn reading() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | ReadDir})
}

fn writing() -> BitFlags<AccessFs> {
    // Sockets, because listeners come and go; renames between folders, because logs are rotated.
    let making = make_bitflags!(AccessFs::{MakeReg | MakeDir | MakeSock | MakeSym | Refer});
    let removing = make_bitflags!(AccessFs::{RemoveFile | RemoveDir});
    reading() | making | removing | AccessFs::WriteFile | AccessFs::Truncate
}

/// Files have fewer rights than folders; the kernel rejects others.
fn rule(path: &Path, rights: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, LandlockError> {
    let unreadable = |error: io::Error| LandlockError::Path(path.to_owned(), error);
    let is_folder = fs::metadata(path).map_err(unreadable)?.is_dir();
    let rights = if is_folder { rights } else { rights & AccessFs::from_file(VERSION) };
    let opened = PathFd::new(path).map_err(|error| unreadable(io::Error::other(error)))?;
    Ok(PathBeneath::new(opened, rights))
}

fn level(rules: &RulesetStatus, kernel: &LandlockStatus) -> Level {
    match (rules, kernel) {
        (RulesetStatus::FullyEnforced, _) => Level::Full,
        (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
            Level::Partial(*effective_abi as u32)
        }
        (_, LandlockStatus::NotEnabled) => Level::Disabled,
        _ => Level::None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::thread;

    use vervet_testkit::{TempTree, skip};

    use super::*;

    /// Runs on a thread that is held to these rules, and gives how far they go.
    fn held_to(
        read: Vec<PathBuf>,
        write: Vec<PathBuf>,
        deed: impl FnOnce() + Send + 'static,
    ) -> Level {
        let held = thread::spawn(move || {
            let level = restrict_thread(&read, &write).unwrap();
            if level == Level::Full {
                deed();
            }
            level
        });
        held.join().unwrap()
    }

    fn refused<T>(result: io::Result<T>) -> bool {
        result.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    }

    #[test]
    fn a_path_that_is_not_there_is_named() {
        let tree = TempTree::new();
        let path = tree.join("none");
        for (read, write) in [(vec![path.clone()], vec![]), (vec![], vec![path.clone()])] {
            let error = restrict_thread(&read, &write).unwrap_err().to_string();
            let expected = format!("cannot allow {} under landlock: No such file", path.display());
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn unrestricted_threads_are_an_error() {
        // The test program has a thread for each test in addition to the first.
        let error = restrict(&[], &[]).unwrap_err();
        assert!(matches!(error, LandlockError::Threads(2..)), "{error}");
    }

    #[test]
    fn requests_that_are_not_allowed_are_refused() {
        let tree = TempTree::new().file("secret/a", "a").file("root/a", "a").dir("log");
        let [secret, root, log] = ["secret", "root", "log"].map(|name| tree.join(name));
        let mut open_before = File::open(secret.join("a")).unwrap();
        let (read, write) = (vec![root.clone()], vec![log.clone()]);
        let level = held_to(read, write, move || {
            assert!(refused(fs::read(secret.join("a"))));
            assert!(refused(fs::read_dir(&secret)));
            assert!(refused(File::create(secret.join("b"))));
            assert!(refused(fs::read(std::env::current_exe().unwrap())));
            assert!(refused(File::create(root.join("b"))));
            assert!(refused(OpenOptions::new().append(true).open(root.join("a"))));
            assert!(refused(fs::remove_file(root.join("a"))));
            assert!(refused(fs::rename(root.join("a"), log.join("a"))));
            assert!(refused(Command::new("/bin/sh").arg("-c").arg("true").status()));
            let mut content = String::new();
            open_before.read_to_string(&mut content).unwrap();
            assert_eq!(content, "a");
        });
        if level != Level::Full {
            skip!("needs a kernel with landlock: {level}");
        }
    }

    #[test]
    fn allowed_requests_pass() {
        let tree = TempTree::new().file("root/a/b", "b").file("page", "p").dir("log/old");
        let [root, page, log] = ["root", "page", "log"].map(|name| tree.join(name));
        let own_file = tree.write("access.log", "");
        let read = vec![root.clone(), page.clone()];
        let write = vec![log.clone(), own_file.clone()];
        let level = held_to(read, write, move || {
            assert_eq!(fs::read(root.join("a/b")).unwrap(), b"b");
            assert_eq!(fs::read(page).unwrap(), b"p");
            assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
            let mut file = OpenOptions::new().append(true).open(&own_file).unwrap();
            file.write_all(b"line\n").unwrap();
            file.set_len(0).unwrap();
            fs::write(log.join("access.log"), "line\n").unwrap();
            fs::rename(log.join("access.log"), log.join("old/access.log.1")).unwrap();
            fs::remove_file(log.join("old/access.log.1")).unwrap();
            drop(UnixListener::bind(log.join("socket")).unwrap());
        });
        if level != Level::Full {
            skip!("needs a kernel with landlock: {level}");
        }
    }

    #[test]
    fn the_level_of_protection_is_reported() {
        let kernel =
            |version| LandlockStatus::Available { effective_abi: version, kernel_abi: None };
        let (full, partial, none) = (
            RulesetStatus::FullyEnforced,
            RulesetStatus::PartiallyEnforced,
            RulesetStatus::NotEnforced,
        );
        let check = |rules, kernel, expected: &str| {
            assert_eq!(level(&rules, &kernel).to_string(), expected);
        };
        check(full, kernel(ABI::V7), "file system access is restricted by landlock");
        check(
            partial,
            kernel(ABI::V2),
            "file system access is restricted in part: landlock version 2, version 5 needed",
        );
        let none_at_all =
            "file system access is not restricted: the kernel does not support landlock";
        check(none, LandlockStatus::NotImplemented, none_at_all);
        let off = "file system access is not restricted: landlock is disabled (enable it with lsm= on the kernel command line)";
        check(RulesetStatus::NotEnforced, LandlockStatus::NotEnabled, off);
    }
}
