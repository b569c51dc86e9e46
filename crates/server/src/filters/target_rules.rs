//! Rejects requests by a part of the path, its prefix, or a regular expression.
//!
//! Rules are matched with the path as files and routes see it: decoded once, without dot segments
//! and double slashes. So `/%61dmin`, `//admin` and `/x/../admin` are all `/admin`. The query is
//! not matched. All rules are one automaton: a thousand cost a request no more than ten.

use std::sync::atomic::{AtomicU64, Ordering};

use regex::bytes::{RegexSet, RegexSetBuilder};
use vervet_config::{Diagnostic, Diagnostics, Span, Text, section};
use vervet_http::status::Status;

use super::FilterDirective;
use crate::resources::{Opened, Resources};
use crate::response::refusal;
use crate::web::{Edits, Pipeline, Request, RequestFilter, Verdict};

section! {
    /// Rejects requests by path: `deny = ["/.git/"]`, or tables with a prefix or a regular
    /// expression. The path is compared after percent-decoding and without dot segments and double
    /// slashes, so that other spellings are rejected, too. The query is not compared. The first
    /// rule that matches determines the status.
    ///
    /// ```toml
    /// deny = [{ prefix = "/internal/" }, { regex = '\.bak$', ignore_case = true, status = 404 }]
    /// ```
    pub struct Deny short(contains) {
        /// Text that the path contains.
        pub contains: Option<Text>,
        /// Text that the path begins with; `"/admin"` also matches `/administration`.
        pub prefix: Option<Text>,
        /// Regular expression that matches somewhere in the path; `^` and `$` are its ends. It
        /// matches bytes: a dot matches any byte.
        pub regex: Option<Text>,
        /// Whether to ignore the case of ASCII letters.
        pub ignore_case: bool = false,
        /// The status of the response.
        pub status: u16 = 403 in 400..=599,
    }
}

/// Memory of all rules of a set together, in bytes.
pub const RULES_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Deny rules, prepared for requests.
#[derive(Debug)]
pub struct TargetRules {
    automaton: RegexSet,
    statuses: Vec<Status>,
    refused: AtomicU64,
}

impl FilterDirective for Vec<Deny> {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        if self.is_empty() {
            return Ok(());
        }
        let filter = resources.keeper.share(self, |deny| TargetRules::new(deny))?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl TargetRules {
    /// The rules of a document, or all that is wrong with them.
    pub fn new(sections: &[Deny]) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut expressions = Vec::new();
        for section in sections {
            match section.expression() {
                Ok(expression) => expressions.push(expression),
                Err(problem) => problems.push(*problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // Each was tried alone, so the only mistake left is the size of all of them together.
        let automaton = set(&expressions).map_err(|_| {
            let span = sections.last().map_or(Span::NOWHERE, |section| section.status.span());
            Diagnostic::error(span, too_large())
        })?;
        // The bounds of the directive are within those of a status.
        let status = |section: &Deny| Status::new(*section.status).unwrap_or(Status::FORBIDDEN);
        Ok(Self {
            automaton,
            statuses: sections.iter().map(status).collect(),
            refused: AtomicU64::new(0),
        })
    }

    /// The status of the first rule that matches a decoded path, if any does.
    pub fn verdict(&self, path: &[u8]) -> Option<Status> {
        // Most paths match nothing, which is found out faster than what matches.
        if !self.automaton.is_match(path) {
            return None;
        }
        let first = self.automaton.matches(path).iter().next()?;
        self.statuses.get(first).copied()
    }

    /// How many requests were refused.
    pub fn refusals(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Deny {
    /// The rule as an expression that can be one of a set.
    fn expression(&self) -> Result<String, Box<Diagnostic>> {
        let patterns = [&self.contains, &self.prefix, &self.regex];
        let mut given = patterns.iter().filter(|pattern| pattern.is_some());
        let (Some(pattern), second) = (given.next(), given.next()) else {
            let problem = Diagnostic::error(self.status.span(), "the rule has no pattern");
            return Err(Box::new(problem.expected("one of `contains`, `prefix` and `regex`")));
        };
        if let Some(second) = second {
            let problem = Diagnostic::error(second.span(), "the rule has two patterns");
            return Err(Box::new(
                problem
                    .note_at(pattern.span(), "the first one is here")
                    .note("split it into two rules"),
            ));
        }
        let refuse = |reason| Box::new(Diagnostic::error(pattern.span(), reason));
        let body = match (&*self.contains, &*self.prefix, &*self.regex) {
            _ if pattern.as_deref() == Some("") => {
                let reason = "an empty text matches every path: write at least one character";
                return Err(refuse(reason.to_owned()));
            }
            (Some(text), ..) => regex::escape(text),
            (_, Some(text), _) if !text.starts_with('/') => {
                let reason = "paths begin with a slash: begin the prefix with `/`";
                return Err(refuse(reason.to_owned()));
            }
            (_, Some(text), _) => format!("^{}", regex::escape(text)),
            (.., text) => text.clone().unwrap_or_default(),
        };
        let case = if *self.ignore_case { "(?i)" } else { "" };
        let expression = format!("{case}{body}");
        match set(std::slice::from_ref(&expression)) {
            Ok(_) => Ok(expression),
            Err(regex::Error::CompiledTooBig(_)) => Err(refuse(too_large())),
            Err(error) => Err(refuse(format!("invalid regular expression: {}", reason(&error)))),
        }
    }
}

fn too_large() -> String {
    format!(
        "the rules need more than {} MiB of memory together: use shorter repetitions, or fewer rules",
        RULES_BYTES_MAX / 1024 / 1024
    )
}

impl RequestFilter for TargetRules {
    fn name(&self) -> &'static str {
        "deny"
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        let Some(status) = self.verdict(&request.path) else {
            return Verdict::Pass;
        };
        self.refused.fetch_add(1, Ordering::Relaxed);
        Verdict::Answer(refusal(status))
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("deny", self.refusals())]
    }
}

/// Why an expression cannot be read: the last line of what the reader draws.
fn reason(error: &regex::Error) -> String {
    let drawn = error.to_string();
    let last = drawn.lines().next_back().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Expressions are of bytes, and a dot stands for any of them: neither a line end (`%0A`) nor a
/// byte that is not text (`%FF`) must break a `.*`.
fn set(expressions: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(expressions)
        .unicode(false)
        .dot_matches_new_line(true)
        .size_limit(RULES_BYTES_MAX)
        .build()
}

#[cfg(test)]
mod tests {
    use vervet_http::target::NormalPath;

    use super::*;

    section! {
        /// A document with rules.
        struct Holder {
            /// Rules.
            deny: Vec<Deny>,
        }
    }

    /// The rules of a document, or the messages of all findings.
    fn read(text: &str) -> Result<TargetRules, Vec<String>> {
        let read = vervet_config::read_text::<Holder>("test.toml", text);
        let holder = read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics));
        TargetRules::new(&holder.deny)
            .map_err(|found| found.iter().map(|found| found.message.clone()).collect())
    }

    #[track_caller]
    fn check_error(rule: &str, expected: &str) {
        let problems = read(&format!("deny = [{{ prefix = '/fine' }}, {rule}]")).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }

    /// Raw paths, and whether the one rule refuses them.
    #[track_caller]
    fn check(rule: &str, rows: &[(&str, bool)]) {
        let rules = read(&format!("deny = [{rule}]")).unwrap();
        for (raw, expected) in rows {
            let path = NormalPath::decode(raw.as_bytes()).unwrap();
            assert_eq!(rules.verdict(path.as_bytes()).is_some(), *expected, "{raw} by {rule}");
        }
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        check_error("{ contains = '' }", "an empty text matches every path");
        check_error("{ prefix = '' }", "an empty text matches every path");
        check_error("{ regex = '' }", "an empty text matches every path");
        check_error("{ prefix = 'admin' }", "paths begin with a slash");
        check_error("{ regex = '(' }", "invalid regular expression: unclosed group");
        check_error("{ regex = '(?:x{1000}){1000}' }", "the rules need more than 10 MiB");
    }

    #[test]
    fn no_spelling_of_a_path_passes_a_rule() {
        check(
            "{ prefix = '/admin' }",
            &[
                ("/admin", true),
                ("/%61dmin/x", true),
                ("/%61%64%6D%69%6e", true),
                ("//admin", true),
                ("/./admin", true),
                ("/x/../admin", true),
                ("/x/%2e%2E/admin", true),
                ("/x/.%2e//./admin", true),
                ("/administration", true),
                ("/x/admin", false),
                ("/Admin", false),
                // Decoded once: the file of this name is called `%61dmin`.
                ("/%2561dmin", false),
            ],
        );
        check(
            "{ contains = '.git/' }",
            &[
                ("/a/.git/config", true),
                ("/a/%2Egit/config", true),
                ("/a/.gi%74/config", true),
                ("/a/.gitx", false),
            ],
        );
    }

    #[test]
    fn a_line_end_or_a_byte_that_is_no_text_breaks_no_expression() {
        check(
            "{ regex = '^/a.*z$' }",
            &[
                ("/a%0Az", true),
                ("/a%0D%0A%0Az", true),
                ("/a%FFz", true),
                ("/az%0A", false),
                ("/b", false),
            ],
        );
        check(
            r"{ regex = '\.php$' }",
            &[("/x.php", true), ("/%FF.php", true), ("/x.php%0A", false), ("/x.phps", false)],
        );
    }

    #[test]
    fn a_text_is_no_expression() {
        check("{ contains = 'a.c' }", &[("/a.c", true), ("/abc", false)]);
        check("{ prefix = '/a+' }", &[("/a+", true), ("/aa", false)]);
    }

    #[test]
    fn capitals_count_unless_said_otherwise() {
        check(
            "{ contains = '.Ini', ignore_case = true }",
            &[("/a.ini", true), ("/a.INI", true), ("/a.in", false)],
        );
        check("{ contains = '.Ini' }", &[("/a.ini", false), ("/a.Ini", true)]);
    }

    #[test]
    fn the_first_rule_that_matches_gives_the_status() {
        let rules = read(
            "deny = [{ prefix = '/old/new', status = 404 }, { prefix = '/old', status = 410 }, { regex = 'new' }]",
        );
        let rules = rules.unwrap();
        assert_eq!(rules.verdict(b"/old/new"), Some(Status::NOT_FOUND));
        assert_eq!(rules.verdict(b"/old/renewed"), Some(Status::GONE));
        assert_eq!(rules.verdict(b"/x/new"), Some(Status::FORBIDDEN));
        assert_eq!(rules.verdict(b"/x"), None);
    }

    #[test]
    fn all_that_is_wrong_in_a_document_is_said_at_once() {
        let text = "deny = ['', { prefix = 'a' }, { status = 404 }, { regex = 'a', contains = 'b' }, { regex = '[' }]";
        let messages = read(text).unwrap_err();
        let begin: Vec<_> =
            messages.iter().map(|message| &message[..message.len().min(24)]).collect();
        assert_eq!(
            begin,
            [
                "an empty text matches ev",
                "paths begin with a slash",
                "the rule has no pattern",
                "the rule has two pattern",
                "invalid regular expressi"
            ]
        );
    }

    #[test]
    fn a_document_has_rules_as_texts_and_tables() {
        let rules = read("deny = ['/.git/', { prefix = '/old', status = 410 }, { regex = '\\.INI$', ignore_case = true }]").unwrap();
        assert_eq!(rules.verdict(b"/a/.git/config"), Some(Status::FORBIDDEN));
        assert_eq!(rules.verdict(b"/old/x"), Some(Status::GONE));
        assert_eq!(rules.verdict(b"/x.ini"), Some(Status::FORBIDDEN));
        assert_eq!(rules.verdict(b"/x"), None);
        assert!(read("").unwrap().verdict(b"/").is_none());
    }
}
