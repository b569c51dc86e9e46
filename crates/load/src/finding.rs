//! Errors in input files and texts: file, position, what was expected, and the nearest known name.
//! Every parser of this crate returns all errors at once; the caller prints them.

use std::fmt;

/// The maximum number of reported mistakes in one text; further ones are only counted.
pub const FINDINGS_MAX: usize = 100;

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the file, or of an option such as `--field`.
    pub file: String,
    /// Where, if it has a position.
    pub position: Option<Position>,
    /// What is wrong, the thing named, and what was expected.
    pub message: String,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line number, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of a byte of `text`; one beyond its end is the end.
    pub fn at(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(Position { line, column }) => {
                write!(formatter, "{}:{line}:{column}: {}", self.file, self.message)
            }
            None => write!(formatter, "{}: {}", self.file, self.message),
        }
    }
}

/// Mistakes of one text as they are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    file: String,
    found: Vec<Finding>,
    untold: usize,
}

impl Findings {
    /// No findings yet, in a file.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), found: Vec::new(), untold: 0 }
    }

    /// Name of the file that they are about.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Adds one at a position.
    pub fn at(&mut self, position: Position, message: impl Into<String>) {
        self.add(Some(position), message.into());
    }

    /// Adds one that has no position.
    pub fn whole(&mut self, message: impl Into<String>) {
        self.add(None, message.into());
    }

    /// Adds a finding, unless the position has the same one.
    fn add(&mut self, position: Option<Position>, message: String) {
        let is_known = |known: &Finding| known.position == position && known.message == message;
        if self.found.iter().any(is_known) {
            return;
        }
        if self.found.len() == FINDINGS_MAX {
            self.untold += 1;
            return;
        }
        self.found.push(Finding { file: self.file.clone(), position, message });
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// `value` if nothing was found, otherwise the mistakes in the order of their places.
    pub fn or<T>(mut self, value: T) -> Result<T, Vec<Finding>> {
        if self.found.is_empty() {
            return Ok(value);
        }
        self.found.sort_by_key(|finding| finding.position);
        if self.untold > 0 {
            let message = format!("{} more errors are not shown", self.untold);
            self.found.push(Finding { file: self.file, position: None, message });
        }
        Err(self.found)
    }
}

/// ` (did you mean "x"?)` for the known name nearest to `given`; empty if none is near.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = vervet_config::nearest(given, known);
    near.map_or(String::new(), |name| format!(" (did you mean \"{name}\"?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let check = |text: &str, offset, expected: (usize, usize)| {
            let position = Position::at(text, offset);
            assert_eq!((position.line, position.column), expected, "{text:?} at {offset}");
        };
        check("", 0, (1, 1));
        check("ab", 99, (1, 3));
        check("ä=1\nöb", 3, (1, 3));
        check("ä=1\nöb", 1, (1, 1));
        check("ä=1\nöb", 7, (2, 2));
        check("a\n", 2, (2, 1));
    }

    #[test]
    fn mistakes_come_sorted_and_bounded() {
        let mut findings = Findings::new("a.txt");
        for line in (1..=FINDINGS_MAX + 3).rev() {
            findings.at(Position { line, column: 1 }, "odd");
        }
        let found = findings.or(()).unwrap_err();
        assert_eq!(found.len(), FINDINGS_MAX + 1);
        assert_eq!(found[0].to_string(), "a.txt:4:1: odd");
        assert_eq!(found[FINDINGS_MAX].to_string(), "a.txt: 3 more errors are not shown");
        assert_eq!(Findings::new("a.txt").or(7), Ok(7));
    }

    #[test]
    fn the_nearest_name_is_suggested_only_when_near() {
        let known = ["method", "target", "think"];
        assert_eq!(did_you_mean("methud", known), " (did you mean \"method\"?)");
        assert_eq!(did_you_mean("colour", known), "");
        assert_eq!(did_you_mean("", known), "");
        assert_eq!(did_you_mean("x", []), "");
    }
}
