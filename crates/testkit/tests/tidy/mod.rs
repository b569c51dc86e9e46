//! The repository checks itself: every tracked file is checked against the map of crates and the
//! rules of the project.
//!
//! Each module owns one kind of rule. Its tests plant a bad tree in which the rule must find the
//! mistakes.

mod borders;
mod dependencies;
mod edges;
mod exceptions;
mod habits;
mod links;
mod listener_options;
mod locked;
mod phrases;
mod rooms;
mod shape;
mod source;
mod tree;
mod words;

use self::tree::{Finding, Tree};

/// Every rule. A new one is a function and its line here.
const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    borders::check,
    dependencies::check,
    edges::check,
    exceptions::check,
    habits::check,
    links::check,
    listener_options::check,
    phrases::check,
    rooms::check,
    shape::check,
    words::check,
];

#[test]
fn the_repository_is_tidy() {
    let tree = Tree::of_repository();
    let mut findings: Vec<String> =
        RULES.iter().flat_map(|rule| rule(&tree)).map(|finding| finding.to_string()).collect();
    findings.sort();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
