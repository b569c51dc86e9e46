//! Reads a small file whole, such as a configuration or a user file.
//!
//! Regular files only, and of a bounded size: reading a pipe or a device could block, or never end.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The system cannot open or read it.
    System(io::Error),
    /// A folder, a pipe, a socket or a device.
    NotRegular,
    /// The file has more than this many bytes.
    TooLarge(u64),
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(formatter),
            Self::NotRegular => formatter.write_str("not a regular file"),
            Self::TooLarge(bytes_max) if bytes_max % (1 << 20) == 0 => {
                write!(formatter, "it is larger than {} MiB", bytes_max >> 20)
            }
            Self::TooLarge(bytes_max) => {
                write!(formatter, "it is larger than {bytes_max} bytes")
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::System(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidInput, other.to_string()),
        }
    }
}

/// Reads a regular file of at most `bytes_max` bytes. Never waits for another process.
pub fn read_regular(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    // Before it is opened: that alone has effects on pipes and devices.
    check(&path.metadata()?, bytes_max)?;
    // Something else may be there by now.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    check(&metadata, bytes_max)?;
    read(file, &metadata, bytes_max)
}

fn check(metadata: &Metadata, bytes_max: u64) -> Result<(), ReadError> {
    if !metadata.is_file() {
        return Err(ReadError::NotRegular);
    }
    if metadata.len() > bytes_max {
        return Err(ReadError::TooLarge(bytes_max));
    }
    Ok(())
}

/// The file may grow while it is read, and those of `/proc` have no size.
fn read(file: File, metadata: &Metadata, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge(bytes_max));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[track_caller]
    fn check_refused(path: &Path, bytes_max: u64, expected: &str) {
        let error = read_regular(path, bytes_max).unwrap_err();
        assert_eq!(error.to_string(), expected, "{}", path.display());
    }

    #[test]
    fn what_could_block_or_never_end_is_refused() {
        let tree = tempfile::tempdir().unwrap();
        let pipe = tree.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check_refused(&pipe, 10, "not a regular file");
        check_refused(Path::new("/dev/zero"), 10, "not a regular file");
        check_refused(tree.path(), 10, "not a regular file");
        let link = tree.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        check_refused(&link, 10, "not a regular file");
        check_refused(Path::new("/proc/self/status"), 10, "it is larger than 10 bytes");
        let none = tree.path().join("none");
        check_refused(&none, 10, "No such file or directory (os error 2)");
    }

    #[test]
    fn a_file_may_have_as_many_bytes_as_allowed() {
        let tree = tempfile::tempdir().unwrap();
        let path = tree.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_regular(&path, 10).unwrap(), b"0123456789");
        check_refused(&path, 9, "it is larger than 9 bytes");
        assert_eq!(ReadError::TooLarge(64 << 20).to_string(), "it is larger than 64 MiB");
    }
}
