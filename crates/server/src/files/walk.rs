//! Containment without `openat2`: a path opened part by part, each with `O_NOFOLLOW`.
//!
//! The directories on the way are held open as a stack, so `..` (which only a link can bring in)
//! goes back to the directory that was really passed, never to wherever a rename has moved it;
//! above the root the walk ends. Links, where they are followed, are read and walked by the same
//! rules: beneath the root, at most
//! [`LINKS_MAX`] of them, absolute ones refused.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::root::{Access, Symlinks};

/// Links followed in one path before it counts as a loop; the kernel's own bound.
pub(crate) const LINKS_MAX: usize = 40;

/// Opens `path` beneath `root`, failing with the errors that `openat2` gives.
pub(crate) fn open(
    root: BorrowedFd<'_>,
    path: &[u8],
    access: Access,
    symlinks: Symlinks,
) -> Result<OwnedFd, Errno> {
    let mut passed: Vec<OwnedFd> = Vec::new();
    let mut pending: Vec<Vec<u8>> = Vec::new();
    push_parts(&mut pending, path)?;
    let mut links = 0;
    while let Some(part) = pending.pop() {
        match part.as_slice() {
            b"." => continue,
            b".." => {
                passed.pop().ok_or(Errno::XDEV)?;
                continue;
            }
            _ => {}
        }
        let flags = if pending.is_empty() { access.flags() } else { TRAVERSAL };
        let here = passed.last().map_or(root, AsFd::as_fd);
        match step(here, &part, flags)? {
            Step::Opened(last) if pending.is_empty() => return Ok(last),
            Step::Opened(directory) => passed.push(directory),
            Step::Link(target) => {
                links += 1;
                if symlinks == Symlinks::Refuse || links > LINKS_MAX {
                    return Err(Errno::LOOP);
                }
                push_parts(&mut pending, &target)?;
            }
        }
    }
    let here = passed.last().map_or(root, AsFd::as_fd);
    rustix::fs::openat(here, c".", access.flags(), Mode::empty())
}

const TRAVERSAL: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

enum Step {
    Opened(OwnedFd),
    Link(Vec<u8>),
}

fn step(here: BorrowedFd<'_>, part: &[u8], flags: OFlags) -> Result<Step, Errno> {
    match rustix::fs::openat(here, part, flags | OFlags::NOFOLLOW, Mode::empty()) {
        // O_PATH with O_NOFOLLOW opens a link itself.
        Ok(opened) if flags.contains(OFlags::PATH) && is_link(&opened)? => {
            Ok(Step::Link(rustix::fs::readlinkat(&opened, c"", Vec::new())?.into_bytes()))
        }
        Ok(opened) => Ok(Step::Opened(opened)),
        Err(error @ (Errno::LOOP | Errno::NOTDIR)) => {
            let link = rustix::fs::readlinkat(here, part, Vec::new()).map_err(|_| error)?;
            Ok(Step::Link(link.into_bytes()))
        }
        Err(error) => Err(error),
    }
}

fn is_link(descriptor: &OwnedFd) -> Result<bool, Errno> {
    let stat = rustix::fs::fstat(descriptor)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

// Last part first. A trailing slash asks for a directory: it becomes a last part `.`.
fn push_parts(pending: &mut Vec<Vec<u8>>, path: &[u8]) -> Result<(), Errno> {
    if path.first() == Some(&b'/') {
        return Err(Errno::XDEV);
    }
    if path.last() == Some(&b'/') {
        pending.push(b".".to_vec());
    }
    let parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
    pending.extend(parts.rev().map(<[u8]>::to_vec));
    Ok(())
}
