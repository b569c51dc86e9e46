//! The application in a folder of the subject's own: what it writes next to itself is removed with
//! the step, and a server that changes to another user may read it.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The most files of an application.
const FILES_MAX: u32 = 10_000;

/// Why an application could not be copied.
#[derive(Debug)]
pub struct CopyError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot copy the application {}: {}", self.path.display(), self.why)
    }
}

/// Copies an application, a file or a folder, into `folder` and returns its new path.
pub fn copy_app(app: &Path, folder: &Path) -> Result<PathBuf, CopyError> {
    let fail = |path: &Path, why: String| CopyError { path: path.to_owned(), why };
    let name = app.file_name().ok_or_else(|| fail(app, "the path has no file name".to_owned()))?;
    let target = folder.join("app").join(name);
    let mut left = FILES_MAX;
    let mut queue = vec![(app.to_owned(), target.clone())];
    while let Some((from, to)) = queue.pop() {
        let copy = |error: io::Error| fail(&from, error.to_string());
        if from.is_dir() {
            make(&to).map_err(copy)?;
            for entry in fs::read_dir(&from).map_err(copy)? {
                let name = entry.map_err(copy)?.file_name();
                queue.push((from.join(&name), to.join(&name)));
            }
            continue;
        }
        left =
            left.checked_sub(1).ok_or_else(|| fail(app, format!("more than {FILES_MAX} files")))?;
        if let Some(parent) = to.parent() {
            make(parent).map_err(copy)?;
        }
        fs::copy(&from, &to).map_err(copy)?;
    }
    Ok(target)
}

/// A folder that servers may write to, whatever user they change to.
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_testkit::TempTree;

    #[test]
    fn a_file_and_a_folder_are_copied() {
        let tree = TempTree::new().file("app/a.php", "a").file("app/b/c.txt", "c");
        let own = TempTree::new();
        let file = copy_app(&tree.path().join("app/a.php"), own.path()).unwrap();
        assert_eq!(fs::read_to_string(file).unwrap(), "a");
        let folder = copy_app(&tree.path().join("app"), own.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.join("b/c.txt")).unwrap(), "c");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let own = TempTree::new();
        let error = copy_app(Path::new("/no-such-app.py"), own.path()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot copy the application /no-such-app.py: "), "{text}");
    }
}
