//! The files that are made from the program are those that are committed; `VERVET_REGENERATE=1`
//! writes them.

use std::fs;
use std::path::{Path, PathBuf};

use vervet_testkit::{Child, PATIENCE, TempTree};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn generated_files_are_fresh() {
    let fresh = TempTree::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Child::start(
        env!("CARGO_BIN_EXE_vervet"),
        ["generate".as_ref(), "--dir".as_ref(), fresh.path().as_os_str()],
    );
    assert!(child.wait_exit(PATIENCE).success());
    let files = files_below(fresh.path());
    assert!(files.len() >= 40, "{files:?}");
    for file in files {
        let name = file.strip_prefix(fresh.path()).unwrap();
        let committed = root.join(name);
        let content = fs::read(&file).unwrap();
        if std::env::var_os("VERVET_REGENERATE").is_some() {
            fs::create_dir_all(committed.parent().unwrap()).unwrap();
            fs::write(&committed, &content).unwrap();
        }
        assert!(
            fs::read(&committed).unwrap_or_default() == content,
            "{} is stale: run scripts/generate, or this test with VERVET_REGENERATE=1",
            name.display()
        );
    }
}
