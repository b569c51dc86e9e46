//! A listener option touches one file: the engine's table `listen_options!`, which has its field,
//! its default, its reload rule, its setter and its directive.

use crate::tidy::source::is_test_file;
use crate::tidy::tree::{Finding, Tree};

/// The file of the table.
const TABLE: &str = "crates/engine/src/listener/options.rs";

/// Where listeners are declared, bound and kept.
const SOURCES: [&str; 3] = [
    "crates/engine/src/listener/",
    "crates/server/src/settings/listen.rs",
    "crates/server/src/server/sockets.rs",
];

/// Options that act on more than the socket, with the file that reads them.
const OTHER_USES: [(&str, &str); 2] = [
    // An unknown congestion control has a remedy of its own.
    ("congestion", "crates/engine/src/listener/error.rs"),
    // The first timeout of a connection is shorter if its first bytes have arrived.
    ("defer_accept", "crates/engine/src/listener/endpoint.rs"),
];

/// Finds names of options with a setter outside the table.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(table) = tree.text(TABLE) else {
        return Vec::new();
    };
    let options = options(table);
    if options.is_empty() {
        return vec![Finding::at(TABLE, 0, "no rows of `listen_options!` found")];
    }
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        let is_source = SOURCES.iter().any(|source| path.starts_with(source));
        if !is_source || path == TABLE || is_test_file(path) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let named = words(code)
                .find(|word| options.contains(word) && !OTHER_USES.contains(&(*word, path)));
            if let Some(option) = named {
                let text = format!("the listener option `{option}` belongs in its row of {TABLE}");
                findings.push(Finding::at(path, index + 1, text));
            }
        }
    }
    findings
}

/// The options with a setter: rows whose braces hold a type with its default, a rule and a setter.
fn options(table: &str) -> Vec<&str> {
    let begin = table.find("$next! {").unwrap_or(table.len());
    let rows = &table[begin..];
    let rows = &rows[..rows.find("\n    };").unwrap_or(rows.len())];
    let mut options = Vec::new();
    let mut name = None;
    for line in rows.lines().map(str::trim) {
        let first = line.split_once(": ").map(|(first, _)| first);
        if !line.starts_with("//") && first.is_some_and(|first| words(first).eq([first])) {
            name = first;
        }
        if line.contains("set_")
            && let Some(name) = name.take()
        {
            options.push(name);
        }
    }
    options
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    const ROWS: &str = "        $next! {\n            /// The height: in metres.\n\
        mast_height: u32 = 12 in 3..=60\n => { u32 = 12, may_change, set_height }\n\
        backlog: u32 = 1 => { u32 = 1, may_change }\n        }\n    };\n";

    #[test]
    fn finds_an_option_outside_its_row() {
        let files = [
            (TABLE, ROWS),
            ("crates/engine/src/listener/bind.rs", "set_height(options.mast_height)\n"),
            ("crates/engine/src/listener/unix.rs", "// mast_height\nlisten(options.backlog)\n"),
            ("crates/server/src/settings/listen.rs", "\n    pub mast_height: u32,\n"),
            ("crates/engine/src/wheel.rs", "let mast_height = 1;\n"),
        ];
        let expected =
            ["crates/engine/src/listener/bind.rs:1", "crates/server/src/settings/listen.rs:2"];
        check_rule(check, &files, &expected);
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_finding() {
        check_rule(check, &[(TABLE, "")], &["crates/engine/src/listener/options.rs:0"]);
    }

    #[test]
    fn the_options_of_the_repository_are_read() {
        let tree = Tree::of_repository();
        let expected = ["defer_accept", "fastopen", "congestion", "send_buffer", "receive_buffer"];
        assert_eq!(options(tree.text(TABLE).unwrap()), expected);
    }
}
