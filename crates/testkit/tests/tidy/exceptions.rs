//! What is longer than it may be, for now. These lists may only shrink: an entry states the length
//! of today, and the check fails when the file has become shorter and the entry has not, or when
//! the entry is no longer needed.

use crate::tidy::shape::{FILE_LINES_MAX, FUNCTION_LINES_MAX};
use crate::tidy::source::{Scope, functions};
use crate::tidy::tree::{Finding, Tree};

/// A file or function that is too long, its length today, and why.
pub(crate) type Exception = (&'static str, usize, &'static str);

/// Files, by path.
pub(crate) const FILE_LINES: &[Exception] = &[];

/// Functions, by `path::name`.
pub(crate) const FUNCTION_LINES: &[Exception] = &[];

/// How far a length may fall below its entry before the entry has to follow: small edits need not
/// touch the list.
const SLACK_LINES: usize = 5;

/// Where the lists stand, for findings about them.
const HERE: &str = "crates/testkit/tests/tidy/exceptions.rs";

/// The length that the list allows; none when the list says nothing.
pub(crate) fn allowance(list: &[Exception], name: &str) -> Option<usize> {
    list.iter().find(|(listed, _, _)| *listed == name).map(|(_, lines, _)| *lines)
}

/// Finds entries that are larger than they need to be.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_lists(tree, FILE_LINES, FUNCTION_LINES)
}

fn check_lists(tree: &Tree, files: &[Exception], long_functions: &[Exception]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, listed, _) in files {
        let lines = tree.text(path).map(|text| text.lines().count());
        findings.extend(verdict(path, *listed, lines, FILE_LINES_MAX));
    }
    for (name, listed, _) in long_functions {
        findings.extend(verdict(name, *listed, function_lines(tree, name), FUNCTION_LINES_MAX));
    }
    findings
}

/// The longest function of this name in the file, when there is one.
fn function_lines(tree: &Tree, name: &str) -> Option<usize> {
    let (path, name) = name.rsplit_once("::")?;
    let file = syn::parse_file(tree.text(path)?).ok()?;
    let same =
        functions(&file, Scope::Everything).into_iter().filter(|function| function.name == name);
    same.map(|function| function.lines).max()
}

fn verdict(name: &str, listed: usize, lines: Option<usize>, most: usize) -> Option<Finding> {
    let text = match lines {
        None => format!("{name} is gone: take its entry out"),
        Some(lines) if lines <= most => {
            format!("{name} has {lines} lines and needs no entry: take it out")
        }
        Some(lines) if lines + SLACK_LINES < listed => {
            format!("{name} has {lines} lines: lower its entry from {listed}")
        }
        Some(_) => return None,
    };
    Some(Finding::at(HERE, 0, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the list says of a file of `lines` lines that is listed with 600.
    #[track_caller]
    fn check_entry(lines: usize, expected: Option<&str>) {
        let text = "x\n".repeat(lines);
        let findings =
            check_lists(&Tree::planted(&[("a.rs", &text)]), &[("a.rs", 600, "why")], &[]);
        let texts: Vec<_> = findings.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts.len(), usize::from(expected.is_some()), "{texts:?}");
        assert!(expected.is_none_or(|expected| texts[0].contains(expected)), "{texts:?}");
    }

    #[test]
    fn an_entry_follows_its_file_down() {
        check_entry(500, Some("needs no entry"));
        check_entry(594, Some("lower its entry from 600"));
        check_entry(595, None);
        check_entry(600, None);
    }

    #[test]
    fn an_entry_of_nothing_is_found() {
        let none = Tree::default();
        assert_eq!(check_lists(&none, &[("a.rs", 600, "why")], &[("a.rs::f", 90, "why")]).len(), 2);
    }

    #[test]
    fn an_entry_follows_its_function_down() {
        let text = format!("fn f() {{\n{}}}\n", "g();\n".repeat(80));
        let tree = Tree::planted(&[("a.rs", &text)]);
        assert_eq!(check_lists(&tree, &[], &[("a.rs::f", 82, "why")]), []);
        assert_eq!(check_lists(&tree, &[], &[("a.rs::f", 90, "why")]).len(), 1);
    }
}
