//! Path patterns: `/exact`, `/static/*`, `/u/:id(number)/posts/:slug`.
//!
//! A pattern is matched with the decoded path, segment by segment; so it is written decoded, too. A
//! variable is a whole segment. `*` is allowed only at the end and matches the rest of the path.

use std::sync::Arc;

use super::captures::{CAPTURES_MAX, Captures, Variable};
use super::flaw::Flaw;
use super::kind::Kind;

/// The longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;

/// Names of predefined placeholders.
pub(super) const RESERVED: [&str; 6] = ["path", "query", "host", "rest", "scheme", "method"];

/// A pattern, ready to be compared. A copy of it is the same one: documents, plans and stages share
/// theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    text: Box<str>,
    segments: Box<[Segment]>,
    tail: Tail,
    variables: Box<[Variable]>,
}

/// The text between two slashes. The last one is empty if the pattern ends with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Literal(Box<[u8]>),
    Variable(Kind),
}

impl Segment {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variable(kind), Self::Variable(other)) => kind.covers(*other),
            (Self::Variable(kind), Self::Literal(literal)) => kind.takes(literal),
            (Self::Literal(literal), Self::Literal(other)) => literal == other,
            (Self::Literal(_), Self::Variable(_)) => false,
        }
    }
}

/// How a pattern ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tail {
    /// At the end of the path.
    End,
    /// With `*`: another segment follows that begins with these bytes, and then anything.
    Open(Box<[u8]>),
}

/// The result of a match.
#[derive(Debug, Clone)]
pub struct Matched<'a> {
    /// The values of the variables.
    pub captures: Captures<'a>,
    /// The position in the path where the part that `*` matches begins: at the last slash before
    /// it.
    pub rest: Option<usize>,
}

impl Pattern {
    /// Parses a pattern of a path.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        if text.len() > PATTERN_BYTES_MAX {
            let message = format!("a path has at most {PATTERN_BYTES_MAX} bytes");
            return Err(Flaw::new(0..text.len(), message));
        }
        check_characters(text)?;
        let mut reader = Reader { segments: Vec::new(), variables: Vec::new() };
        let (body, tail) = match text.strip_suffix('*') {
            Some(body) => {
                let slash = body.rfind('/').unwrap_or(0);
                let partial = &body[slash + 1..];
                check_literal(partial, slash + 1)?;
                if partial.starts_with(':') {
                    let message = "`*` cannot follow a variable in the same segment";
                    return Err(Flaw::new(slash + 1..text.len(), message));
                }
                (&body[..slash], Tail::Open(Box::from(partial.as_bytes())))
            }
            None => (text, Tail::End),
        };
        reader.read(body)?;
        Ok(Self(Arc::new(Parts {
            text: Box::from(text),
            segments: reader.segments.into_boxed_slice(),
            tail,
            variables: reader.variables.into_boxed_slice(),
        })))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The variables of the pattern, in order.
    pub fn variables(&self) -> &[Variable] {
        &self.0.variables
    }

    /// Whether it ends with `*`.
    pub fn is_open(&self) -> bool {
        matches!(self.0.tail, Tail::Open(_))
    }

    /// Whether every path that the other pattern matches is one that this pattern matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let (own, others) = (self.segments(), other.segments());
        let Some((others, further)) = others.split_at_checked(own.len()) else {
            return false;
        };
        if !own.iter().zip(others).all(|(own, other)| own.covers(other)) {
            return false;
        }
        match (self.tail(), further.first(), other.tail()) {
            (Tail::End, None, Tail::End) => true,
            (Tail::Open(head), None, Tail::Open(longer)) => longer.starts_with(head),
            (Tail::Open(head), Some(Segment::Literal(next)), _) => next.starts_with(head),
            (Tail::Open(head), Some(Segment::Variable(_)), _) => head.is_empty(),
            (Tail::End, ..) | (Tail::Open(_), None, Tail::End) => false,
        }
    }

    /// A path that the pattern matches: the only one, if it has no variables and no `*`.
    pub(super) fn sample(&self) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.0.text.len());
        for segment in self.segments() {
            path.push(b'/');
            path.extend_from_slice(match segment {
                Segment::Literal(literal) => literal,
                Segment::Variable(kind) => kind.sample().as_bytes(),
            });
        }
        if let Tail::Open(head) = self.tail() {
            path.push(b'/');
            path.extend_from_slice(head);
        }
        path
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.0.segments
    }

    pub(super) fn tail(&self) -> &Tail {
        &self.0.tail
    }

    /// Compares with a decoded path.
    pub fn find(&self, path: &[u8]) -> Option<Matched<'_>> {
        let mut captures = Captures::new(&self.0.variables);
        let mut variable = 0;
        let mut at = 0;
        for segment in &self.0.segments {
            let (from, to) = segment_at(path, at)?;
            match segment {
                Segment::Literal(literal) if path[from..to] == **literal => {}
                Segment::Variable(kind) if kind.takes(&path[from..to]) => {
                    captures.set(variable, from, to);
                    variable += 1;
                }
                _ => return None,
            }
            at = to;
        }
        let rest = match &self.0.tail {
            Tail::End if at == path.len() => None,
            Tail::Open(head) if path.get(at) == Some(&b'/') && path[at + 1..].starts_with(head) => {
                Some(at)
            }
            _ => return None,
        };
        Some(Matched { captures, rest })
    }
}

/// The bounds of the segment that follows the slash at `at`.
pub(super) fn segment_at(path: &[u8], at: usize) -> Option<(usize, usize)> {
    if path.get(at) != Some(&b'/') {
        return None;
    }
    let from = at + 1;
    let to = memchr::memchr(b'/', &path[from..]).map_or(path.len(), |length| from + length);
    Some((from, to))
}

/// Rejects characters that are not allowed in a pattern.
fn check_characters(text: &str) -> Result<(), Flaw> {
    if !text.starts_with('/') {
        return Err(Flaw::new(0..0, "a path must begin with `/`"));
    }
    if let Some(at) = text.find("//") {
        let message = "`//` never matches: empty segments are removed before matching";
        return Err(Flaw::new(at..at + 2, message));
    }
    if let Some(star) = text.find('*').filter(|star| star + 1 < text.len()) {
        let message =
            "`*` is allowed once, at the end; use a variable such as `:name` for one segment";
        return Err(Flaw::new(star..star + 1, message));
    }
    for (at, character) in text.char_indices() {
        let message = match character {
            '?' => "expected a path without query: routes match path, method and headers",
            '#' => "expected a path without fragment: browsers do not send it",
            '%' if is_triplet(&text.as_bytes()[at..]) => {
                "write the character itself: paths are percent-decoded before matching"
            }
            control if control.is_ascii_control() => "control characters are not allowed in a path",
            _ => continue,
        };
        let length = if character == '%' { 3 } else { character.len_utf8() };
        return Err(Flaw::new(at..at + length, message));
    }
    Ok(())
}

fn is_triplet(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

struct Reader {
    segments: Vec<Segment>,
    variables: Vec<Variable>,
}

impl Reader {
    /// Reads `/a/:b`; nothing at all is fine, which is what remains of `/*`.
    fn read(&mut self, body: &str) -> Result<(), Flaw> {
        let mut at = 0;
        while at < body.len() {
            let from = at + 1;
            let to = body[from..].find('/').map_or(body.len(), |length| from + length);
            let segment = &body[from..to];
            let segment = if let Some(variable) = segment.strip_prefix(':') {
                self.variable(variable, from + 1)?
            } else {
                check_literal(segment, from)?;
                Segment::Literal(Box::from(segment.as_bytes()))
            };
            self.segments.push(segment);
            at = to;
        }
        Ok(())
    }

    fn variable(&mut self, text: &str, at: usize) -> Result<Segment, Flaw> {
        let (name, kind) = match text.find('(') {
            Some(open) => (&text[..open], kind(&text[open..], at + open)?),
            None => (text, Kind::Any),
        };
        check_variable_name(name, at)?;
        let range = at..at + name.len();
        if self.variables.iter().any(|variable| *variable.name == *name) {
            return Err(Flaw::new(
                range,
                format!("the variable `{name}` occurs twice: use different names"),
            ));
        }
        if self.variables.len() == CAPTURES_MAX {
            return Err(Flaw::new(range, format!("a path has at most {CAPTURES_MAX} variables")));
        }
        self.variables.push(Variable { name: Box::from(name), kind });
        Ok(Segment::Variable(kind))
    }
}

/// The type in `(number)`.
fn kind(text: &str, at: usize) -> Result<Kind, Flaw> {
    let Some(close) = text.find(')') else {
        return Err(Flaw::new(at..at + text.len(), "missing `)` after the type of the variable"));
    };
    if close + 1 < text.len() {
        let message = "a variable is a whole segment: only a slash can follow its type";
        return Err(Flaw::new(at + close + 1..at + text.len(), message));
    }
    let name = &text[1..close];
    Kind::by_name(name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name).join(", ");
        Flaw::new(at + 1..at + close, format!("unknown type `{name}`: expected one of {names}"))
    })
}

/// Rejects names that a placeholder could not have. `at` is the position of the name.
pub(super) fn check_variable_name(name: &str, at: usize) -> Result<(), Flaw> {
    let range = at..at + name.len();
    let begins_well = |first: char| first.is_ascii_alphabetic() || first == '_';
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if !name.starts_with(begins_well) || !name.chars().all(is_word) {
        let message =
            "a variable name has letters, digits and underscores, and does not begin with a digit";
        return Err(Flaw::new(range, message));
    }
    if RESERVED.contains(&name) {
        let message = format!("`{name}` is a predefined placeholder: choose another name");
        return Err(Flaw::new(range, message));
    }
    Ok(())
}

fn check_literal(segment: &str, at: usize) -> Result<(), Flaw> {
    let range = at..at + segment.len();
    if matches!(segment, "." | "..") {
        let message = "`.` and `..` never match: they are resolved before matching";
        return Err(Flaw::new(range, message));
    }
    let is_between =
        |open, close| segment.len() > 2 && segment.starts_with(open) && segment.ends_with(close);
    if is_between('{', '}') || is_between('<', '>') {
        let name = &segment[1..segment.len() - 1];
        return Err(Flaw::new(range, format!("write `:{name}` for a variable")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
