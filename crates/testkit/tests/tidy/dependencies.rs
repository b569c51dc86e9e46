//! Each direct dependency has its line in `docs/dependencies.md`, and each line there is of one.

use std::collections::BTreeSet;

use crate::tidy::edges::dependencies;
use crate::tidy::tree::{Finding, Tree};

/// The page with one row a dependency: `| name in backquotes | what for | why it | what it pulls in
/// |`.
const PAGE: &str = "docs/dependencies.md";

/// Finds dependencies without a row and rows without a dependency.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut used = BTreeSet::new();
    let mut findings = Vec::new();
    let rows = rows(tree.text(PAGE).unwrap_or_default());
    for (path, text) in tree.ending("Cargo.toml") {
        for dependency in dependencies(text) {
            let name = dependency.name;
            if name == "vervet" || name.starts_with("vervet-") {
                continue;
            }
            if !rows.iter().any(|(row, _)| *row == name) {
                findings.push(Finding::at(
                    path,
                    dependency.line,
                    format!("`{name}` has no row in {PAGE}"),
                ));
            }
            used.insert(name);
        }
    }
    let stale = rows.into_iter().filter(|(row, _)| !used.contains(*row));
    findings.extend(
        stale.map(|(row, line)| Finding::at(PAGE, line, format!("nothing uses `{row}` any more"))),
    );
    findings
}

/// The names that begin a row, with their lines.
fn rows(page: &str) -> Vec<(&str, usize)> {
    let named = page.lines().enumerate().filter_map(|(index, row)| {
        let (name, _) = row.strip_prefix("| `")?.split_once("` |")?;
        Some((name, index + 1))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[test]
    fn finds_what_has_no_row_and_rows_of_nothing() {
        let manifest = "[dependencies]\nbytes = \"1\"\nvervet-http = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n";
        let page = "| crate | for |\n|---|---|\n| `bytes` | content |\n| `gone` | nothing |\n";
        let files = [("crates/a/Cargo.toml", manifest), (PAGE, page)];
        check_rule(check, &files, &["crates/a/Cargo.toml:5", "docs/dependencies.md:4"]);
    }
}
