//! Checks of responses. A [`Check`] is plain data; [`ContentCheck`] checks one response as it
//! arrives.

use std::fmt;
use std::sync::Arc;

use memchr::memmem::Finder;
use sha2::{Digest, Sha256};
use vervet_report::ErrorClass;

/// Checks that a response must pass to be successful; `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// The statuses that are right.
    pub status: StatusSet,
    /// The expected length of the content in bytes.
    pub length: Option<u64>,
    /// SHA-256 of the content.
    pub sha256: Option<[u8; 32]>,
    /// Bytes that the content must contain.
    pub text: Option<Arc<[u8]>>,
}

impl Check {
    /// The checks in words, for a report.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![format!("status {}", self.status)];
        if let Some(length) = self.length {
            sentences.push(format!("the body has {length} bytes"));
        }
        if let Some(sha256) = &self.sha256 {
            sentences.push(format!("the body has SHA-256 {}", hex(sha256)));
        }
        if let Some(text) = &self.text {
            sentences.push(format!("the body contains \"{}\"", text.escape_ascii()));
        }
        sentences
    }

    fn reads_content(&self) -> bool {
        self.sha256.is_some() || self.text.is_some()
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('?');
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

/// A set of final statuses. By default all from 200 to 399, as everywhere in this field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusSet {
    ranges: Vec<(u16, u16)>,
}

impl StatusSet {
    /// Reads `200`, `200,204`, `200-299`, `2xx` and lists of them.
    pub fn parse(text: &str) -> Option<Self> {
        let ranges = text.split(',').map(|part| Self::range(part.trim()));
        Some(Self { ranges: ranges.collect::<Option<_>>()? })
    }

    fn range(text: &str) -> Option<(u16, u16)> {
        let status = |text: &str| {
            let status = text.parse::<u16>().ok()?;
            (200..=599).contains(&status).then_some(status)
        };
        if let Some(hundreds) = text.strip_suffix("xx") {
            let first = status(&format!("{hundreds}00"))?;
            return Some((first, first + 99));
        }
        match text.split_once('-') {
            Some((from, to)) => {
                let (from, to) = (status(from)?, status(to)?);
                (from <= to).then_some((from, to))
            }
            None => status(text).map(|status| (status, status)),
        }
    }

    /// Whether a status is one of them.
    pub fn contains(&self, status: u16) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|(from, to)| (*from..=*to).contains(&status))
    }
}

impl Default for StatusSet {
    fn default() -> Self {
        Self { ranges: vec![(200, 399)] }
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (from, to)) in self.ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            if from == to {
                write!(f, "{comma}{from}")?;
            } else {
                write!(f, "{comma}{from} to {to}")?;
            }
        }
        Ok(())
    }
}

/// A check that is prepared for use on each response.
#[derive(Debug)]
pub(crate) struct CompiledCheck {
    check: Check,
    finder: Option<Finder<'static>>,
}

impl CompiledCheck {
    pub(crate) fn new(check: Check) -> Self {
        let finder = check.text.as_ref().map(|text| Finder::new(text).into_owned());
        Self { check, finder }
    }

    /// The state for checking a body as it arrives; `None` if the body is not checked.
    pub(crate) fn judging(&self) -> Option<Box<ContentCheck>> {
        self.check.reads_content().then(Box::default)
    }

    /// Whether a complete response passes the check.
    pub(crate) fn verdict(
        &self,
        status: u16,
        content_bytes: u64,
        judging: Option<&ContentCheck>,
    ) -> Result<(), ErrorClass> {
        let check = &self.check;
        if !check.status.contains(status) {
            return Err(ErrorClass::WrongStatus);
        }
        let length_is_right = check.length.is_none_or(|length| length == content_bytes);
        let content_is_right = judging.is_none_or(|judging| {
            let hash = || <[u8; 32]>::from(judging.hash.clone().finalize());
            let found = self.finder.is_none() || judging.found;
            found && check.sha256.is_none_or(|sha256| sha256 == hash())
        });
        if length_is_right && content_is_right { Ok(()) } else { Err(ErrorClass::WrongContent) }
    }

    /// Takes a piece of content.
    pub(crate) fn read(&self, judging: &mut ContentCheck, piece: &[u8]) {
        if self.check.sha256.is_some() {
            judging.hash.update(piece);
        }
        let Some(finder) = &self.finder else { return };
        if judging.found {
            return;
        }
        // What is looked for may lie across two pieces: the end of the last one stays.
        judging.end.extend_from_slice(piece);
        judging.found = finder.find(&judging.end).is_some();
        let keep = finder.needle().len().saturating_sub(1);
        let drop = judging.end.len().saturating_sub(keep);
        judging.end.drain(..drop);
    }
}

/// The state for checking the body of one response.
#[derive(Debug, Default)]
pub(crate) struct ContentCheck {
    hash: Sha256,
    found: bool,
    end: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &[u8] = b"Hello, world\n";

    fn verdict(check: &Check, status: u16, pieces: &[&[u8]]) -> Result<(), ErrorClass> {
        let ready = CompiledCheck::new(check.clone());
        let mut judging = ready.judging();
        for piece in pieces {
            if let Some(judging) = &mut judging {
                ready.read(judging, piece);
            }
        }
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        ready.verdict(status, bytes, judging.as_deref())
    }

    #[test]
    fn finds_what_is_wrong_with_an_answer() {
        let check = |change: &dyn Fn(&mut Check)| {
            let mut check = Check::default();
            change(&mut check);
            check
        };
        let text = |text: &[u8]| Some(Arc::from(text));
        let sha256 = |content: &[u8]| Some(Sha256::digest(content).into());
        let wrong = Err(ErrorClass::WrongContent);
        for (check, status, pieces, expected) in [
            (check(&|_| ()), 404, &[WORLD][..], Err(ErrorClass::WrongStatus)),
            (check(&|check| check.length = Some(12)), 200, &[WORLD], wrong),
            (check(&|check| check.text = text(b"welt")), 200, &[WORLD], wrong),
            (check(&|check| check.sha256 = sha256(b"else")), 200, &[WORLD], wrong),
            (check(&|check| check.text = text(b"x")), 200, &[], wrong),
            (check(&|_| ()), 200, &[WORLD], Ok(())),
            (check(&|check| check.length = Some(13)), 302, &[WORLD], Ok(())),
            (check(&|check| check.text = text(b"lo, wo")), 200, &[WORLD], Ok(())),
            (
                check(&|check| check.text = text(b"lo, wo")),
                200,
                &[b"Hel", b"lo", b",", b" world"],
                Ok(()),
            ),
            (check(&|check| check.sha256 = sha256(WORLD)), 200, &[b"Hello,", b" world\n"], Ok(())),
        ] {
            assert_eq!(verdict(&check, status, pieces), expected, "{check:?}");
        }
    }

    #[test]
    fn reads_sets_of_statuses() {
        for wrong in ["", "x", "99", "600", "300-200", "1xx", "200,,204", "20x"] {
            assert_eq!(StatusSet::parse(wrong), None, "{wrong:?}");
        }
        for (text, shown, inside, outside) in [
            ("200", "200", 200, 201),
            ("2xx", "200 to 299", 299, 300),
            ("200, 301-302", "200, 301 to 302", 302, 303),
        ] {
            let set = StatusSet::parse(text).unwrap();
            assert_eq!(set.to_string(), shown);
            assert!(set.contains(inside) && !set.contains(outside), "{text}");
        }
    }
}
