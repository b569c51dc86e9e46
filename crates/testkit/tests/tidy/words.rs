//! What no file may contain: notes to oneself, paths of one machine, hosts of package registries,
//! long lines, and documentation that says nothing.

use crate::tidy::source::is_test_file;
use crate::tidy::tree::{Finding, Tree, has_extension};

/// Words that say that something is unfinished. Put together here, so that this file does not hold
/// them.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// Folders that exist on the machine of an author only.
const PLACES: &[&str] =
    &[concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Hosts that packages come from: which one is the user's business and their tools' setting.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("deb.debian", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("proxy.golang", ".org"),
];

/// The longest line, in characters. Tables of Markdown cannot be broken and are exempt.
const LINE_CHARACTERS_MAX: usize = 160;

/// Where comments are held to [`COMMENT_CHARACTERS_MAX`] and [`DOC_WORDS_MIN`]. In the end all Rust
/// files are: extend this list as crates become clean.
const COMMENTS_CHECKED: &[&str] = &[
    "bindings/poll/",
    "crates/cli/",
    "crates/config/",
    "crates/engine/",
    "crates/http/",
    "crates/lab/",
    "crates/load/",
    "crates/report/",
    "crates/server/",
    "crates/testkit/",
    "crates/watch/",
    "fuzz/fuzz_targets/",
];

/// The longest line of a comment, in characters.
const COMMENT_CHARACTERS_MAX: usize = 100;

/// The fewest words of documentation of a public item, a variant or a method of a trait: it must
/// stand alone when an editor shows it.
const DOC_WORDS_MIN: usize = 4;

/// Files that others write: cargo's lock file names the registry; licences are as they are.
const FOREIGN: &[&str] = &["Cargo.lock", "LICENSE-MIT", "LICENSE-APACHE"];
/// Texts that are data: pages to serve, input for tests, results, and what other programs read that
/// is made from ours.
const DATA: &[&str] = &[
    "examples/site/",
    "fuzz/corpus",
    "/data/",
    "/tests/wrong/",
    "bench/results/",
    "docs/completions/",
    "docs/man/",
    "docs/reports/s",
    "docs/reference/scenario.schema.json",
    "docs/reference/vervet.schema.json",
    "docs/reference/watch.schema.json",
    "docs/schema/",
];

/// Finds such words and lines.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        if FOREIGN.iter().any(|end| path.ends_with(end))
            || DATA.iter().any(|data| path.contains(data))
        {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            findings.extend(
                problems(path, line).into_iter().map(|text| Finding::at(path, index + 1, text)),
            );
        }
        let checks_comments = COMMENTS_CHECKED.iter().any(|begin| path.starts_with(begin));
        if checks_comments && has_extension(path, "rs") {
            findings.extend(comments(path, text));
        }
    }
    findings
}

/// Finds comment lines that are too long, and documentation of public items that is too short.
fn comments(path: &str, text: &str) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut findings = Vec::new();
    let mut is_public_block = false;
    for (index, line) in lines.iter().enumerate() {
        let length = line.chars().count();
        if line.trim_start().starts_with("//") && length > COMMENT_CHARACTERS_MAX {
            let text =
                format!("{length} characters in a comment line, at most {COMMENT_CHARACTERS_MAX}");
            findings.push(Finding::at(path, index + 1, text));
        }
        is_public_block |= ["pub enum ", "pub trait "].iter().any(|begin| line.starts_with(begin));
        is_public_block &= !line.starts_with('}');
        let before = index.checked_sub(1).and_then(|before| doc(lines[before]));
        let after = lines.get(index + 1).and_then(|line| doc(line));
        if let (Some(words), None, None) = (doc(line), before, after) {
            let item = item_after(&lines[index + 1..]);
            let is_public = is_public_block || item.is_some_and(|item| item.starts_with("pub "));
            if is_public && !is_test_file(path) && words.split_whitespace().count() < DOC_WORDS_MIN
            {
                let text = "documentation of a public item with fewer than 4 words";
                findings.push(Finding::at(path, index + 1, text));
            }
        }
    }
    findings
}

/// The text of a documentation line.
fn doc(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("///")
}

/// The first line that is not an attribute: the item that the documentation is of.
fn item_after<'t>(lines: &[&'t str]) -> Option<&'t str> {
    let lines = lines.iter().map(|line| line.trim_start());
    lines.into_iter().find(|line| !line.starts_with("#["))
}

fn problems(path: &str, line: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let notes = NOTES.iter().filter(|word| has_word(line, word));
    problems.extend(notes.map(|word| format!("`{word}`: do it, or write down what is so")));
    let places = PLACES.iter().filter(|place| has_place(line, place));
    problems.extend(places.map(|place| format!("`{place}` exists on one machine")));
    let hosts = HOSTS.iter().filter(|host| line.contains(**host));
    problems.extend(hosts.map(|host| format!("`{host}`: name no host of packages")));
    let length = line.chars().count();
    if length > LINE_CHARACTERS_MAX && !has_extension(path, "md") {
        problems.push(format!("{length} characters in a line, at most {LINE_CHARACTERS_MAX}"));
    }
    problems
}

/// Whether a word stands in a line with no letter, digit or underscore around it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + word.len()..].chars().next().is_some_and(is_part);
        !before && !after
    })
}

/// Whether an absolute path begins so: the same letters further down a path or in a URL are
/// something else.
fn has_place(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before
            .is_none_or(|character| !character.is_alphanumeric() && !"./_-$}*".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[track_caller]
    fn check_line(line: &str, found: usize) {
        let problems = problems("a.rs", line);
        assert_eq!(problems.len(), found, "{line:?}: {problems:?}");
    }

    #[test]
    fn finds_notes_to_oneself() {
        for word in NOTES {
            check_line(&format!("// {word}: later"), 1);
            check_line(&format!("{word}S_DONE a{word}"), 0);
        }
    }

    #[test]
    fn finds_places_of_one_machine() {
        for place in PLACES {
            check_line(&format!("cd {place}vervet"), 1);
            check_line(&format!("\"{place}vervet\""), 1);
            check_line(&format!("https://example.org{place}page"), 0);
        }
    }

    #[test]
    fn finds_hosts_of_packages() {
        for host in HOSTS {
            check_line(&format!("see https://{host}/x"), 1);
        }
    }

    #[test]
    fn finds_long_lines_at_the_edge() {
        check_line(&"ä".repeat(160), 0);
        check_line(&"ä".repeat(161), 1);
    }

    #[test]
    fn finds_comments_that_are_too_long_or_say_too_little() {
        let long = format!("/// {}\nfn a() {{}}\n", "a ".repeat(48));
        let short = "/// They do.\n#[must_use]\npub fn a() {}\n/// They do.\nfn b() {}\n\
                     /// Returns the length in bytes.\npub fn c() {}\n\
                     pub enum D {\n    /// They do.\n    E,\n}\nenum F {\n    /// They do.\n    G,\n}\n";
        let files = [
            ("crates/http/src/a.rs", long.as_str()),
            ("crates/http/src/b.rs", short),
            ("other/src/b.rs", short),
        ];
        let expected = ["crates/http/src/b.rs:1", "crates/http/src/b.rs:9"];
        check_rule(check, &files, &expected);
        let longer = long.replace("\nfn", " and\nfn");
        check_rule(check, &[("crates/http/src/a.rs", &longer)], &["crates/http/src/a.rs:1"]);
    }

    #[test]
    fn looks_at_every_file_but_those_of_others() {
        let note = format!("a\n{}\n", NOTES[0]);
        let files =
            [("Cargo.lock", note.as_str()), ("Makefile", &note), ("examples/site/a.html", &note)];
        check_rule(check, &files, &["Makefile:2"]);
    }
}
