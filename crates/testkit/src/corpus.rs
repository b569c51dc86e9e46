//! A folder of inputs, each with its expected output in a file of the same name that ends in
//! `.expected`. With `VERVET_REGENERATE=1` the outputs are written instead of compared; review them
//! in the diff of the commit.

use std::fs;
use std::path::{Path, PathBuf};

/// Whether outputs are compared or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Compare,
    Write,
}

/// Passes each file of a folder with the ending `extension` to `answer` and compares the output.
/// Panics with all differences. Returns the number of inputs, so that a test can check that there
/// are some.
#[track_caller]
pub fn check_corpus(folder: &Path, extension: &str, answer: impl Fn(&Path) -> String) -> usize {
    let mode = match std::env::var_os("VERVET_REGENERATE") {
        Some(_) => Mode::Write,
        None => Mode::Compare,
    };
    let (count, differences) = differences(folder, extension, &answer, mode);
    assert!(
        differences.is_empty(),
        "{} of {count} in {} differ (VERVET_REGENERATE=1 writes what is answered now):\n\n{}",
        differences.len(),
        folder.display(),
        differences.join("\n")
    );
    count
}

fn differences(
    folder: &Path,
    extension: &str,
    answer: &dyn Fn(&Path) -> String,
    mode: Mode,
) -> (usize, Vec<String>) {
    let inputs = files(folder, extension);
    let mut differences = Vec::new();
    for input in &inputs {
        let expected = input.with_extension("expected");
        let now = answer(input);
        if mode == Mode::Write {
            fs::write(&expected, now)
                .unwrap_or_else(|error| panic!("cannot write {}: {error}", expected.display()));
            continue;
        }
        match fs::read_to_string(&expected) {
            Ok(before) if before == now => {}
            Ok(before) => differences.push(difference(input, &before, &now)),
            Err(error) => {
                differences.push(format!("== {}: {error}\n-- now\n{now}", expected.display()));
            }
        }
    }
    let orphans = files(folder, "expected").into_iter();
    let orphans = orphans.filter(|expected| !inputs.contains(&expected.with_extension(extension)));
    differences.extend(orphans.map(|expected| format!("== {}: no input", expected.display())));
    (inputs.len(), differences)
}

fn difference(input: &Path, before: &str, now: &str) -> String {
    format!("== {}\n-- expected\n{before}-- now\n{now}", input.display())
}

/// The files of an ending directly in a folder, in the order of their names.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == extension)).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TempTree;

    fn upper_case(path: &Path) -> String {
        fs::read_to_string(path).unwrap().to_uppercase()
    }

    /// The files that differ.
    #[track_caller]
    fn check(tree: &TempTree, mode: Mode, count: usize, differing: &[&str]) {
        let (found, differences) = differences(tree.path(), "in", &upper_case, mode);
        assert_eq!(found, count);
        assert_eq!(differences.len(), differing.len(), "{differences:?}");
        for (difference, name) in differences.iter().zip(differing) {
            assert!(difference.contains(name), "{difference}");
        }
    }

    #[test]
    fn finds_wrong_missing_and_orphaned_answers() {
        let tree = TempTree::new()
            .file("a.in", "a")
            .file("a.expected", "b")
            .file("b.in", "b")
            .file("c.in", "c")
            .file("c.expected", "C")
            .file("d.expected", "D");
        check(&tree, Mode::Compare, 3, &["a.in", "b.expected", "d.expected"]);
        check(&tree, Mode::Write, 3, &["d.expected"]);
        check(&tree, Mode::Compare, 3, &["d.expected"]);
    }
}
