//! Regular expressions on paths: bounded in size, linear in time, with their literal prefix.

use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Hir, Look};
use regex_syntax::{Parser, ParserBuilder};

use super::captures::{CAPTURES_MAX, Captures, Variable};
use super::flaw::Flaw;
use super::kind::Kind;
use super::pattern::check_variable_name;

/// The longest expression, in bytes.
pub const REGEX_BYTES_MAX: usize = 4096;

/// Memory for one compiled expression, in bytes. `\d{1,99}` takes a twentieth of it.
pub const REGEX_COMPILED_BYTES_MAX: usize = 1 << 20;

/// How deep groups may be nested.
const NEST_MAX: u32 = 50;

/// A regular expression over the decoded path.
///
/// `\d`, `\w` and `\s` are of ASCII and `.` is any byte: paths are bytes. The engine (crate
/// `regex`) takes time linear in the path whatever the expression, so no expression can be made
/// slow by a visitor.
///
/// A copy of it is the same one.
#[derive(Debug, Clone)]
pub struct PathRegex(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    regex: Regex,
    variables: Box<[Variable]>,
    groups: Box<[usize]>,
    head: Box<[u8]>,
}

/// Expressions with equal texts are equal.
impl PartialEq for PathRegex {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PathRegex {
    /// Compiles an expression such as `^/x/(?<n>\d+)$`. Its named groups become variables.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let hir = parse(text)?;
        let regex = compile(text)?;
        let mut variables = Vec::new();
        let mut groups = Vec::new();
        for (group, name) in regex.capture_names().enumerate() {
            let Some(name) = name else { continue };
            let at = text.find(&format!("<{name}>")).map_or(0, |at| at + 1);
            check_variable_name(name, at)?;
            variables.push(Variable { name: Box::from(name), kind: Kind::Any });
            groups.push(group);
        }
        if variables.len() > CAPTURES_MAX {
            let message = format!("a regular expression has at most {CAPTURES_MAX} named groups");
            return Err(Flaw::new(0..text.len(), message));
        }
        Ok(Self(Arc::new(Parts {
            head: head(&hir),
            regex,
            variables: variables.into_boxed_slice(),
            groups: groups.into_boxed_slice(),
        })))
    }

    /// The expression as written.
    pub fn as_str(&self) -> &str {
        self.0.regex.as_str()
    }

    /// The variables: its named groups.
    pub fn variables(&self) -> &[Variable] {
        &self.0.variables
    }

    /// Whether it is found in a decoded path.
    pub fn is_match(&self, path: &[u8]) -> bool {
        self.0.regex.is_match(path)
    }

    /// The values of its named groups, where it is found.
    pub fn captures(&self, path: &[u8]) -> Option<Captures<'_>> {
        if self.0.groups.is_empty() {
            return self.is_match(path).then(Captures::default);
        }
        let mut places = self.0.regex.capture_locations();
        self.0.regex.captures_read(&mut places, path)?;
        let mut captures = Captures::new(&self.0.variables);
        for (number, group) in self.0.groups.iter().enumerate() {
            if let Some((from, to)) = places.get(*group) {
                captures.set(number, from, to);
            }
        }
        Some(captures)
    }

    /// What every path begins with in which it is found; empty where it is not anchored at the
    /// beginning.
    pub(super) fn head(&self) -> &[u8] {
        &self.0.head
    }
}

/// Compiles an expression within the bounds.
pub(super) fn build(text: &str) -> Result<Regex, Flaw> {
    parse(text)?;
    compile(text)
}

/// Compiles what was found good.
fn compile(text: &str) -> Result<Regex, Flaw> {
    let built = RegexBuilder::new(text)
        .unicode(false)
        .nest_limit(NEST_MAX)
        .size_limit(REGEX_COMPILED_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let message = match error {
            regex::Error::CompiledTooBig(bytes) => {
                format!("the regular expression needs more than {} KiB of memory: use fewer repetitions", bytes / 1024)
            }
            other => other.to_string(),
        };
        Flaw::new(0..text.len(), message)
    })
}

fn parse(text: &str) -> Result<Hir, Flaw> {
    if text.len() > REGEX_BYTES_MAX {
        let message = format!("a regular expression has at most {REGEX_BYTES_MAX} bytes");
        return Err(Flaw::new(0..text.len(), message));
    }
    parser().parse(text).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => {
            let span = error.span();
            Flaw::new(span.start.offset..span.end.offset, error.kind().to_string())
        }
        regex_syntax::Error::Translate(error) => {
            let span = error.span();
            Flaw::new(span.start.offset..span.end.offset, error.kind().to_string())
        }
        other => Flaw::new(0..text.len(), other.to_string()),
    })
}

fn parser() -> Parser {
    ParserBuilder::new().unicode(false).utf8(false).nest_limit(NEST_MAX).build()
}

fn head(hir: &Hir) -> Box<[u8]> {
    if !hir.properties().look_set_prefix().contains(Look::Start) {
        return Box::default();
    }
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix);
    let heads = extractor.extract(hir);
    heads.longest_common_prefix().map(Box::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, range: std::ops::Range<usize>, part: &str) {
        let flaw = PathRegex::parse(text).unwrap_err();
        assert!(flaw.message.contains(part), "{flaw}");
        assert_eq!(flaw.range, range, "{flaw}");
    }

    #[test]
    fn what_is_no_expression_is_refused_where_it_is_wrong() {
        check_refused("^/a(", 3..4, "unclosed");
        check_refused("^/a[z-a]", 4..7, "range");
        check_refused("/x*{3}**a\\q", 9..11, "escape");
        check_refused("(?<path>x)", 3..7, "path");
        check_refused("\\pL", 0..3, "Unicode");
        let deep = "(".repeat(60) + &")".repeat(60);
        assert!(PathRegex::parse(&deep).unwrap_err().message.contains("nest"));
        check_refused(&"a".repeat(REGEX_BYTES_MAX + 1), 0..REGEX_BYTES_MAX + 1, "at most");
        check_refused("(?:[a-z]{500}x){500}", 0..20, "KiB");
        let many = (0..17).fold(String::new(), |all, number| format!("{all}(?<g{number}>x)"));
        check_refused(&many, 0..many.len(), "named groups");
    }

    #[track_caller]
    fn check_head(text: &str, expected: &str) {
        let regex = PathRegex::parse(text).unwrap();
        assert_eq!(regex.head(), expected.as_bytes(), "{text}");
    }

    #[test]
    fn heads_hold_for_every_match() {
        check_head("/x/", "");
        check_head("^/x/(?<n>\\d+)$", "/x/");
        check_head("^/x/y$", "/x/y");
        check_head("^/(?:ab|ac)/d", "/a");
        check_head("^/a?b", "/");
        check_head("(?i)^/ab", "/");
        check_head("^/a|/b", "");
        check_head("(?:^/a|^/ab)c", "/a");
        check_head("(?m)^/a", "");
        check_head("^$", "");
        check_head("\\A/caf\u{e9}/", "/caf\u{e9}/");
    }

    #[track_caller]
    fn check(text: &str, path: &str, expected: Option<&[(&str, &str)]>) {
        let regex = PathRegex::parse(text).unwrap();
        let captures = regex.captures(path.as_bytes());
        let found = captures.as_ref().map(|captures| {
            let pairs = captures.iter(path.as_bytes());
            pairs
                .map(|(variable, value)| (&*variable.name, str::from_utf8(value).unwrap()))
                .collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), expected, "{text} in {path}");
    }

    #[test]
    fn named_groups_are_variables() {
        check("^/x/(?<n>\\d+)$", "/x/", None);
        check("^/x/(?<n>\\d+)$", "/x/1a", None);
        check("^/x/(?<n>\\d+)$", "/x/\u{661}", None);
        check("^/x/(?<n>\\d+)$", "/x/17", Some(&[("n", "17")]));
        check("/(a)?(?<b>b)?(?P<c>c)$", "/c", Some(&[("c", "c")]));
        check("^/(?<all>.*)$", "/a/b", Some(&[("all", "a/b")]));
        check("x", "/axb", Some(&[]));
    }

    #[test]
    fn bytes_that_are_no_text_are_matched() {
        let regex = PathRegex::parse("^/.$").unwrap();
        assert!(regex.is_match(b"/\xff"));
    }
}
