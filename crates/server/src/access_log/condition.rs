//! Which requests get a line: rules by status, path and method, statuses that always do, and one in N of the rest.
//!
//! A rule's path and method are compared when the request comes, its status when the answer has ended.

use std::fmt;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::facts::RequestFacts;

/// Rules of one kind that a log may have.
pub const RULES_MAX: usize = 16;

/// Which requests get a line in a log. The default: all.
#[derive(Clone, Debug)]
pub struct Condition {
    /// If there are any, only requests that fit one of them.
    pub only: Vec<Rule>,
    /// No request that fits one of them.
    pub except: Vec<Rule>,
    /// Statuses that get a line whatever the rules say, in full number.
    pub always: Vec<Statuses>,
    /// One in so many of what the rules let pass, counted in each reactor.
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

/// A rule fits a request when each part that is not empty does. An empty rule fits all.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Any of these statuses.
    pub statuses: Vec<Statuses>,
    /// Any of these paths.
    pub paths: Vec<PathPattern>,
    /// Any of these methods, as sent.
    pub methods: Vec<String>,
}

/// Some statuses: `404`, `4xx`, `400-418`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(RangeInclusive<u16>);

/// Why a text names no statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusesError;

impl fmt::Display for StatusesError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("status (`404`), class (`4xx`) or range (`400-418`), from 100 to 999")
    }
}

impl std::error::Error for StatusesError {}

impl FromStr for Statuses {
    type Err = StatusesError;

    fn from_str(text: &str) -> Result<Self, StatusesError> {
        let code = |text: &str| {
            let number = text.parse().ok().filter(|code| (100..1000).contains(code));
            number.filter(|_| text.len() == 3).ok_or(StatusesError)
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
            return Err(StatusesError);
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

/// A path, decoded: itself, or with `*` for any bytes (the slash too) and `?` for any one byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern(Box<[u8]>);

impl PathPattern {
    /// The pattern of a text.
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().into())
    }

    /// Whether a path fits. Looks at each byte of the path at most once for each `*`.
    pub fn fits(&self, path: &[u8]) -> bool {
        let pattern = &self.0;
        let (mut at, mut of) = (0, 0);
        // Where the last star stands, and how far what it stands for goes.
        let mut star = None;
        while at < path.len() {
            match pattern.get(of) {
                Some(b'*') => {
                    star = Some((of, at));
                    of += 1;
                }
                Some(byte) if *byte == b'?' || *byte == path[at] => {
                    at += 1;
                    of += 1;
                }
                _ => {
                    let Some((place, reach)) = star else {
                        return false;
                    };
                    (of, at) = (place + 1, reach + 1);
                    star = Some((place, reach + 1));
                }
            }
        }
        pattern[of..].iter().all(|byte| *byte == b'*')
    }
}

/// Which rules a request fits as far as its head goes: a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Matched {
    only: u16,
    except: u16,
}

const _: () = assert!(RULES_MAX <= u16::BITS as usize);

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is left out.
    Out,
    /// It is one of those of which one in N is written.
    Counted,
    /// It is written.
    Kept,
}

impl Condition {
    fn is_none(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && self.one_in.get() == 1
    }

    /// What the head decides of the rules; no facts for a request that nobody could read.
    pub(super) fn of_request(&self, facts: Option<&RequestFacts<'_>>) -> Matched {
        if self.is_none() {
            return Matched::default();
        }
        let bits = |rules: &[Rule]| {
            let fits = rules.iter().take(RULES_MAX).enumerate();
            fits.filter(|(_, rule)| rule.fits_request(facts))
                .fold(0, |bits, (index, _)| bits | 1 << index)
        };
        Matched {
            only: bits(&self.only),
            except: bits(&self.except),
        }
    }

    /// Whether a line may be written, whatever the status will be.
    pub(super) fn may_pass(&self, matched: Matched) -> bool {
        let is_wanted = self.only.is_empty() || matched.only != 0;
        let is_out = |(index, rule): (usize, &Rule)| {
            rule.statuses.is_empty() && matched.except & 1 << index != 0
        };
        let is_left_out = || self.except.iter().take(RULES_MAX).enumerate().any(is_out);
        !self.always.is_empty() || (is_wanted && !is_left_out())
    }

    /// What becomes of the line of a request that has ended with this status.
    pub(super) fn fate(&self, matched: Matched, status: u16) -> Fate {
        if self.is_none() {
            return Fate::Kept;
        }
        if contains(&self.always, status) {
            return Fate::Kept;
        }
        let fits = |rules: &[Rule], bits: u16| {
            let fits = |(index, rule): (usize, &Rule)| {
                bits & 1 << index != 0
                    && (rule.statuses.is_empty() || contains(&rule.statuses, status))
            };
            rules.iter().take(RULES_MAX).enumerate().any(fits)
        };
        let is_wanted = self.only.is_empty() || fits(&self.only, matched.only);
        match (
            is_wanted && !fits(&self.except, matched.except),
            self.one_in.get(),
        ) {
            (false, _) => Fate::Out,
            (true, 1) => Fate::Kept,
            (true, _) => Fate::Counted,
        }
    }
}

impl Rule {
    fn fits_request(&self, facts: Option<&RequestFacts<'_>>) -> bool {
        let Some(facts) = facts else {
            return self.paths.is_empty() && self.methods.is_empty();
        };
        let is_path = || self.paths.iter().any(|pattern| pattern.fits(facts.path));
        let is_method = || {
            self.methods
                .iter()
                .any(|method| method == facts.head.method_token)
        };
        (self.paths.is_empty() || is_path()) && (self.methods.is_empty() || is_method())
    }
}

fn contains(statuses: &[Statuses], status: u16) -> bool {
    statuses.iter().any(|some| some.0.contains(&status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_path(pattern: &str, fitting: &[&str], others: &[&str]) {
        let pattern = PathPattern::new(pattern);
        for (paths, expected) in [(fitting, true), (others, false)] {
            for path in paths {
                assert_eq!(
                    pattern.fits(path.as_bytes()),
                    expected,
                    "{pattern:?} {path}"
                );
            }
        }
    }

    #[test]
    fn paths_are_compared_whole_and_stars_take_slashes() {
        check_path("/health", &["/health"], &["/health/", "/healthy", "/", ""]);
        check_path("/a/*", &["/a/", "/a/b/c"], &["/a", "/b/a/"]);
        check_path("*.png", &["/x/y.png", ".png"], &["/x.png/", "/x.pn"]);
        check_path("/?/*/z", &["/a/b/c/z", "/a//z"], &["/ab/c/z", "/a/z"]);
        check_path("*a*b", &["aab", "xaxbab"], &["ba", "abx"]);
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = PathPattern::new(&"*a".repeat(30));
        assert!(!pattern.fits("a".repeat(20_000).replace('a', "ab").as_bytes()));
    }

    #[test]
    fn statuses_are_one_a_class_or_a_range() {
        let statuses = |text: &str| text.parse::<Statuses>().map(|statuses| statuses.0);
        assert_eq!(statuses("404"), Ok(404..=404));
        assert_eq!(statuses("4xx"), Ok(400..=499));
        assert_eq!(statuses("200-304"), Ok(200..=304));
        for text in ["404", "4xx", "200-304"] {
            assert_eq!(text.parse::<Statuses>().unwrap().to_string(), text);
        }
        for wrong in [
            "", "4", "xx", "0xx", "44xx", "099", "1000", "+12", "304-200", "4XX", "a",
        ] {
            assert_eq!(statuses(wrong), Err(StatusesError), "{wrong}");
        }
    }

    fn rule(statuses: &[&str], methods: &[&str]) -> Rule {
        Rule {
            statuses: statuses.iter().map(|text| text.parse().unwrap()).collect(),
            paths: Vec::new(),
            methods: methods.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    /// The fate of a request that nobody could read, which fits no rule with a method.
    #[track_caller]
    fn check_fate(condition: &Condition, status: u16, expected: Fate) {
        let matched = condition.of_request(None);
        assert_eq!(
            condition.fate(matched, status),
            expected,
            "{condition:?} {status}"
        );
    }

    #[test]
    fn rules_let_pass_and_leave_out_and_errors_may_always_stay() {
        let all = Condition::default();
        check_fate(&all, 200, Fate::Kept);
        let errors = Condition {
            only: vec![rule(&["4xx"], &[]), rule(&["5xx"], &["GET"])],
            ..Condition::default()
        };
        check_fate(&errors, 200, Fate::Out);
        check_fate(&errors, 404, Fate::Kept);
        check_fate(&errors, 500, Fate::Out);
        let some = Condition {
            except: vec![rule(&["404"], &[]), rule(&[], &["GET"])],
            always: vec!["5xx".parse().unwrap()],
            one_in: NonZero::new(10).unwrap(),
            ..Condition::default()
        };
        check_fate(&some, 404, Fate::Out);
        check_fate(&some, 200, Fate::Counted);
        check_fate(&some, 503, Fate::Kept);
    }
}
