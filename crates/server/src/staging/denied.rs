//! What the account of this process may not do with the files of a plan, according to the kernel,
//! and how that can be changed.

use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access as Mode, access};
use rustix::io::Errno;
use vervet_config::{Diagnostic, Diagnostics, Severity, Span};

use crate::plan::Plan;
use crate::resources::{Access, Need};
use crate::settings::Document;

/// The account that a server runs as, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name of the user, or its number.
    pub user: String,
    /// The number of its primary group.
    pub gid: u32,
}

/// What an account lacks.
#[derive(Debug, PartialEq, Eq)]
enum Denial {
    /// A folder on the way cannot be entered.
    Enter(PathBuf),
    /// The file cannot be read.
    Read(PathBuf),
    /// The file, or the folder, cannot be written.
    Write(PathBuf),
}

impl Denial {
    /// What keeps this process from using a path; `None` if nothing does, or the path is missing.
    fn of(path: &Path, wanted: Access) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        let mut folders = folders.into_iter().rev();
        if let Some(folder) = folders.find(|folder| is_denied(folder, Mode::EXEC_OK)) {
            return Some(Self::Enter(folder.to_owned()));
        }
        let is_folder = path.is_dir();
        match wanted {
            Access::Read if is_folder => {
                is_denied(&path, Mode::EXEC_OK).then_some(Self::Enter(path))
            }
            Access::Read => is_denied(&path, Mode::READ_OK).then_some(Self::Read(path)),
            Access::Write if is_folder => {
                is_denied(&path, Mode::WRITE_OK | Mode::EXEC_OK).then_some(Self::Write(path))
            }
            Access::Write => is_denied(&path, Mode::WRITE_OK).then_some(Self::Write(path)),
        }
    }

    /// What the account cannot do, and a command that allows it.
    fn sentence(&self, account: &Account) -> String {
        let Account { user, gid } = account;
        let path = Shell(match self {
            Self::Enter(path) | Self::Read(path) | Self::Write(path) => path,
        });
        match self {
            Self::Enter(_) => format!("{user} cannot enter the folder {path}: chmod o+x {path}"),
            Self::Read(_) => {
                format!("{user} cannot read {path}: chgrp {gid} {path} && chmod g+r {path}")
            }
            Self::Write(_) => format!("{user} cannot write to {path}: chown {user} {path}"),
        }
    }
}

/// A path as a shell takes it.
struct Shell<'p>(&'p Path);

impl fmt::Display for Shell<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.to_string_lossy().replace(char::is_control, "?");
        let is_plain =
            |character: char| character.is_alphanumeric() || "/._-+@:,".contains(character);
        if path.chars().all(is_plain) {
            return formatter.write_str(&path);
        }
        write!(formatter, "'{}'", path.replace('\'', "'\\''"))
    }
}

fn is_denied(path: &Path, mode: Mode) -> bool {
    matches!(access(path, mode), Err(Errno::ACCESS | Errno::PERM))
}

/// What the account of this process lacks to write to a folder, and a command that allows it;
/// `None` if it lacks nothing.
pub fn unwritable(folder: &Path, account: &Account) -> Option<String> {
    Some(Denial::of(folder, Access::Write)?.sentence(account))
}

/// What the account of this process lacks to read a file, and a command that allows it; `None` if
/// it lacks nothing.
pub fn unreadable(file: &Path, account: &Account) -> Option<String> {
    Some(Denial::of(file, Access::Read)?.sentence(account))
}

/// What a plan needs of the account of this process.
#[derive(Debug)]
pub struct Denials {
    needs: Vec<Need>,
    account: Account,
}

impl Plan {
    /// What this plan needs of the account of this process.
    pub fn denials(&self, account: &Account) -> Denials {
        Denials { needs: self.needs().paths, account: account.clone() }
    }
}

impl Denials {
    /// Adds to errors what the account lacks at the paths that they are about.
    #[must_use]
    pub fn explain(&self, found: &Diagnostics) -> Diagnostics {
        let explained = |one: &Diagnostic| {
            let is_its = |need: &&Need| need.span == one.span && one.severity == Severity::Error;
            let mut needs = self.needs.iter().filter(is_its);
            match needs.find_map(|need| Denial::of(&need.path, need.access)) {
                Some(denial) => one.clone().note(denial.sentence(&self.account)),
                None => one.clone(),
            }
        };
        found.iter().map(explained).collect()
    }
}

/// Finds log files that could not be opened, without creating any.
pub(super) fn check_log_files(document: &Document) -> Diagnostics {
    let files = document.log.iter().map(|(_, log)| &log.file);
    let files = files.chain([&document.error_log.file]);
    files.filter_map(|file| log_file_problem(file.value().as_ref()?, file.span())).collect()
}

fn log_file_problem(file: &Path, span: Span) -> Option<Diagnostic> {
    let folder = file.parent().filter(|folder| *folder != "").unwrap_or(Path::new("."));
    if !folder.exists() && !is_denied(folder, Mode::EXISTS) {
        let folder = folder.display();
        let message = format!("the directory {folder} of the log file does not exist");
        return Some(Diagnostic::error(span, message));
    }
    let path = if file.exists() { file } else { folder };
    Denial::of(path, Access::Write)?;
    let message = format!("cannot open {}: permission denied", file.display());
    Some(Diagnostic::error(span, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let account = Account { user: "www-data".to_owned(), gid: 33 };
        let check = |denial: Denial, expected: &str| {
            assert_eq!(denial.sentence(&account), expected);
        };
        check(
            Denial::Enter("/root".into()),
            "www-data cannot enter the folder /root: chmod o+x /root",
        );
        check(
            Denial::Read("/etc/users".into()),
            "www-data cannot read /etc/users: chgrp 33 /etc/users && chmod g+r /etc/users",
        );
        check(
            Denial::Write("/var/my logs".into()),
            "www-data cannot write to '/var/my logs': chown www-data '/var/my logs'",
        );
    }

    #[test]
    fn what_is_missing_is_not_denied() {
        for wanted in [Access::Read, Access::Write] {
            assert_eq!(Denial::of(Path::new("/no such folder/file"), wanted), None);
        }
    }
}
