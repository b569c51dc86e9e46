//! Habits that are seen in the syntax: no pauses, and no `bool` that a reader of the call has to
//! guess.

use crate::tidy::source::{flags, identifiers, is_test_file};
use crate::tidy::tree::{Finding, Tree, has_extension};

/// Where a pause is right: between two looks at a condition, between two measurements, and in an
/// application whose timers are what is tried.
const MAY_PAUSE: &[&str] = &["crates/testkit/src/wait.rs", "crates/engine/tests/tower.rs"];

/// Finds such places.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| has_extension(path, "rs")) {
        if !MAY_PAUSE.iter().any(|allowed| path.starts_with(allowed)) {
            let pauses = identifiers(text).into_iter().filter(|(name, _)| name == "sleep");
            let advice = "`sleep`: wait for the event (`wait_until` in tests), or own the clock";
            findings.extend(pauses.map(|(_, line)| Finding::at(path, line, advice)));
        }
        if let (false, Ok(file)) = (is_test_file(path), syn::parse_file(text)) {
            let advice = |name| format!("`{name}` takes a `bool`: write an enum that says both");
            findings.extend(
                flags(&file).into_iter().map(|(name, line)| Finding::at(path, line, advice(name))),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[test]
    fn finds_pauses_in_tests_too() {
        let text =
            "#[cfg(test)]\nmod tests {\n    fn f() { std::thread::sleep(SECOND); }\n}\n// sleep\n";
        let files = [
            ("crates/a/src/a.rs", text),
            ("crates/a/tests/b.rs", text),
            ("crates/testkit/src/wait.rs", text),
        ];
        check_rule(check, &files, &["crates/a/src/a.rs:3", "crates/a/tests/b.rs:3"]);
    }

    #[test]
    fn finds_flags_that_callers_have_to_guess() {
        let text = "fn f(a: u8, b: bool) {}\nimpl A {\n    fn g(self, b: bool) {}\n}\n\
                    impl Foreign for A {\n    fn h(b: bool) {}\n}\n#[cfg(test)]\nmod tests {\n    fn i(b: bool) {}\n}\n";
        check_rule(check, &[("a.rs", text), ("tests.rs", "")], &["a.rs:1", "a.rs:3"]);
    }
}
