//! A condition on a field of the request.

use regex::bytes::Regex;
use vervet_http::field::{Fields, Known};

use super::flaw::Flaw;
use super::path_regex;

/// What the value of a field must be.
#[derive(Debug, Clone)]
pub enum FieldTest {
    /// There is such a field, whatever its value.
    Present,
    /// The request has no such field.
    Absent,
    /// A line of it has exactly this value.
    Is(Box<[u8]>),
    /// A line of it has a value in which this is found.
    Matches(Regex),
}

/// A field by name, and what its value must be.
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

    /// Whether the fields of a request are as the rule wants them.
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
