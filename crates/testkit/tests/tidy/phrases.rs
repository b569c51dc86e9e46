//! Phrases that plain technical English does without, and what to write instead.
//!
//! Checked are the text of Markdown and manual pages, the comments and string literals of Rust
//! files, and the comments of other files. Text in backquotes and code blocks is exempt. Only the
//! paths in `HELD` are checked; the list grows until it covers the repository.

use proc_macro2::{TokenStream, TokenTree};

use crate::tidy::tree::{Finding, Tree, has_extension};

/// A phrase to avoid.
struct Phrase {
    /// In lower case.
    words: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// Longer phrases in which it is fine.
    allowed: &'static [&'static str],
}

const fn phrase(words: &'static str, instead: &'static str) -> Phrase {
    Phrase { words, instead, allowed: &[] }
}

const PHRASES: &[Phrase] = &[
    Phrase {
        words: "is no",
        instead: "`is not a`, or say what is invalid: `invalid rate: expected a number`",
        allowed: &["there is no", "is no difference", "is no longer", "is no more than"],
    },
    Phrase {
        words: "are no",
        instead: "`are not`",
        allowed: &["there are no", "are no longer", "are no more than"],
    },
    Phrase {
        words: "behind",
        instead: "`after`, or `followed by`",
        allowed: &[
            "behind a load balancer",
            "behind a proxy",
            "behind a reverse proxy",
            "behind a tls-terminating",
            "behind-a-tls-terminating",
            "behind a trusted proxy",
            "behind one of",
            "behind proxies",
            "behind the proxy",
            "behind trusted proxies",
            "falls behind",
            "leaves behind",
            "left behind",
        ],
    },
    phrase("an application of one page", "`single-page application`"),
    phrase("anew", "`again`; `reload` for a configuration, `reopen` for a file"),
    phrase("are told", "`are reported`, or `receive`"),
    phrase("be had", "`not available`, or `not found`"),
    phrase("beside", "`next to`, `with`, or `in addition to`"),
    phrase("besides", "`also`, or `in addition`"),
    phrase("cannot be read as", "`is not a valid`"),
    phrase("for want of", "`because there is no`"),
    phrase("held against", "`compared with`"),
    phrase("in the place of", "`instead of`"),
    phrase("is told", "`is reported`, or `receives`"),
    phrase("let go of", "`released`, or `dropped`"),
    phrase("make load", "`generate load`"),
    phrase("makes load", "`generates load`"),
    phrase("mended", "`fixed`"),
    phrase("nobody looks at", "`that is not read`"),
    phrase("of one's own", "`your own`, or `custom`"),
    phrase("of those that", "name them again: `of processes that`"),
    phrase("put aside", "`rotated`"),
    phrase("puts aside", "`rotates`"),
    phrase("reckoned", "`calculated`"),
    phrase("tell apart", "`distinguish`"),
    phrase("tells apart", "`distinguishes`"),
    phrase("told apart", "`no significant difference`, or `distinguished`"),
    phrase("torn", "`truncated`"),
    phrase("what there is to be", "name it: `the available settings`"),
    phrase("whoever", "`anyone who`, or `the caller`"),
];

/// Files and folders that are held to this rule. Add to it; take nothing out.
const HELD: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "bench/",
    "bindings/",
    "crates/",
    "docs/dependencies.md",
    "docs/guide.md",
    "docs/lab-report.md",
    "docs/lab.md",
    "docs/limits.md",
    "docs/load-performance.md",
    "docs/load-report.md",
    "docs/load-scenarios.md",
    "docs/load.md",
    "docs/logs.md",
    "docs/man/vervet-",
    "docs/man/vervet.1",
    "docs/man/vervet.toml.5",
    "docs/method.md",
    "docs/migrate-from-nginx.md",
    "docs/pages.md",
    "docs/performance",
    "docs/protect.md",
    "docs/reference/config/",
    "docs/reference/log-format.md",
    "docs/reference/scenario/",
    "docs/reports/README.md",
    "docs/watch.md",
    "examples/",
    "labs/",
    "packaging/",
];

/// The phrases themselves.
const HERE: &str = "crates/testkit/tests/tidy/phrases.rs";

/// Finds such phrases in the files that are held to the rule.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_held(tree, HELD)
}

fn check_held(tree: &Tree, held: &[&str]) -> Vec<Finding> {
    let is_held = |path: &str| path != HERE && held.iter().any(|held| path.starts_with(held));
    let files = tree.files().filter(|(path, _)| is_held(path));
    let findings = files.flat_map(|(path, text)| {
        let found = problems(&prose(path, text));
        found.into_iter().map(move |(line, text)| Finding::at(path, line, text))
    });
    findings.collect()
}

/// Each phrase that begins in a line of prose, with the number of the line.
fn problems(lines: &[(usize, String)]) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    for (index, (line, text)) in lines.iter().enumerate() {
        let next =
            lines.get(index + 1).filter(|(next, _)| *next == line + 1).map_or("", |(_, text)| text);
        let previous = index
            .checked_sub(1)
            .and_then(|index| lines.get(index))
            .filter(|(previous, _)| previous + 1 == *line)
            .map_or("", |(_, text)| text);
        let context = format!("{previous} {text} {next}").to_lowercase();
        let begin = previous.to_lowercase().len() + 1;
        let end = begin + text.to_lowercase().len();
        for phrase in PHRASES {
            let allowed: Vec<_> =
                (phrase.allowed.iter()).flat_map(|longer| occurrences(&context, longer)).collect();
            let is_wrong = |at: &usize| {
                (begin..end).contains(at) && !allowed.iter().any(|longer| longer.contains(at))
            };
            let found = occurrences(&context, phrase.words).map(|range| range.start).find(is_wrong);
            if found.is_some() {
                let text = format!("`{}`: write {}", phrase.words, phrase.instead);
                problems.push((*line, text));
            }
        }
    }
    problems
}

/// Where whole words stand in a text.
fn occurrences<'a>(
    text: &'a str,
    words: &'a str,
) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
    text.match_indices(words).filter_map(|(at, words)| {
        let end = at + words.len();
        let before = text[..at].chars().next_back();
        let after = text[end..].chars().next();
        let is_whole =
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric);
        is_whole.then_some(at..end)
    })
}

/// The lines of a file that people read, with their numbers, without text in backquotes.
fn prose(path: &str, text: &str) -> Vec<(usize, String)> {
    let mut lines = if has_extension(path, "rs") {
        rust_prose(text)
    } else if has_extension(path, "md") {
        markdown_prose(text)
    } else if path.starts_with("docs/man/") {
        numbered(text).collect()
    } else {
        numbered(text).filter(|(_, line)| line.trim_start().starts_with('#')).collect()
    };
    for (_, line) in &mut lines {
        *line = without_code(line);
    }
    lines
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, String)> {
    let lines = text.lines().enumerate();
    lines.map(|(index, line)| (index + 1, line.to_owned()))
}

/// The lines outside code blocks.
fn markdown_prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let lines = numbered(text).filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect()
}

/// Comments, and the lines of string literals.
fn rust_prose(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<_> = numbered(text)
        .filter_map(|(number, line)| {
            let comment = line.trim_start().strip_prefix("//")?;
            let comment = comment.trim_start_matches(['/', '!']).trim().to_owned();
            Some((number, comment))
        })
        .collect();
    let comments: Vec<_> = lines.iter().map(|(number, _)| *number).collect();
    let mut literals = Vec::new();
    if let Ok(stream) = text.parse::<TokenStream>() {
        collect_literals(stream, &mut literals);
    }
    // Doc comments are literals, too.
    literals.retain(|(number, _)| comments.binary_search(number).is_err());
    lines.extend(literals);
    lines.sort_by_key(|(number, _)| *number);
    lines
}

fn collect_literals(stream: TokenStream, lines: &mut Vec<(usize, String)>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => collect_literals(group.stream(), lines),
            TokenTree::Literal(literal) => {
                let begin = literal.span().start().line;
                let text = literal.to_string();
                if text.contains('"') {
                    let own = text.lines().enumerate();
                    lines.extend(own.map(|(index, line)| {
                        let line = line.trim().trim_end_matches('\\').trim_end();
                        (begin + index, line.to_owned())
                    }));
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// A line with `_` for each text in backquotes.
fn without_code(line: &str) -> String {
    let mut pieces = line.split('`');
    let mut rest = pieces.next().unwrap_or_default().to_owned();
    while let (Some(_), Some(text)) = (pieces.next(), pieces.next()) {
        rest.extend(["_", text]);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    fn check_all(tree: &Tree) -> Vec<Finding> {
        check_held(tree, &[""])
    }

    #[track_caller]
    fn check_text(text: &str, expected: &[&str]) {
        let found = problems(&prose("a.md", text));
        let found: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(found.len(), expected.len(), "{text:?}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{text:?}: {found}");
        }
    }

    #[test]
    fn every_phrase_is_found_with_its_replacement() {
        for phrase in PHRASES {
            let text = format!("Texts with {} in them.", phrase.words);
            let found = problems(&prose("a.md", &text));
            assert!(found.iter().any(|(_, text)| text.contains(phrase.instead)), "{text}");
            for allowed in phrase.allowed {
                check_text(&format!("Texts with {allowed} in them."), &[]);
            }
        }
    }

    #[test]
    fn phrases_are_whole_words_in_any_case_and_across_lines() {
        check_text("It is no rate.", &["`is not a`"]);
        check_text("Torn lines", &["truncated"]);
        check_text("stubborn, tornado, is not", &[]);
        check_text("errors are\ntold at once", &["are reported"]);
        check_text("there\nis no site", &[]);
        check_text("errors are\n\ntold", &[]);
        check_text("the directive `beside`", &[]);
        check_text("```\nvervet is no example\n```\n", &[]);
    }

    #[test]
    fn comments_and_strings_of_rust_are_read_and_names_are_not() {
        let text = "//! Read anew.\n\nfn whoever() {\n    // fine\n    say(\"a file\\\n         is torn\");\n}\n\
                    /// Whoever calls.\nstruct Torn;\n";
        let expected = ["a.rs:1", "a.rs:6", "a.rs:8"];
        check_rule(check_all, &[("a.rs", text)], &expected);
    }

    #[test]
    fn comments_of_other_files_and_whole_manual_pages_are_read() {
        let files = [("a.toml", "# Read anew.\nbeside = 1\n"), ("docs/man/a.1", "Read anew.\n")];
        check_rule(check_all, &files, &["a.toml:1", "docs/man/a.1:1"]);
    }

    #[test]
    fn only_files_that_are_held_are_read() {
        let files = [("a/b.md", "anew"), ("c.md", "anew"), (HERE, "// anew")];
        let check_a = |tree: &Tree| check_held(tree, &["a/", "crates/"]);
        check_rule(check_a, &files, &["a/b.md:1"]);
    }
}
