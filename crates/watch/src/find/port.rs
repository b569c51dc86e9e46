//! Processes by the TCP port that they listen on: the socket in the kernel's table, then whose descriptor it is.

use std::path::Path;

use super::processes::{all_processes, topmost};
use crate::error::FindError;
use crate::kept::{Reader, Shape};
use crate::readings::{listening_inodes, socket_inode};

/// The topmost processes that have such a listener; none when nobody listens.
pub(super) fn listening(
    proc: &Path,
    port: u16,
    reader: &mut Reader,
) -> Result<Vec<u32>, FindError> {
    let mut inodes = Vec::new();
    for table in ["self/net/tcp", "self/net/tcp6"] {
        // Without IPv6 there is no table of it.
        if let Ok(text) = reader.read_once(&proc.join(table), Shape::List) {
            inodes.extend(listening_inodes(text, port));
        }
    }
    if inodes.is_empty() {
        return Ok(Vec::new());
    }
    let all = all_processes(proc, reader);
    let pids = all.iter().map(|process| process.pid);
    let mut owners: Vec<_> = pids.filter(|pid| owns(proc, *pid, &inodes)).collect();
    // The service manager keeps the sockets that it hands on; who serves is somebody else, if there is one.
    if owners.len() > 1 {
        owners.retain(|pid| *pid != 1);
    }
    if owners.is_empty() {
        return Err(FindError::OwnerHidden(port));
    }
    Ok(topmost(&owners, &all))
}

fn owns(proc: &Path, pid: u32, inodes: &[u64]) -> bool {
    let folder = proc.join(format!("{pid}/fd"));
    let mut descriptors = std::fs::read_dir(folder).into_iter().flatten().flatten();
    descriptors.any(|descriptor| {
        let link = std::fs::read_link(descriptor.path()).unwrap_or_default();
        socket_inode(link.as_os_str().as_encoded_bytes())
            .is_some_and(|inode| inodes.contains(&inode))
    })
}
