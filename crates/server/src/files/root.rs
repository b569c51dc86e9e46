//! The directory that is served, and the guarantee that nothing outside it is.
//!
//! Every path is opened by `openat2` beneath one directory descriptor, so no spelling of a path and
//! no link swapped between a check and an open can lead outside. If `openat2` is missing or
//! forbidden (kernels before 5.6, some container filters), [`crate::files::walk`] opens each part
//! of the path instead. This module does not decode request targets; it takes paths relative to the
//! root.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use vervet_config::words;

use crate::files::walk;

/// How often an open that raced with a rename (`EAGAIN` of `openat2`) is repeated before it counts
/// as failed.
pub const OPEN_RETRIES_MAX: u32 = 8;

words! {
    /// How symbolic links below the folder are handled.
    pub enum Symlinks {
        /// A path that contains a symbolic link is treated as not found.
        Refuse = "refuse",
        /// Follows links that stay below the folder. Absolute links are not followed.
        Follow = "follow",
    }
}

/// How an open is kept beneath the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// By `openat2` with `RESOLVE_BENEATH`.
    Kernel,
    /// One `openat` with `O_NOFOLLOW` for each part.
    Walk,
}

/// Why a path was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenError {
    /// Nothing of that name, or a part of the path is not a directory.
    Missing,
    /// A symbolic link that the options refuse, or too many of them.
    Linked,
    /// The path leads out of the root.
    Escapes,
    /// Neither a regular file nor a directory.
    Special,
    /// The process may not read it.
    Unreadable,
    /// The process or the system has no descriptor or memory left, or renames kept racing with the
    /// open.
    Exhausted,
    /// Any other failure of the system, such as a failing disk.
    System(Errno),
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("not found"),
            Self::Linked => formatter.write_str("the path contains a symbolic link"),
            Self::Escapes => formatter.write_str("the path leads outside the root folder"),
            Self::Special => formatter.write_str("not a regular file or directory"),
            Self::Unreadable => formatter.write_str("permission denied"),
            Self::Exhausted => {
                formatter.write_str("too many open files (raise the limit, see ulimit -n)")
            }
            Self::System(errno) => errno.fmt(formatter),
        }
    }
}

impl std::error::Error for OpenError {}

/// Identifies a version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The number of the device.
    pub device: u64,
    /// The number of the inode.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// Time of the last change of the content, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Time of the last change of content, owner or permission, in nanoseconds since 1970.
    pub changed_ns: i64,
}

/// Seconds after which a file counts as settled: equal times then mean equal content.
const SETTLED_S: u64 = 2;

/// Distinguishes readings of a file that its state does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// The state proves the content.
    Settled,
    /// The file had been written just before it was read, and may have been written again within
    /// the same tick of the clock, with the same times and size. Each reading has a number.
    Unsettled(u64),
}

impl Reading {
    /// A reading of a file in this state at this time, in seconds since 1970.
    pub(crate) fn new(fingerprint: &Fingerprint, now_s: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let changed_s =
            fingerprint.modified_ns.max(fingerprint.changed_ns).div_euclid(1_000_000_000);
        let age_s = now_s.saturating_sub(u64::try_from(changed_s).unwrap_or(0));
        if age_s >= SETTLED_S {
            return Self::Settled;
        }
        Self::Unsettled(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The two kinds of nodes that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The node is a directory.
    Directory,
    /// The node is a regular file.
    File,
}

/// Kind and state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a file or a directory.
    pub kind: Kind,
    /// The state of the node when it was read.
    pub fingerprint: Fingerprint,
}

/// A node opened beneath the root.
#[derive(Debug)]
pub struct Node {
    /// Readable, except for a directory without read permission: that one can only be passed
    /// through.
    pub descriptor: OwnedFd,
    /// The state of the node after it was opened.
    pub stat: Stat,
}

/// A directory whose content may be served.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    symlinks: Symlinks,
    containment: Containment,
}

/// The purpose of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Probe,
}

impl Access {
    // O_NONBLOCK: the open of a fifo without a writer must not hang.
    pub(crate) fn flags(self) -> OFlags {
        let common = OFlags::CLOEXEC;
        match self {
            Self::Read => common | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
            Self::Probe => common | OFlags::PATH,
        }
    }
}

impl Root {
    /// Takes `directory` as root, contained by the kernel where it can.
    ///
    /// The root itself may be a link or be reached through links.
    pub fn open(directory: &Path, symlinks: Symlinks) -> Result<Self, OpenError> {
        let mut root = Self::open_contained(directory, symlinks, Containment::Kernel)?;
        if let Err(Errno::NOSYS | Errno::PERM) = root.beneath(b".", Access::Probe) {
            root.containment = Containment::Walk;
        }
        Ok(root)
    }

    /// Takes the folder `inner` beneath `directory` as root, reached without passing a symbolic
    /// link: for folders whose owner could put a link in their place.
    pub fn open_beneath(
        directory: &Path,
        inner: &Path,
        symlinks: Symlinks,
    ) -> Result<Self, OpenError> {
        let outer = Self::open(directory, Symlinks::Refuse)?;
        let path = inner.as_os_str().as_bytes();
        let directory = outer.beneath(path, Access::Probe).map_err(open_error)?;
        if stat(directory.as_fd())?.kind != Kind::Directory {
            return Err(OpenError::Missing);
        }
        Ok(Self { directory, symlinks, containment: outer.containment })
    }

    /// Takes `directory` as root with the containment named.
    pub fn open_contained(
        directory: &Path,
        symlinks: Symlinks,
        containment: Containment,
    ) -> Result<Self, OpenError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty()).map_err(open_error)?;
        Ok(Self { directory, symlinks, containment })
    }

    /// How paths are kept beneath this root.
    pub fn containment(&self) -> Containment {
        self.containment
    }

    /// Opens `path`, relative to the root; the empty path is the root itself.
    pub fn open_node(&self, path: &[u8]) -> Result<Node, OpenError> {
        let descriptor = match self.beneath(path, Access::Read) {
            Ok(descriptor) => descriptor,
            Err(Errno::ACCESS) => return self.passable_directory(path),
            Err(errno) => return Err(open_error(errno)),
        };
        let stat = stat(descriptor.as_fd())?;
        Ok(Node { descriptor, stat })
    }

    /// The state of `path`, under the same containment as [`Root::open_node`].
    pub fn stat(&self, path: &[u8]) -> Result<Stat, OpenError> {
        let descriptor = self.beneath(path, Access::Probe).map_err(open_error)?;
        stat(descriptor.as_fd())
    }

    fn passable_directory(&self, path: &[u8]) -> Result<Node, OpenError> {
        let descriptor = self.beneath(path, Access::Probe).map_err(open_error)?;
        let stat = stat(descriptor.as_fd())?;
        match stat.kind {
            Kind::Directory => Ok(Node { descriptor, stat }),
            Kind::File => Err(OpenError::Unreadable),
        }
    }

    fn beneath(&self, path: &[u8], access: Access) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { b"." } else { path };
        match self.containment {
            Containment::Kernel => self.beneath_by_kernel(path, access),
            Containment::Walk => walk::open(self.directory.as_fd(), path, access, self.symlinks),
        }
    }

    fn beneath_by_kernel(&self, path: &[u8], access: Access) -> Result<OwnedFd, Errno> {
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if self.symlinks == Symlinks::Refuse {
            resolve |= ResolveFlags::NO_SYMLINKS;
        }
        let mut retries = 0;
        loop {
            let opened =
                rustix::fs::openat2(&self.directory, path, access.flags(), Mode::empty(), resolve);
            match opened {
                Err(Errno::AGAIN | Errno::INTR) if retries < OPEN_RETRIES_MAX => retries += 1,
                other => return other,
            }
        }
    }
}

/// Kind and state of an open node.
pub(crate) fn stat(descriptor: BorrowedFd<'_>) -> Result<Stat, OpenError> {
    let stat = rustix::fs::fstat(descriptor).map_err(open_error)?;
    stat_of(&stat).ok_or(OpenError::Special)
}

/// Kind and state from the system's record; `None` for anything but files and directories.
// The casts are needed where the fields of the system's record are narrower or signed otherwise.
#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, clippy::cast_possible_wrap)]
pub(crate) fn stat_of(stat: &rustix::fs::Stat) -> Option<Stat> {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        _ => return None,
    };
    let fingerprint = Fingerprint {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    };
    Some(Stat { kind, fingerprint })
}

// Saturates in the year 2262.
fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

fn open_error(errno: Errno) -> OpenError {
    match errno {
        // EINVAL: a path with a zero byte names nothing.
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL => OpenError::Missing,
        Errno::LOOP => OpenError::Linked,
        Errno::XDEV => OpenError::Escapes,
        Errno::ACCESS | Errno::PERM => OpenError::Unreadable,
        Errno::NXIO | Errno::NODEV => OpenError::Special,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => OpenError::Exhausted,
        other => OpenError::System(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(modified_s: i64, changed_s: i64, now_s: u64) -> Reading {
        let nanoseconds = |seconds: i64| seconds * 1_000_000_000 + 999_999_999;
        let fingerprint = Fingerprint {
            device: 1,
            inode: 1,
            size: 1,
            modified_ns: nanoseconds(modified_s),
            changed_ns: nanoseconds(changed_s),
        };
        Reading::new(&fingerprint, now_s)
    }

    /// A file in the same state may have other content than a moment ago, unless it is old.
    #[test]
    fn readings_of_a_file_just_written_differ() {
        let clock_behind = reading(200, 200, 100);
        for now in [100, 101] {
            assert_ne!(reading(100, 100, now), reading(100, 100, now));
        }
        assert_ne!(clock_behind, reading(200, 200, 100));
        // A time of modification that was set does not make it old.
        assert_ne!(reading(1, 100, 101), reading(1, 100, 101));
        assert_eq!(reading(100, 100, 102), Reading::Settled);
        assert_eq!(reading(-5, 100, 102), Reading::Settled);
    }
}
