//! The format of user files: a line `name:hash` for each user, as `vervet passwd` and `htpasswd`
//! write them.
//!
//! Empty lines and lines that begin with `#` are ignored; the text after a second colon is a
//! comment, as with nginx.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::stored_hash::{OldHashes, StoredHash, StoredHashError};
use crate::files::{ReadError, read_regular};

/// The largest user file, in bytes: some fifty thousand users.
pub const USER_FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The longest name, in bytes.
pub const USER_NAME_BYTES_MAX: usize = 255;

/// Why a user file cannot be used; the fault of its owner.
#[derive(Debug)]
pub struct UserFileError {
    /// The path of the user file.
    pub path: PathBuf,
    /// The error in the file.
    pub problem: UserFileProblem,
}

/// An error in a user file.
#[derive(Debug)]
pub enum UserFileProblem {
    /// The file cannot be read, is not a regular file or larger than [`USER_FILE_BYTES_MAX`].
    Read(ReadError),
    /// Not UTF-8 in this line, counted from 1.
    NotUtf8(usize),
    /// A line without a colon.
    NoColon(usize),
    /// A line with an invalid name.
    Name(usize, UserNameError),
    /// A line with the same name as an earlier line, which is the second number.
    Twice(usize, usize),
    /// A line with an invalid hash.
    Hash(usize, StoredHashError),
}

/// Why a text is not a user name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserNameError {
    /// The name is empty.
    Empty,
    /// The name is longer than [`USER_NAME_BYTES_MAX`].
    TooLong,
    /// A colon, which would end the name (RFC 7617 §2).
    Colon,
    /// The name contains a control character.
    Control,
    /// A `#` at the beginning, which begins a comment.
    Comment,
}

/// Checks a user name.
pub fn check_user_name(name: &str) -> Result<(), UserNameError> {
    match name {
        "" => Err(UserNameError::Empty),
        _ if name.len() > USER_NAME_BYTES_MAX => Err(UserNameError::TooLong),
        _ if name.contains(':') => Err(UserNameError::Colon),
        _ if name.chars().any(char::is_control) => Err(UserNameError::Control),
        _ if name.starts_with('#') => Err(UserNameError::Comment),
        _ => Ok(()),
    }
}

/// Reads the content of a user file: the names in order, with their hashes.
pub fn parse_user_file(
    content: &[u8],
    old: OldHashes,
) -> Result<Vec<(String, StoredHash)>, UserFileProblem> {
    let mut users = Vec::new();
    let mut lines_of = HashMap::new();
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let line = str::from_utf8(line).map_err(|_| UserFileProblem::NotUtf8(number))?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, rest) = line.split_once(':').ok_or(UserFileProblem::NoColon(number))?;
        check_user_name(name).map_err(|error| UserFileProblem::Name(number, error))?;
        let text = rest.split_once(':').map_or(rest, |(text, _comment)| text);
        let hash =
            StoredHash::parse(text, old).map_err(|error| UserFileProblem::Hash(number, error))?;
        if let Some(earlier) = lines_of.insert(name, number) {
            return Err(UserFileProblem::Twice(number, earlier));
        }
        users.push((name.to_owned(), hash));
    }
    Ok(users)
}

/// Reads a user file.
pub(super) fn read_user_file(
    path: &Path,
    old: OldHashes,
) -> Result<Vec<(String, StoredHash)>, UserFileError> {
    let error = |problem| UserFileError { path: path.to_owned(), problem };
    let content =
        read_regular(path, USER_FILE_BYTES_MAX).map_err(|io| error(UserFileProblem::Read(io)))?;
    parse_user_file(&content, old).map_err(error)
}

impl UserFileProblem {
    /// The line of the error, counted from 1; `None` if it concerns the whole file.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Read(_) => None,
            Self::NotUtf8(line)
            | Self::NoColon(line)
            | Self::Name(line, _)
            | Self::Twice(line, _)
            | Self::Hash(line, _) => Some(*line),
        }
    }
}

impl fmt::Display for UserFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.problem.line() {
            None => write!(formatter, "cannot use the user file {path}: {}", self.problem),
            Some(line) => {
                write!(formatter, "cannot use the user file {path}, line {line}: {}", self.problem)
            }
        }
    }
}

impl std::error::Error for UserFileError {}

impl fmt::Display for UserFileProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(formatter),
            Self::NotUtf8(_) => formatter.write_str("it is not UTF-8"),
            Self::NoColon(_) => formatter.write_str("expected `name:hash`, found no colon"),
            Self::Name(_, error) => error.fmt(formatter),
            Self::Twice(_, earlier) => {
                write!(formatter, "the name is already on line {earlier}: remove one")
            }
            Self::Hash(_, error) => error.fmt(formatter),
        }
    }
}

impl fmt::Display for UserNameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the name is empty"),
            Self::TooLong => {
                write!(formatter, "the name is longer than {USER_NAME_BYTES_MAX} bytes")
            }
            Self::Colon => formatter.write_str("the name contains a colon, which is not allowed"),
            Self::Control => formatter.write_str("the name has a control character"),
            Self::Comment => formatter.write_str("the name begins with #, which begins a comment"),
        }
    }
}

impl std::error::Error for UserNameError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";

    #[track_caller]
    fn check_error(content: impl AsRef<[u8]>, line: usize, expected: &str) {
        let problem = parse_user_file(content.as_ref(), OldHashes::Allowed).unwrap_err();
        assert_eq!((problem.line(), problem.to_string().as_str()), (Some(line), expected));
    }

    #[track_caller]
    fn check(content: &str, expected: &[&str]) {
        let users = parse_user_file(content.as_bytes(), OldHashes::Allowed).unwrap();
        let names: Vec<_> = users.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected);
        assert!(users.iter().all(|(_, hash)| hash.text() == SHA));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        check_error("ann", 1, "expected `name:hash`, found no colon");
        check_error(format!("\n#\n:{SHA}"), 3, "the name is empty");
        check_error(format!("{}:{SHA}", "x".repeat(256)), 1, "the name is longer than 255 bytes");
        check_error(format!("a\tb:{SHA}"), 1, "the name has a control character");
        check_error(b"a:\xff", 1, "it is not UTF-8");
        check_error(
            format!("ann:{SHA}\nbob:{SHA}\nann:{SHA}\n"),
            3,
            "the name is already on line 1: remove one",
        );
        check_error(
            "ann:secret",
            1,
            "not an Argon2id ($argon2id$...) or bcrypt ($2y$...) hash: set the password with `vervet passwd`",
        );
    }

    #[test]
    fn files_that_are_none_are_not_read() {
        let check = |path: &Path, expected: &str| {
            let found = read_user_file(path, OldHashes::Refused).unwrap_err();
            assert_eq!(found.problem.to_string(), expected, "{found}");
        };
        let tree = vervet_testkit::TempTree::new().sparse("large", USER_FILE_BYTES_MAX + 1);
        check(tree.path(), "not a regular file");
        check(Path::new("/dev/zero"), "not a regular file");
        check(&tree.join("large"), "it is larger than 8 MiB");
        check(&tree.join("none"), "No such file or directory (os error 2)");
    }

    #[test]
    fn lines_are_users_but_for_comments() {
        check("", &[]);
        check(&format!("\n  \n# ann:{SHA}\r\n"), &[]);
        check(&format!("ann:{SHA}\nbob:{SHA}"), &["ann", "bob"]);
        check(&format!("ann:{SHA}:since May: a guest\r\n\u{e4} b:{SHA}\r\n"), &["ann", "\u{e4} b"]);
    }

    #[test]
    fn names_are_checked_alone_too() {
        let check = |name: &str, expected: Result<(), UserNameError>| {
            assert_eq!(check_user_name(name), expected, "{name}");
        };
        check("", Err(UserNameError::Empty));
        check("a:b", Err(UserNameError::Colon));
        check("a\nb", Err(UserNameError::Control));
        check("#a", Err(UserNameError::Comment));
        check(&"x".repeat(USER_NAME_BYTES_MAX), Ok(()));
        check("ann", Ok(()));
        check("Ann Ä #1", Ok(()));
    }
}
