//! A condition on a request header.

use regex::bytes::Regex;
use vervet_http::field::{Fields, Known};

use super::flaw::Flaw;
use super::path_regex;

/// A test of the lines of a header.
#[derive(Debug, Clone)]
pub enum FieldTest {
    /// The header is present, with any value.
    Present,
    /// The request does not have the header.
    Absent,
    /// A line of the header has exactly this value.
    Is(Box<[u8]>),
    /// A line of the header matches this regular expression.
    Matches(Regex),
}

/// A condition on a request header.
#[derive(Debug, Clone)]
pub struct FieldRule {
    name: Box<str>,
    known: Option<Known>,
    test: FieldTest,
}

impl FieldRule {
    /// A rule for the field `name`, compared without regard to case.
    pub fn new(name: &str, test: FieldTest) -> Result<Self, Flaw> {
        let is_token_byte =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            let message =
                "invalid header name: expected letters, digits and hyphens, without a colon";
            return Err(Flaw::new(0..name.len(), message));
        }
        Ok(Self { known: Known::lookup(name.as_bytes()), name: Box::from(name), test })
    }

    /// Whether the headers of a request satisfy the condition.
    pub fn fits(&self, fields: &Fields<'_>) -> bool {
        match self.known {
            Some(known) => self.fits_any(fields.all(known)),
            None => self.fits_any(fields.named(&self.name)),
        }
    }

    fn fits_any<'v>(&self, mut values: impl Iterator<Item = &'v [u8]>) -> bool {
        match &self.test {
            FieldTest::Present => values.next().is_some(),
            FieldTest::Absent => values.next().is_none(),
            FieldTest::Is(wanted) => values.any(|value| *value == **wanted),
            FieldTest::Matches(regex) => values.any(|value| regex.is_match(value)),
        }
    }
}

impl FieldTest {
    /// A test by regular expression, found anywhere in the value unless it is anchored. Classes are
    /// of ASCII.
    pub fn matching(regex: &str) -> Result<Self, Flaw> {
        path_regex::build(regex).map(Self::Matches)
    }
}
