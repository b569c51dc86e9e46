//! Requests refused by what they ask for: a part of the path, its beginning, or a regular expression.
//!
//! Rules are compared with the path as files and routes see it: decoded once, without dot segments and doubled slashes. So
//! `/%61dmin`, `//admin` and `/x/../admin` are all `/admin`. The query is not looked at. All rules are one automaton: a
//! thousand cost a request no more than ten.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use regex::bytes::{RegexSet, RegexSetBuilder};
use vervet_config::{Diagnostic, Diagnostics, Text, section};
use vervet_http::status::Status;

use super::refusal::refusal;
use crate::web::{Edits, Request, RequestFilter, Verdict};

section! {
    /// Requests that are refused by their path: `deny = ["/.git/"]`, or tables with a beginning or an expression. The path is compared
    /// decoded, without dot segments and doubled slashes, so that no other spelling passes; the query is not looked at. Of several
    /// that match, the first gives the status.
    ///
    /// ```toml
    /// deny = [{ prefix = "/internal/" }, { regex = '\.(bak|ini)$', ignore_case = true, status = 404 }]
    /// ```
    pub struct Deny short(contains) {
        /// Text that the path has anywhere.
        pub contains: Option<Text>,
        /// Text that the path begins with: `"/admin"` is the beginning of `/administration`, too.
        pub prefix: Option<Text>,
        /// Expression that matches somewhere in the path, of which `^` and `$` are the ends. It is one of bytes: a dot is any byte.
        pub regex: Option<Text>,
        /// Whether capitals of ASCII do not count.
        pub ignore_case: bool = false,
        /// What they are answered with.
        pub status: u16 = 403 in 400..=599,
    }
}

/// What a path is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPattern {
    /// The path has this text anywhere.
    Contains(String),
    /// It begins with this text: `/admin` is the beginning of `/administration`, too.
    Prefix(String),
    /// The expression matches somewhere; `^` and `$` are the ends of the path. It is one of bytes: a dot is any byte,
    /// `\w` and the like are ASCII.
    Regex(String),
}

/// Whether capitals count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Case {
    /// They do.
    #[default]
    Sensitive,
    /// Those of ASCII do not.
    Insensitive,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRule {
    /// Which paths.
    pub pattern: PathPattern,
    /// Whether capitals count.
    pub case: Case,
    /// What they are answered with.
    pub status: Status,
}

/// A rule that cannot be used; the fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRuleError {
    /// Which of the rules, from 0.
    pub index: usize,
    /// What is wrong.
    pub problem: TargetRuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetRuleProblem {
    /// An empty text is part of every path.
    Empty,
    /// A beginning that no path has, for each begins with a slash.
    NoSlash,
    /// The expression cannot be read, for this reason.
    Regex(String),
    /// All rules together would need too much memory.
    TooLarge,
}

/// Memory of all rules of a set together, in bytes.
pub const RULES_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Rules as they are asked.
#[derive(Debug)]
pub struct TargetRules {
    automaton: RegexSet,
    statuses: Vec<Status>,
    refused: AtomicU64,
}

impl TargetRules {
    /// The rules of a document, or all that is wrong with them. `sections` have the place of each.
    pub fn of(sections: &[Deny]) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut rules = Vec::new();
        for section in sections {
            match section.rule() {
                Ok(rule) => rules.push(rule),
                Err(problem) => problems.push(*problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // Each was tried alone, so what is wrong now is wrong with all of them.
        Self::new(&rules).map_err(|error| {
            let span = sections.last().map(|section| section.status.span());
            let span = span.unwrap_or(vervet_config::Span::NOWHERE);
            problems.push(Diagnostic::error(span, error.to_string()));
            problems
        })
    }

    /// Prepares rules, or says which cannot be used.
    pub fn new(rules: &[TargetRule]) -> Result<Self, TargetRuleError> {
        let mut expressions = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let expression =
                expression(rule).map_err(|problem| TargetRuleError { index, problem })?;
            expressions.push(expression);
        }
        let too_large = TargetRuleError {
            index: rules.len().saturating_sub(1),
            problem: TargetRuleProblem::TooLarge,
        };
        Ok(Self {
            automaton: set(&expressions).map_err(|_| too_large)?,
            statuses: rules.iter().map(|rule| rule.status).collect(),
            refused: AtomicU64::new(0),
        })
    }

    /// What the first rule that matches a decoded path answers with, if any does.
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
    fn rule(&self) -> Result<TargetRule, Box<Diagnostic>> {
        let given = [
            (
                &self.contains,
                PathPattern::Contains as fn(String) -> PathPattern,
            ),
            (&self.prefix, PathPattern::Prefix),
            (&self.regex, PathPattern::Regex),
        ];
        let mut given = given.into_iter().filter_map(|(setting, pattern)| {
            let text = setting.value().clone()?;
            Some((setting.span(), pattern(text)))
        });
        let Some((span, pattern)) = given.next() else {
            let problem =
                Diagnostic::error(self.status.span(), "the rule says nothing of the path");
            return Err(Box::new(
                problem.expected("one of `contains`, `prefix` and `regex`"),
            ));
        };
        if let Some((second, _)) = given.next() {
            let problem = Diagnostic::error(second, "the rule has two patterns");
            return Err(Box::new(
                problem
                    .note_at(span, "the first one is here")
                    .note("make two rules of them"),
            ));
        }
        let rule = TargetRule {
            pattern,
            case: if *self.ignore_case {
                Case::Insensitive
            } else {
                Case::Sensitive
            },
            // The bounds of the directive are within those of a status.
            status: Status::new(*self.status).unwrap_or(Status::FORBIDDEN),
        };
        match expression(&rule) {
            Ok(_) => Ok(rule),
            Err(problem) => Err(Box::new(Diagnostic::error(span, problem.to_string()))),
        }
    }
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

/// The rule as an expression that can stand among others.
fn expression(rule: &TargetRule) -> Result<String, TargetRuleProblem> {
    let body = match &rule.pattern {
        PathPattern::Contains(text) | PathPattern::Prefix(text) | PathPattern::Regex(text)
            if text.is_empty() =>
        {
            return Err(TargetRuleProblem::Empty);
        }
        PathPattern::Prefix(text) if !text.starts_with('/') => {
            return Err(TargetRuleProblem::NoSlash);
        }
        PathPattern::Contains(text) => regex::escape(text),
        PathPattern::Prefix(text) => format!("^{}", regex::escape(text)),
        PathPattern::Regex(text) => text.clone(),
    };
    let expression = match rule.case {
        Case::Sensitive => body,
        Case::Insensitive => format!("(?i){body}"),
    };
    match set(std::slice::from_ref(&expression)) {
        Ok(_) => Ok(expression),
        Err(regex::Error::CompiledTooBig(_)) => Err(TargetRuleProblem::TooLarge),
        Err(error) => Err(TargetRuleProblem::Regex(reason(&error))),
    }
}

/// Why an expression cannot be read: the last line of what the reader draws.
fn reason(error: &regex::Error) -> String {
    let drawn = error.to_string();
    let last = drawn.lines().next_back().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Expressions are of bytes, and a dot stands for any of them: neither a line end (`%0A`) nor a byte that is no text
/// (`%FF`) must break a `.*`.
fn set(expressions: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(expressions)
        .unicode(false)
        .dot_matches_new_line(true)
        .size_limit(RULES_BYTES_MAX)
        .build()
}

impl fmt::Display for TargetRuleProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter
                .write_str("an empty text is part of every path: give at least one character"),
            Self::NoSlash => formatter.write_str("no path begins with this: begin it with a slash"),
            Self::Regex(explanation) => write!(
                formatter,
                "the regular expression cannot be read: {explanation}"
            ),
            Self::TooLarge => write!(
                formatter,
                "the rules need more than {} MiB together: use shorter repetitions, or fewer rules",
                RULES_BYTES_MAX / 1024 / 1024
            ),
        }
    }
}

impl fmt::Display for TargetRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(formatter)
    }
}

impl std::error::Error for TargetRuleError {}

#[cfg(test)]
mod tests {
    use vervet_http::target::NormalPath;

    use super::*;
    use PathPattern::{Contains, Prefix, Regex};

    fn rule(pattern: PathPattern) -> TargetRule {
        TargetRule {
            pattern,
            case: Case::Sensitive,
            status: Status::FORBIDDEN,
        }
    }

    #[track_caller]
    fn check_error(pattern: PathPattern, expected: &str) {
        let rules = [rule(Prefix("/fine".into())), rule(pattern)];
        let error = TargetRules::new(&rules).unwrap_err();
        assert_eq!(error.index, 1);
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    /// Raw paths, and whether the one rule refuses them.
    #[track_caller]
    fn check(pattern: PathPattern, rows: &[(&str, bool)]) {
        check_rule(&rule(pattern), rows);
    }

    #[track_caller]
    fn check_rule(rule: &TargetRule, rows: &[(&str, bool)]) {
        let rules = TargetRules::new(std::slice::from_ref(rule)).unwrap();
        for (raw, expected) in rows {
            let path = NormalPath::decode(raw.as_bytes()).unwrap();
            assert_eq!(
                rules.verdict(path.as_bytes()).is_some(),
                *expected,
                "{raw} by {rule:?}"
            );
        }
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        check_error(
            Contains(String::new()),
            "an empty text is part of every path",
        );
        check_error(Prefix(String::new()), "an empty text is part of every path");
        check_error(Regex(String::new()), "an empty text is part of every path");
        check_error(Prefix("admin".into()), "no path begins with this");
        check_error(
            Regex("(".into()),
            "the regular expression cannot be read: unclosed group",
        );
        check_error(
            Regex("(?:x{1000}){1000}".into()),
            "the rules need more than 10 MiB",
        );
    }

    #[test]
    fn no_spelling_of_a_path_passes_a_rule() {
        check(
            Prefix("/admin".into()),
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
            Contains(".git/".into()),
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
            Regex("^/a.*z$".into()),
            &[
                ("/a%0Az", true),
                ("/a%0D%0A%0Az", true),
                ("/a%FFz", true),
                ("/az%0A", false),
                ("/b", false),
            ],
        );
        check(
            Regex(r"\.php$".into()),
            &[
                ("/x.php", true),
                ("/%FF.php", true),
                ("/x.php%0A", false),
                ("/x.phps", false),
            ],
        );
    }

    #[test]
    fn a_text_is_no_expression() {
        check(Contains("a.c".into()), &[("/a.c", true), ("/abc", false)]);
        check(Prefix("/a+".into()), &[("/a+", true), ("/aa", false)]);
    }

    #[test]
    fn capitals_count_unless_said_otherwise() {
        let insensitive = TargetRule {
            case: Case::Insensitive,
            ..rule(Contains(".Ini".into()))
        };
        check_rule(
            &insensitive,
            &[("/a.ini", true), ("/a.INI", true), ("/a.in", false)],
        );
        check(
            Contains(".Ini".into()),
            &[("/a.ini", false), ("/a.Ini", true)],
        );
    }

    #[test]
    fn the_first_rule_that_matches_gives_the_status() {
        let with = |pattern, status| TargetRule {
            status,
            ..rule(pattern)
        };
        let rules = [
            with(Prefix("/old/new".into()), Status::NOT_FOUND),
            with(Prefix("/old".into()), Status::GONE),
            with(Regex("new".into()), Status::FORBIDDEN),
        ];
        let rules = TargetRules::new(&rules).unwrap();
        assert_eq!(rules.verdict(b"/old/new"), Some(Status::NOT_FOUND));
        assert_eq!(rules.verdict(b"/old/renewed"), Some(Status::GONE));
        assert_eq!(rules.verdict(b"/x/new"), Some(Status::FORBIDDEN));
        assert_eq!(rules.verdict(b"/x"), None);
    }

    section! {
        /// Where rules stand.
        struct Holder {
            /// Rules.
            deny: Vec<Deny>,
        }
    }

    fn read(text: &str) -> Result<TargetRules, Vec<String>> {
        let read = vervet_config::read_text::<Holder>("test.toml", text);
        let holder = read
            .value
            .unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics));
        TargetRules::of(&holder.deny)
            .map_err(|found| found.iter().map(|found| found.message.clone()).collect())
    }

    #[test]
    fn all_that_is_wrong_in_a_document_is_said_at_once() {
        let text = "deny = ['', { prefix = 'a' }, { status = 404 }, { regex = 'a', contains = 'b' }, { regex = '[' }]";
        let messages = read(text).unwrap_err();
        let begin: Vec<_> = messages
            .iter()
            .map(|message| &message[..message.len().min(24)])
            .collect();
        assert_eq!(
            begin,
            [
                "an empty text is part of",
                "no path begins with this",
                "the rule says nothing of",
                "the rule has two pattern",
                "the regular expression c"
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
