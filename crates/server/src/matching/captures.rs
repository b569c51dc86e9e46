//! The values of a route's variables, as ranges in the path, so that nothing is copied. A route
//! without variables costs nothing.

use super::kind::Kind;

/// The most variables that a path pattern, or named groups that a regular expression, may have.
pub const CAPTURES_MAX: usize = 16;

/// A variable of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name of the variable, unique in the route.
    pub name: Box<str>,
    /// The type of the variable; `any` for a group of a regular expression.
    pub kind: Kind,
}

/// The variables of a route, and where their values stand in the decoded path that was matched.
///
/// The path itself is not held: the caller passes it. It is `Request::path`.
#[derive(Debug, Clone, Default)]
pub struct Captures<'a> {
    variables: &'a [Variable],
    /// As many as variables.
    spans: Vec<Span>,
}

/// Bytes of the path; none where an optional group of a regular expression took no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u32,
    to: u32,
}

const ABSENT: Span = Span { from: u32::MAX, to: 0 };

impl<'a> Captures<'a> {
    /// The variables of a route, without values yet.
    pub(super) fn new(variables: &'a [Variable]) -> Self {
        debug_assert!(variables.len() <= CAPTURES_MAX);
        Self { variables, spans: vec![ABSENT; variables.len()] }
    }

    /// Sets the range of a variable in the path, which is always shorter than 4 GiB.
    pub(super) fn set(&mut self, number: usize, from: usize, to: usize) {
        if let (Some(span), Ok(from), Ok(to)) =
            (self.spans.get_mut(number), u32::try_from(from), u32::try_from(to))
        {
            *span = Span { from, to };
        }
    }

    /// The value of a variable in `path`, which must be the path that was matched.
    pub fn get<'p>(&self, name: &str, path: &'p [u8]) -> Option<&'p [u8]> {
        let number = self.variables.iter().position(|variable| *variable.name == *name)?;
        self.value(number, path)
    }

    /// The value of the variable of this number, counted from 0 in the order of the route.
    pub fn value<'p>(&self, number: usize, path: &'p [u8]) -> Option<&'p [u8]> {
        let span = self.spans.get(number)?;
        path.get(span.from as usize..span.to as usize)
    }

    /// The variables that have a value, in the order of the route.
    pub fn iter<'p>(&self, path: &'p [u8]) -> impl Iterator<Item = (&'a Variable, &'p [u8])> {
        let pairs = self.variables.iter().zip(&self.spans);
        pairs.filter_map(|(variable, span)| {
            Some((variable, path.get(span.from as usize..span.to as usize)?))
        })
    }

    /// Whether the route has no variables.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}
