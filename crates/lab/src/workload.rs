//! The files of trees, and the requests for them.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use crate::plan::{Plan, PlannedTree, PlannedWorkload};

/// Placeholder for a file of the tree in a request target.
const FILE: &str = "{file}";

/// All request targets of a workload, one per file; a single one without a tree.
pub fn targets(plan: &Plan, workload: &PlannedWorkload) -> Vec<String> {
    let path = &workload.request.target;
    match workload.tree {
        None => vec![path.clone()],
        Some(tree) => {
            let of = |index| path.replace(FILE, &file_name(index));
            (0..plan.trees[tree].files).map(of).collect()
        }
    }
}

/// A request, head and content, with further field lines.
pub(crate) fn request(
    workload: &PlannedWorkload,
    target: &str,
    address: SocketAddr,
    fields: &[&str],
) -> Vec<u8> {
    let asked = &workload.request;
    let host = asked.host.clone().unwrap_or_else(|| address.to_string());
    let mut text = format!("{} {target} HTTP/1.1\r\nHost: {host}\r\n", asked.method);
    for field in asked.fields.iter().map(String::as_str).chain(fields.iter().copied()) {
        text.push_str(field);
        text.push_str("\r\n");
    }
    if let Some(content) = &asked.content {
        // Writing to a string cannot fail.
        let _ = write!(text, "Content-Length: {}\r\n", content.len());
    }
    text.push_str("\r\n");
    text.push_str(asked.content.as_deref().unwrap_or_default());
    text.into_bytes()
}

/// Files of one folder: servers and file systems differ in folders of a hundred thousand.
const PER_FOLDER: u32 = 1000;

/// Why files could not be made.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.error)
    }
}

/// Makes the files of a tree below `site`.
pub fn create(tree: &PlannedTree, seed: u64, site: &Path) -> Result<(), FileError> {
    let root = site.join(&tree.name);
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError { path, error }
    };
    for folder in 0..tree.files.div_ceil(PER_FOLDER) {
        let folder = root.join(folder.to_string());
        fs::create_dir_all(&folder).map_err(fail(&folder))?;
    }
    for index in 0..tree.files {
        let path = root.join(file_name(index));
        fs::write(&path, content(tree, seed, index)).map_err(fail(&path))?;
    }
    Ok(())
}

/// The name of a file below its tree.
fn file_name(index: u32) -> String {
    format!("{}/{index}.txt", index / PER_FOLDER)
}

/// What a file holds. Each has a generator of its own, so that one can be made without those before
/// it.
fn content(tree: &PlannedTree, seed: u64, index: u32) -> Vec<u8> {
    if let Some(content) = &tree.content {
        return content.as_bytes().to_vec();
    }
    let name = tree.name.bytes().fold(seed, |state, byte| state.rotate_left(8) ^ u64::from(byte));
    let mut random = fastrand::Rng::with_seed(name ^ (u64::from(index) << 32));
    let length = random.u64(tree.bytes_min..=tree.bytes_max);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    random.fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_testkit::TempTree;

    fn tree(files: u32) -> PlannedTree {
        PlannedTree { name: "many".to_owned(), files, bytes_min: 10, bytes_max: 20, content: None }
    }

    #[test]
    fn the_same_seed_makes_the_same_files() {
        let [one, other] = [TempTree::new(), TempTree::new()];
        for site in [&one, &other] {
            create(&tree(1002), 7, site.path()).unwrap();
        }
        for index in [0, 1, 999, 1000, 1001] {
            let name = format!("many/{}", file_name(index));
            let bytes = fs::read(one.path().join(&name)).unwrap();
            assert_eq!(bytes, fs::read(other.path().join(&name)).unwrap(), "{name}");
            assert_eq!(bytes, content(&tree(5000), 7, index), "{name}");
            assert!((10..=20).contains(&bytes.len()), "{name}");
        }
        assert_ne!(content(&tree(1), 7, 0), content(&tree(1), 8, 0));
        assert!(!one.path().join("many/1/1002.txt").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let site = TempTree::new().file("many", "a file");
        let error = create(&tree(1), 1, site.path()).unwrap_err();
        assert!(error.to_string().contains("many/0"), "{error}");
    }
}
