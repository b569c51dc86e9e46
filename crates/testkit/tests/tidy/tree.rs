//! What the rules look at: paths and texts, of the repository or planted by a test.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

/// The files by their path from the root, in order. Binary files (pictures, archives) have an empty
/// text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

/// One place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The path from the root.
    pub(crate) path: String,
    /// The line, counted from 1; 0 for the whole file.
    pub(crate) line: usize,
    /// What is wrong and what to do.
    pub(crate) text: String,
}

impl Tree {
    /// The files that git tracks or would offer to track.
    pub(crate) fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut git = Command::new("git");
        // Also where the repository belongs to another user, as in many a container.
        git.args(["-c", "safe.directory=*", "-C"]).arg(&root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let output = git.output().expect("git lists the files");
        assert!(
            output.status.success(),
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let names = String::from_utf8(output.stdout).expect("file names that are text");
        let mut tree = Self::default();
        for name in names.split_terminator('\0') {
            // A tracked file may be missing in the working tree.
            if let Ok(bytes) = std::fs::read(root.join(name)) {
                tree.files.insert(name.to_owned(), String::from_utf8(bytes).unwrap_or_default());
            }
        }
        assert!(
            tree.files.len() > 20,
            "only {} files: this is not the repository",
            tree.files.len()
        );
        tree
    }

    /// A tree made by a test.
    pub(crate) fn planted(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { files: files.collect() }
    }

    /// All files, in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends so.
    pub(crate) fn ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
}

impl Finding {
    /// A finding at a line of a file.
    pub(crate) fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Whether a path ends in a dot and this extension.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// Plants files and compares where a rule finds something, as `path:line`, with what is expected.
#[track_caller]
pub(crate) fn check_rule(
    rule: fn(&Tree) -> Vec<Finding>,
    files: &[(&str, &str)],
    expected: &[&str],
) {
    let findings = rule(&Tree::planted(files));
    let places: Vec<_> =
        findings.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect();
    assert_eq!(places, expected, "{findings:#?}");
}
