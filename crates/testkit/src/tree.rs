//! A folder of files for one test, removed when the test ends.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder that is filled step by step: `TempTree::new().file("a/b.txt",
/// "content").dir("empty")`. Folders on the way to a file are made. Removed on drop.
#[derive(Debug)]
pub struct TempTree {
    folder: TempDir,
}

impl Default for TempTree {
    fn default() -> Self {
        Self::new()
    }
}

impl TempTree {
    /// An empty folder that other users of the machine may read, as a served folder usually is.
    #[track_caller]
    pub fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder =
            tempfile::Builder::new().prefix("vervet-").tempdir().expect("a temporary folder");
        // Rivals drop to a user of their own, who must be able to enter.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
            .expect("permissions of our own folder");
        Self { folder }
    }

    /// Writes a file, or replaces it.
    #[track_caller]
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Makes an empty folder.
    #[track_caller]
    #[must_use]
    pub fn dir(self, path: impl AsRef<Path>) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(&path)
            .unwrap_or_else(|error| panic!("cannot make {}: {error}", path.display()));
        self
    }

    /// Makes a symbolic link at `path` whose text is `target`, whether or not that exists.
    #[track_caller]
    #[must_use]
    pub fn symlink(self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        let path = self.place(path.as_ref());
        std::os::unix::fs::symlink(target, &path)
            .unwrap_or_else(|error| panic!("cannot link {}: {error}", path.display()));
        self
    }

    /// Makes a file of `size_bytes` zero bytes that takes no room on the disk.
    #[track_caller]
    #[must_use]
    pub fn sparse(self, path: impl AsRef<Path>, size_bytes: u64) -> Self {
        let path = self.place(path.as_ref());
        let file = fs::File::create(&path)
            .unwrap_or_else(|error| panic!("cannot make {}: {error}", path.display()));
        file.set_len(size_bytes)
            .unwrap_or_else(|error| panic!("cannot size {}: {error}", path.display()));
        self
    }

    /// Writes a file while the test runs, or replaces its content in place; gives its full path.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.place(path.as_ref());
        fs::write(&path, content)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        path
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The full path of something in the folder.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(path)
    }

    #[track_caller]
    fn place(&self, path: &Path) -> PathBuf {
        let path = self.folder.path().join(path);
        assert!(
            path.starts_with(self.folder.path()),
            "{} is not in the temporary folder",
            path.display()
        );
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .unwrap_or_else(|error| panic!("cannot make {}: {error}", parent.display()));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    #[should_panic(expected = "is not in the temporary folder")]
    fn writes_nothing_elsewhere() {
        TempTree::new().write("/vervet-elsewhere", "");
    }

    #[test]
    fn holds_what_was_put_in_and_is_gone_afterwards() {
        let tree =
            TempTree::new().file("a/b.txt", "hello").dir("c").symlink("d/link", "../a/b.txt");
        assert_eq!(fs::read(tree.join("d/link")).unwrap(), b"hello");
        assert!(tree.join("c").is_dir());
        tree.write("a/b.txt", "other");
        assert_eq!(fs::read(tree.join("a/b.txt")).unwrap(), b"other");
        let path = tree.path().to_owned();
        drop(tree);
        assert!(!path.exists());
    }

    #[test]
    fn a_sparse_file_takes_no_room() {
        let tree = TempTree::new().sparse("big", 5 << 30);
        let metadata = fs::metadata(tree.join("big")).unwrap();
        assert_eq!(metadata.len(), 5 << 30);
        assert!(metadata.blocks() < 100);
    }
}
