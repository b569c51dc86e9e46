//! Which top-level module of `server` may use which: they form a ladder, so that none of them uses
//! itself by way of another.

use crate::tidy::tree::{Finding, Tree};

/// The folder whose files and folders are the modules.
const SOURCES: &str = "crates/server/src/";

/// The modules from the lowest to the highest. Each may use those before it.
const LADDER: &[&str] = &[
    "offload",
    "response",
    "timestamp",
    "trace",
    "caches",
    "metrics",
    "matching",
    "layout",
    "log_sinks",
    "access_log",
    "error_log",
    "compression",
    "files",
    "resources",
    "web",
    "actions",
    "pages",
    "filters",
    "settings",
    "plan",
    "staging",
    "admin",
    "server",
];

/// Finds modules that use one above them, and modules that are not in the table.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let Some(room) = path.strip_prefix(SOURCES).map(room) else {
            continue;
        };
        // It declares the modules and re-exports from them.
        if room == "lib" {
            continue;
        }
        let Some(height) = LADDER.iter().position(|known| *known == room) else {
            let text = format!("the module `{room}` is not in the table of rooms.rs");
            findings.push(Finding::at(path, 0, text));
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            for used in used_rooms(code) {
                if !LADDER[..=height].contains(&used) {
                    let text = format!("`{room}` may not use `{used}`: see the table of rooms.rs");
                    findings.push(Finding::at(path, number + 1, text));
                }
            }
        }
    }
    findings
}

/// The module that a file below the sources belongs to.
fn room(path: &str) -> &str {
    let room = path.split('/').next().unwrap_or_default();
    room.trim_end_matches(".rs")
}

/// The modules that a line names as `crate::module`. What begins with a capital is an item that
/// `lib.rs` exports again, and counts as a module that is not in the table.
fn used_rooms(line: &str) -> impl Iterator<Item = &str> {
    // The registries are macros: their `$crate::` paths count where the macros are used, in
    // `settings`.
    let paths = line.match_indices("crate::");
    let paths = paths.filter(|(at, _)| !line[..*at].ends_with('$'));
    paths.map(|(at, prefix)| {
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[track_caller]
    fn check_file(path: &str, text: &str, lines: &[usize]) {
        let path = format!("{SOURCES}{path}");
        let expected: Vec<_> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check_rule(check, &[(&path, text)], &expected);
    }

    #[test]
    fn finds_modules_that_use_one_above_them() {
        check_file("caches.rs", "\nuse crate::web::Trace;", &[2]);
        check_file("web/a.rs", "fn a() -> crate::filters::A {}", &[1]);
        check_file("web/a/b.rs", "use crate::{files, web};", &[1]);
        check_file("files/a.rs", "use crate::Files;", &[1]);
    }

    #[test]
    fn allows_the_modules_below_and_the_module_itself() {
        check_file("filters/a.rs", "use crate::web::Edit;\nuse crate::filters::b::C;", &[]);
        check_file("caches.rs", "// not `crate::web::Trace`", &[]);
        check_file("lib.rs", "pub use crate::server::Server;", &[]);
    }

    #[test]
    fn finds_modules_that_are_not_in_the_table() {
        check_file("extras/mod.rs", "", &[0]);
        check_file("extras.rs", "", &[0]);
    }
}
