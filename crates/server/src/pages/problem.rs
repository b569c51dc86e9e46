//! A problem of a page: the file, the line, its text, and the remedy.

use std::error::Error as _;
use std::fmt;
use std::path::{Path, PathBuf};

use minijinja::{Error, ErrorKind};

/// Lines shown before and after the one with the problem.
const EXCERPT_AROUND: usize = 3;

/// The longest line of an excerpt, in characters; a minified file is one line.
const EXCERPT_CHARACTERS_MAX: usize = 240;

/// A problem of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageProblem {
    /// The file of the template.
    pub file: PathBuf,
    /// The line, counted from 1; 0 where the problem is of the file as a whole.
    pub line: usize,
    /// The column in characters, counted from 1; 0 where there is no line.
    pub column: usize,
    /// A description of the problem.
    pub message: String,
    /// The lines around it, with their numbers.
    pub excerpt: Vec<(usize, String)>,
}

impl fmt::Display for PageProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, .. } = self;
        match line {
            0 => write!(formatter, "{}: {message}", file.display()),
            _ => write!(formatter, "{}:{line}:{column}: {message}", file.display()),
        }
    }
}

impl std::error::Error for PageProblem {}

/// A template whose problems are reported: its file and its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl PageProblem {
    /// A problem of a file as a whole, or, without a name, of the folder.
    pub(crate) fn in_file(folder: &Path, name: &str, message: impl Into<String>) -> Self {
        Self {
            file: if name.is_empty() { folder.to_owned() } else { folder.join(name) },
            line: 0,
            column: 0,
            message: message.into(),
            excerpt: Vec::new(),
        }
    }

    /// A problem at a byte of a template.
    pub(crate) fn at(origin: Origin<'_>, offset: usize, message: impl Into<String>) -> Self {
        let before = origin.text.get(..offset).unwrap_or(origin.text);
        let line = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: origin.folder.join(origin.name),
            line,
            column: before[begin..].chars().count() + 1,
            message: message.into(),
            excerpt: excerpt(origin.text, line),
        }
    }

    /// What the template engine says of a template, as far in as it can tell.
    ///
    /// `text_of` gives the text of a template by its name.
    pub(crate) fn from_error<'a>(
        error: &Error,
        folder: &Path,
        text_of: impl Fn(&str) -> Option<&'a str>,
    ) -> Self {
        let innermost = innermost(error);
        let message = message(innermost);
        let Some(name) = innermost.name() else {
            return Self::in_file(folder, "", message);
        };
        let Some(text) = text_of(name) else {
            return Self::in_file(folder, name, message);
        };
        let origin = Origin { folder, name, text };
        match (innermost.range(), innermost.line()) {
            (Some(range), _) => Self::at(origin, range.start, message),
            (None, Some(line)) => Self::at(origin, offset_of_line(text, line), message),
            (None, None) => Self::in_file(folder, name, message),
        }
    }
}

/// The error of the template in which it arose: those that include it only say that they could not.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) = innermost.source().and_then(|inner| inner.downcast_ref::<Error>()) {
        if inner.name().is_none() {
            break;
        }
        innermost = inner;
    }
    innermost
}

fn message(error: &Error) -> String {
    match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, None) => {
            "the value whose attribute or item is used is undefined".to_owned()
        }
        (ErrorKind::SyntaxError | ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    }
}

fn offset_of_line(text: &str, line: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    before.map(str::len).sum()
}

fn excerpt(text: &str, line: usize) -> Vec<(usize, String)> {
    let first = line.saturating_sub(EXCERPT_AROUND).max(1);
    let numbered = text.lines().enumerate().map(|(index, text)| (index + 1, text));
    numbered
        .skip(first - 1)
        .take_while(|(number, _)| *number <= line + EXCERPT_AROUND)
        .map(|(number, text)| (number, text.chars().take(EXCERPT_CHARACTERS_MAX).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: usize, expected: (usize, usize)) {
        let origin = Origin { folder: Path::new("/t"), name: "a.html", text };
        let problem = PageProblem::at(origin, offset, "wrong");
        assert_eq!((problem.line, problem.column), expected, "{text:?}");
        let (line, column) = expected;
        assert_eq!(problem.to_string(), format!("/t/a.html:{line}:{column}: wrong"));
    }

    #[test]
    fn places_are_counted_as_editors_do() {
        check("", 0, (1, 1));
        check("abc", 2, (1, 3));
        check("a\nbc", 2, (2, 1));
        check("a\nbc", 3, (2, 2));
        check("äö\nüx", 7, (2, 2));
        check("abc", 99, (1, 4));
    }

    #[test]
    fn the_lines_around_are_shown() {
        let lines: Vec<_> = (1..=20).map(|line| format!("line {line}")).collect();
        let text = lines.join("\n");
        let numbers =
            |line| excerpt(&text, line).iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!(numbers(1), [1, 2, 3, 4]);
        assert_eq!(numbers(10), [7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(numbers(20), [17, 18, 19, 20]);
        assert_eq!(excerpt(&"x".repeat(1000), 1)[0].1.len(), EXCERPT_CHARACTERS_MAX);
    }
}
