//! Files of the kernel that are read repeatedly: each over a file descriptor that stays open, all
//! into one buffer. Counts system calls, so that a test can limit the cost of a sample.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The maximum size of a file. The largest is the table of TCP sockets of a busy machine.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The initial size of the buffer: more than any file that is one record.
const BYTES_FIRST: usize = 32 * 1024;

/// The buffer, and counters of system calls.
#[derive(Debug)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
    /// The number of opened files.
    pub(crate) opens: u64,
    /// The number of read system calls.
    pub(crate) reads: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self { buffer: vec![0; BYTES_FIRST], opens: 0, reads: 0 }
    }
}

/// How many reads a file takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One: the kernel returns the whole file at once, and a second read would repeat the work.
    Record,
    /// Several: the kernel returns a list page by page, until a read is empty.
    List,
}

impl Reader {
    /// Reads a file once and closes it.
    pub(crate) fn read_once(&mut self, path: &Path, shape: Shape) -> io::Result<&[u8]> {
        self.opens += 1;
        let file = File::open(path)?;
        self.read(&file, shape)
    }

    fn read(&mut self, file: &File, shape: Shape) -> io::Result<&[u8]> {
        let mut length = 0;
        loop {
            self.reads += 1;
            let read = match file.read_at(&mut self.buffer[length..], length as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            length += read;
            let full = length == self.buffer.len();
            if read == 0 || (shape == Shape::Record && !full) {
                break;
            }
            if full && self.buffer.len() >= BYTES_MAX {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            if full {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        Ok(&self.buffer[..length])
    }
}

/// Whether the descriptor stays open between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It stays open.
    Open,
    /// It is opened for each reading, as there are too many files.
    Closed,
}

/// A file of the kernel.
#[derive(Debug)]
pub(crate) struct KernelFile {
    path: PathBuf,
    shape: Shape,
    keep: Keep,
    file: Option<File>,
}

impl KernelFile {
    /// The file at a path, which is opened by the first reading.
    pub(crate) fn new(path: impl Into<PathBuf>, shape: Shape, keep: Keep) -> Self {
        Self { path: path.into(), shape, keep, file: None }
    }

    /// Reads the current content.
    pub(crate) fn read<'a>(&mut self, reader: &'a mut Reader) -> io::Result<&'a [u8]> {
        if let Some(file) = &self.file {
            return reader.read(file, self.shape);
        }
        reader.opens += 1;
        let file = File::open(&self.path)?;
        if self.keep == Keep::Closed {
            return reader.read(&file, self.shape);
        }
        reader.read(self.file.insert(file), self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_testkit::TempTree;

    #[test]
    fn a_file_that_is_gone_is_an_error_each_time() {
        let mut kept = KernelFile::new("/proc/0/stat", Shape::Record, Keep::Open);
        let mut reader = Reader::default();
        assert!(kept.read(&mut reader).is_err());
        assert!(kept.read(&mut reader).is_err());
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_completely() {
        let long = vec![b'x'; BYTES_FIRST * 2 + 7];
        let tree = TempTree::new().file("long", &long);
        for shape in [Shape::Record, Shape::List] {
            let mut kept = KernelFile::new(tree.join("long"), shape, Keep::Open);
            assert_eq!(kept.read(&mut Reader::default()).unwrap(), long);
        }
    }

    #[test]
    fn an_open_file_has_its_new_content() {
        let tree = TempTree::new().file("a", "one");
        let mut reader = Reader::default();
        let mut kept = KernelFile::new(tree.join("a"), Shape::Record, Keep::Open);
        assert_eq!(kept.read(&mut reader).unwrap(), b"one");
        std::fs::write(tree.join("a"), "two!").unwrap();
        assert_eq!(kept.read(&mut reader).unwrap(), b"two!");
        assert_eq!((reader.opens, reader.reads), (1, 2));
        let mut closed = KernelFile::new(tree.join("a"), Shape::List, Keep::Closed);
        assert_eq!(closed.read(&mut reader).unwrap(), b"two!");
        assert_eq!(closed.read(&mut reader).unwrap(), b"two!");
        assert_eq!((reader.opens, reader.reads), (3, 6));
    }
}
