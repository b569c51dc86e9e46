//! Links within the repository lead somewhere.

use std::path::{Component, Path, PathBuf};

use crate::tidy::tree::{Finding, Tree, has_extension};

/// Finds links of Markdown pages, pictures too, whose file or folder is not there.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| has_extension(path, "md")) {
        for (index, line) in text.lines().enumerate() {
            let dead = links(line).filter(|link| !leads_somewhere(tree, path, link));
            findings.extend(
                dead.map(|link| Finding::at(path, index + 1, format!("`{link}` leads nowhere"))),
            );
        }
    }
    findings
}

/// What stands between `](` and `)`, without the place within the page.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next())
}

fn leads_somewhere(tree: &Tree, page: &str, link: &str) -> bool {
    if link.is_empty() || link.contains(':') {
        return true;
    }
    let mut target = PathBuf::from(page);
    target.pop();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => drop(target.pop()),
            Component::Normal(name) => target.push(name),
            _ => {}
        }
    }
    tree.files().any(|(path, _)| Path::new(path).starts_with(&target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[test]
    fn finds_links_that_lead_nowhere() {
        let page = "[here](a.md#part) ![picture](images/a.png \"A\") [folder](images) [out](https://example.org/x)\n\
                    [up](../README.md) [part](#part)\n[gone](gone.md) ![gone](images/b.png)\n";
        let files = [("README.md", ""), ("docs/a.md", page), ("docs/images/a.png", "")];
        check_rule(check, &files, &["docs/a.md:3", "docs/a.md:3"]);
    }
}
