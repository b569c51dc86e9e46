//! Selects the requests that are logged: rules by status, path and method, statuses that are always
//! logged, and sampling of the rest.
//!
//! Paths and methods are matched when the request arrives, the status when the response has ended.

use std::fmt;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;

use vervet_config::{FromConfig, Node, Reader, Shape, Shown, Text, TextShape, Value, section};

use super::request::RequestInfo;
use crate::log_sinks::from_text;

/// Rules of one kind that a log may have.
pub const RULES_MAX: usize = 16;

/// Which requests get a line in a log. The default: all.
#[derive(Clone, Debug)]
pub struct Condition {
    /// If not empty, only requests that match one of these rules.
    pub only: Vec<Rule>,
    /// No requests that match one of these rules.
    pub except: Vec<Rule>,
    /// Statuses that are logged whatever the rules and sampling say.
    pub always: Vec<Statuses>,
    /// Sampling: logs one in this many accepted requests, counted per reactor.
    pub one_in: NonZero<u32>,
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            except: Vec::new(),
            always: Vec::new(),
            one_in: NonZero::<u32>::MIN,
        }
    }
}

section! {
    /// Selects requests. A rule matches if all its directives match.
    pub struct Rule {
        /// Statuses: `404`, `"4xx"` or `"400-418"`.
        pub status: Vec<Statuses>,
        /// Paths: `*` matches any text including slashes, `?` matches one byte.
        pub path: Vec<PathPattern>,
        /// Request methods, which are case-sensitive.
        pub method: Vec<Text>,
    }
}

/// A range of statuses: `404`, `4xx`, `400-418`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(RangeInclusive<u16>);

const STATUSES_EXPECTED: &str =
    "expected a status (`404`), class (`4xx`) or range (`400-418`), from 100 to 999";

impl FromConfig for Statuses {
    fn shape() -> Shape {
        let number = Shape::Integer { min: 100, max: 999 };
        let text = TextShape {
            noun: "status, class or range",
            example: "4xx",
            pattern: Some("^[1-9](xx|[0-9][0-9](-[1-9][0-9][0-9])?)$"),
        };
        Shape::Either(vec![number, Shape::Text(text)])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = match &node.value {
            Value::Integer(number) => number.to_string(),
            _ => reader.text(node, &Self::shape())?.into_owned(),
        };
        let parsed = text.parse();
        if let Err(error) = &parsed {
            let problem = format!("cannot be `{text}`: {error}");
            reader.refuse(node, &Self::shape(), &problem);
        }
        parsed.ok()
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}

impl FromStr for Statuses {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let code = |text: &str| {
            let number = text.parse().ok().filter(|code| (100..1000).contains(code));
            number.filter(|_| text.len() == 3).ok_or(STATUSES_EXPECTED)
        };
        if let Some(class) = text.strip_suffix("xx") {
            let first = code(&format!("{class}00"))?;
            return Ok(Self(first..=first + 99));
        }
        let range = match text.split_once('-') {
            Some((first, last)) => code(first)?..=code(last)?,
            None => code(text)?..=code(text)?,
        };
        if range.is_empty() {
            return Err(STATUSES_EXPECTED);
        }
        Ok(Self(range))
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.0.start(), self.0.end());
        match (first % 100, last - first) {
            (_, 0) => first.fmt(formatter),
            (0, 99) => write!(formatter, "{}xx", first / 100),
            _ => write!(formatter, "{first}-{last}"),
        }
    }
}

/// A pattern for decoded paths: `*` matches any bytes including slashes, `?` matches one byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern(Box<str>);

from_text!(
    PathPattern,
    "path pattern",
    "/health/*",
    |text: &str| Ok::<_, String>(PathPattern::new(text)),
    |pattern: &PathPattern| pattern.0.to_string()
);

impl PathPattern {
    /// The pattern of a text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Whether a path matches. Reads each byte of the path at most once per `*`.
    pub fn fits(&self, path: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let (mut at, mut next) = (0, 0);
        // The position of the last star, and the end of the text that it matches.
        let mut star = None;
        while at < path.len() {
            match pattern.get(next) {
                Some(b'*') => {
                    star = Some((next, at));
                    next += 1;
                }
                Some(byte) if *byte == b'?' || *byte == path[at] => {
                    at += 1;
                    next += 1;
                }
                _ => {
                    let Some((position, end)) = star else {
                        return false;
                    };
                    (next, at) = (position + 1, end + 1);
                    star = Some((position, end + 1));
                }
            }
        }
        pattern[next..].iter().all(|byte| *byte == b'*')
    }
}

/// The rules that the head of a request matches: one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct RuleMatches {
    only: u16,
    except: u16,
}

const _: () = assert!(RULES_MAX <= u16::BITS as usize);

/// Whether the line of a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineDecision {
    /// The line is not written.
    Skip,
    /// One in N such lines is written.
    Sample,
    /// The line is written.
    Write,
}

impl Condition {
    fn is_none(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && self.one_in.get() == 1
    }

    /// Matches the head of a request; `None` for one that could not be parsed.
    pub(super) fn match_request(&self, info: Option<&RequestInfo<'_>>) -> RuleMatches {
        if self.is_none() {
            return RuleMatches::default();
        }
        let bits = |rules: &[Rule]| {
            let fits = rules.iter().take(RULES_MAX).enumerate();
            fits.filter(|(_, rule)| rule.fits_request(info))
                .fold(0, |bits, (index, _)| bits | 1 << index)
        };
        RuleMatches { only: bits(&self.only), except: bits(&self.except) }
    }

    /// Whether a line may be written, depending on the status.
    pub(super) fn may_accept(&self, matches: RuleMatches) -> bool {
        let is_selected = self.only.is_empty() || matches.only != 0;
        let is_excluded = |(index, rule): (usize, &Rule)| {
            rule.status.is_empty() && matches.except & 1 << index != 0
        };
        let is_excepted = || self.except.iter().take(RULES_MAX).enumerate().any(is_excluded);
        !self.always.is_empty() || (is_selected && !is_excepted())
    }

    /// Decides whether the line of a request with this status is written.
    pub(super) fn decide(&self, matches: RuleMatches, status: u16) -> LineDecision {
        if self.is_none() {
            return LineDecision::Write;
        }
        if contains(&self.always, status) {
            return LineDecision::Write;
        }
        let fits = |rules: &[Rule], bits: u16| {
            let fits = |(index, rule): (usize, &Rule)| {
                bits & 1 << index != 0 && (rule.status.is_empty() || contains(&rule.status, status))
            };
            rules.iter().take(RULES_MAX).enumerate().any(fits)
        };
        let is_selected = self.only.is_empty() || fits(&self.only, matches.only);
        match (is_selected && !fits(&self.except, matches.except), self.one_in.get()) {
            (false, _) => LineDecision::Skip,
            (true, 1) => LineDecision::Write,
            (true, _) => LineDecision::Sample,
        }
    }
}

impl Rule {
    fn fits_request(&self, info: Option<&RequestInfo<'_>>) -> bool {
        let Some(info) = info else {
            return self.path.is_empty() && self.method.is_empty();
        };
        let is_path = || self.path.iter().any(|pattern| pattern.fits(info.path));
        let is_method = || self.method.iter().any(|method| method == info.head.method_token);
        (self.path.is_empty() || is_path()) && (self.method.is_empty() || is_method())
    }
}

fn contains(statuses: &[Statuses], status: u16) -> bool {
    statuses.iter().any(|some| some.0.contains(&status))
}

#[cfg(test)]
mod tests {
    use vervet_config::Setting;

    use super::*;

    #[track_caller]
    fn check_path(pattern: &str, fitting: &[&str], others: &[&str]) {
        let pattern = PathPattern::new(pattern);
        for (paths, expected) in [(fitting, true), (others, false)] {
            for path in paths {
                assert_eq!(pattern.fits(path.as_bytes()), expected, "{pattern:?} {path}");
            }
        }
    }

    #[test]
    fn patterns_match_whole_paths_and_stars_match_slashes() {
        check_path("/health", &["/health"], &["/health/", "/healthy", "/", ""]);
        check_path("/a/*", &["/a/", "/a/b/c"], &["/a", "/b/a/"]);
        check_path("*.png", &["/x/y.png", ".png"], &["/x.png/", "/x.pn"]);
        check_path("/?/*/z", &["/a/b/c/z", "/a//z"], &["/ab/c/z", "/a/z"]);
        check_path("*a*b", &["aab", "xaxbab"], &["ba", "abx"]);
    }

    #[test]
    fn a_pattern_of_many_stars_is_not_slow() {
        let pattern = PathPattern::new(&"*a".repeat(30));
        assert!(!pattern.fits("a".repeat(20_000).replace('a', "ab").as_bytes()));
    }

    #[test]
    fn statuses_are_one_status_a_class_or_a_range() {
        let statuses = |text: &str| text.parse::<Statuses>().map(|statuses| statuses.0);
        assert_eq!(statuses("404"), Ok(404..=404));
        assert_eq!(statuses("4xx"), Ok(400..=499));
        assert_eq!(statuses("200-304"), Ok(200..=304));
        for text in ["404", "4xx", "200-304"] {
            assert_eq!(text.parse::<Statuses>().unwrap().to_string(), text);
        }
        for wrong in ["", "4", "xx", "0xx", "44xx", "099", "1000", "+12", "304-200", "4XX", "a"] {
            assert_eq!(statuses(wrong), Err(STATUSES_EXPECTED), "{wrong}");
        }
    }

    fn rule(statuses: &[&str], methods: &[&str]) -> Rule {
        Rule {
            status: Setting::assumed(statuses.iter().map(|text| text.parse().unwrap()).collect()),
            path: Setting::assumed(Vec::new()),
            method: Setting::assumed(methods.iter().map(|text| (*text).to_owned()).collect()),
        }
    }

    /// The decision for a request that could not be parsed, which matches no rule with a method.
    #[track_caller]
    fn check_decision(condition: &Condition, status: u16, expected: LineDecision) {
        let matches = condition.match_request(None);
        assert_eq!(condition.decide(matches, status), expected, "{condition:?} {status}");
    }

    #[test]
    fn rules_select_requests_and_errors_may_always_be_logged() {
        let all = Condition::default();
        check_decision(&all, 200, LineDecision::Write);
        let errors = Condition {
            only: vec![rule(&["4xx"], &[]), rule(&["5xx"], &["GET"])],
            ..Condition::default()
        };
        check_decision(&errors, 200, LineDecision::Skip);
        check_decision(&errors, 404, LineDecision::Write);
        check_decision(&errors, 500, LineDecision::Skip);
        let some = Condition {
            except: vec![rule(&["404"], &[]), rule(&[], &["GET"])],
            always: vec!["5xx".parse().unwrap()],
            one_in: NonZero::new(10).unwrap(),
            ..Condition::default()
        };
        check_decision(&some, 404, LineDecision::Skip);
        check_decision(&some, 200, LineDecision::Sample);
        check_decision(&some, 503, LineDecision::Write);
    }
}
