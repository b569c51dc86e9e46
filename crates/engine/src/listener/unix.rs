//! The file of a unix socket: taken over when stale, removed by its owner.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with,
};

use super::error::BindError;

/// The file of a bound unix socket. Removed when dropped, if it is still the same file.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Binds `socket` to `path` with the permissions `mode`, replacing a stale socket file.
    pub(super) fn bind(
        socket: &OwnedFd,
        path: &Path,
        mode: Option<u32>,
    ) -> Result<SocketFile, BindError> {
        let system =
            |errno| BindError::Address { address: format!("unix:{}", path.display()), errno };
        let address = SocketAddrUnix::new(path).map_err(system)?;
        // Before the bind, so that the file never has more permissions than asked for; after it,
        // for those the umask took.
        if let Some(mode) = mode {
            rustix::fs::fchmod(socket, Mode::from_raw_mode(mode)).map_err(system)?;
        }
        match bind(socket, &address) {
            Err(Errno::ADDRINUSE) => {
                remove_stale(path, &address)?;
                bind(socket, &address).map_err(system)?;
            }
            result => result.map_err(system)?,
        }
        let from_io =
            |error: std::io::Error| system(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let metadata = fs::symlink_metadata(path).map_err(from_io)?;
        // Absolute, so that a later change of directory does not remove another file.
        let path = std::path::absolute(path).map_err(from_io)?;
        let file = SocketFile { path, device: metadata.dev(), inode: metadata.ino() };
        if let Some(mode) = mode {
            file.set_mode(mode)?;
        }
        Ok(file)
    }

    /// Sets the permissions of the file.
    pub(super) fn set_mode(&self, mode: u32) -> Result<(), BindError> {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(&self.path, permissions).map_err(|error| BindError::Address {
            address: format!("unix:{}", self.path.display()),
            errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| metadata.dev() == self.device && metadata.ino() == self.inode);
        if ours {
            // A file that cannot be removed is found stale by the next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes the file of a socket on which no process listens; anything else at the path is an error.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> Result<(), BindError> {
    let name = || format!("unix:{}", path.display());
    let is_socket =
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket());
    if !is_socket {
        return Err(BindError::UnixPathTaken(name()));
    }
    let system = |errno| BindError::Address { address: name(), errno };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let probe =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(system)?;
    match connect(&probe, address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path)
            .map_err(|error| system(Errno::from_io_error(&error).unwrap_or(Errno::IO))),
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Err(BindError::UnixInUse(name())),
        Err(errno) => Err(system(errno)),
    }
}
