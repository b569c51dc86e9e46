//! The shape of a file: its length, the length of its functions, its first line, and no logic in
//! `mod.rs` and `lib.rs`.

use crate::tidy::exceptions::{FILE_LINES, FUNCTION_LINES, allowance};
use crate::tidy::source::{Scope, functions, is_test_file};
use crate::tidy::tree::{Finding, Tree, has_extension};

/// The most lines that a source file may have; STYLE asks to stop near it.
pub(crate) const FILE_LINES_MAX: usize = 500;
/// The most lines of a function, from `fn` to its closing brace.
pub(crate) const FUNCTION_LINES_MAX: usize = 70;
/// The most lines of a function in a `mod.rs` or `lib.rs`, which declare and re-export: room for a
/// one-line helper.
const INDEX_FUNCTION_LINES_MAX: usize = 5;

/// What counts as source in addition to Rust.
const SOURCE: &[&str] = &[".rs", ".py", ".c", ".h", ".sh", ".js", ".css"];
/// Texts that are data: pages to serve, input for tests.
const DATA: &[&str] = &["examples/site/", "fuzz/corpus", "/data/"];

/// Finds files that are out of shape.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        if DATA.iter().any(|data| path.contains(data)) {
            continue;
        }
        let is_script = path.starts_with("scripts/") || text.starts_with("#!");
        if is_script || SOURCE.iter().any(|end| path.ends_with(end)) {
            findings.extend(too_long(path, text));
        }
        if has_extension(path, "rs") {
            findings.extend(check_rust(path, text));
        }
    }
    findings
}

fn too_long(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let most = allowance(FILE_LINES, path).unwrap_or(FILE_LINES_MAX);
    (lines > most)
        .then(|| Finding::at(path, 0, format!("{lines} lines, at most {most}: this is two files")))
}

fn check_rust(path: &str, text: &str) -> Vec<Finding> {
    let file = match syn::parse_file(text) {
        Ok(file) => file,
        Err(error) => {
            return vec![Finding::at(
                path,
                error.span().start().line,
                format!("cannot be read: {error}"),
            )];
        }
    };
    let mut findings = Vec::new();
    if !file.attrs.iter().any(is_module_doc) {
        findings.push(Finding::at(path, 1, "says nothing of itself: begin with `//!`"));
    }
    for function in functions(&file, Scope::Everything) {
        let key = format!("{path}::{}", function.name);
        let most = allowance(FUNCTION_LINES, &key).unwrap_or(FUNCTION_LINES_MAX);
        if function.lines > most {
            let text = format!("`{}` has {} lines, at most {most}", function.name, function.lines);
            findings.push(Finding::at(path, function.line, text));
        }
    }
    // `tests/common/mod.rs` is where cargo lets test binaries share code.
    if (path.ends_with("/mod.rs") || path.ends_with("/lib.rs")) && !is_test_file(path) {
        findings.extend(logic_in_index(path, &file));
    }
    findings
}

fn is_module_doc(attribute: &syn::Attribute) -> bool {
    matches!(attribute.style, syn::AttrStyle::Inner(_)) && attribute.path().is_ident("doc")
}

fn logic_in_index(path: &str, file: &syn::File) -> Vec<Finding> {
    let declares =
        |item: &syn::Item| matches!(item, syn::Item::Mod(module) if module.content.is_none());
    if !file.items.iter().any(declares) {
        // A crate of one file.
        return Vec::new();
    }
    let long = functions(file, Scope::Product)
        .into_iter()
        .filter(|function| function.lines > INDEX_FUNCTION_LINES_MAX);
    long.map(|function| {
        let text = format!(
            "`{}` belongs to a file of its own: this one declares and re-exports",
            function.name
        );
        Finding::at(path, function.line, text)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    fn lines(begin: &str, count: usize, end: &str) -> String {
        format!("{begin}{}{end}", "    f();\n".repeat(count))
    }

    #[test]
    fn finds_files_that_are_too_long_at_the_edge() {
        let long = "# x\n".repeat(501);
        let files = [
            ("bench/a.py", long.as_str()),
            ("docs/a.md", &long),
            ("scripts/run", &long),
            ("tests/data/a.c", &long),
        ];
        check_rule(check, &files, &["bench/a.py:0", "scripts/run:0"]);
        check_rule(check, &[("a.py", &"# x\n".repeat(500))], &[]);
    }

    #[test]
    fn finds_functions_that_are_too_long_at_the_edge() {
        let long = lines("//! Doc.\nimpl A {\nfn g() {\n", 69, "}\n}\n");
        check_rule(check, &[("a.rs", &long)], &["a.rs:3"]);
        let fits = lines("//! Doc.\nfn g() {\n", 68, "}\n");
        check_rule(check, &[("a.rs", &fits)], &[]);
    }

    #[test]
    fn finds_files_that_say_nothing_of_themselves() {
        check_rule(
            check,
            &[("a.rs", "// A comment.\nfn f() {}\n"), ("b.rs", "//! Doc.\n")],
            &["a.rs:1"],
        );
    }

    #[test]
    fn finds_logic_where_modules_are_declared() {
        let text =
            lines("//! Doc.\nmod a;\nfn g() {\n", 4, "}\n#[cfg(test)]\nmod tests {\nfn g() {\n");
        let text = lines(&text, 9, "}\n}\n");
        let files = [
            ("a/lib.rs", text.as_str()),
            ("a/mod.rs", &text),
            ("a/other.rs", &text),
            ("a/tests/common/mod.rs", &text),
        ];
        check_rule(check, &files, &["a/lib.rs:3", "a/mod.rs:3"]);
        let alone = text.replace("mod a;\n", "");
        check_rule(check, &[("a/lib.rs", &alone)], &[]);
    }

    #[test]
    fn finds_what_is_no_rust() {
        check_rule(check, &[("a.rs", "//! Doc.\nfn f( {}\n")], &["a.rs:2"]);
    }
}
