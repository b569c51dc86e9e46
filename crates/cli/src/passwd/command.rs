//! `vervet passwd`: adds, changes, removes and lists users of a password file.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::fmt;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use vervet_server::filters::basic_auth::{
    BCRYPT_COST_MAX, HashError, UserNameError, check_user_name, hash_argon2id, hash_bcrypt,
};

use super::file::{Change, UserFile, UserFilePath};
use crate::console;
use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  vervet passwd users ann                    add ann, or change her password
  printf %s \"$SECRET\" | vervet passwd users ann
  vervet passwd users ann --bcrypt           for files that nginx or Apache also read
  vervet passwd users ann --remove
  vervet passwd users --list

On a terminal the password is prompted for twice; otherwise it is the first line
of standard input. A running server picks up a changed file within a second.

A new file has mode 640: its group can read it. If root creates it for a server
that runs as another account: chgrp ACCOUNT users";

/// The arguments of `vervet passwd`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PasswdArguments {
    /// Password file with one user per line; created if it does not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// User to add, change or remove
    #[arg(value_name = "USER", required_unless_present = "list", conflicts_with = "list")]
    user: Option<String>,
    /// Remove the user
    #[arg(long, conflicts_with_all = ["list", "bcrypt"])]
    remove: bool,
    /// Print the names of all users
    #[arg(long)]
    list: bool,
    /// Hash with bcrypt instead of Argon2id
    #[arg(long, conflicts_with = "list")]
    bcrypt: bool,
    /// Cost of bcrypt; each increment doubles the time of a login
    #[arg(long, value_name = "N", default_value_t = 12, requires = "bcrypt",
        value_parser = clap::value_parser!(u32).range(4..=i64::from(BCRYPT_COST_MAX)))]
    cost: u32,
}

/// Why it was not done.
#[derive(Debug)]
pub(crate) enum PasswdError {
    /// The name cannot be one of a user.
    Name(String, UserNameError),
    /// The two passwords are not the same.
    Differs,
    /// No password.
    Empty,
    /// More bytes than this.
    TooLong(usize),
    /// A control character in it.
    Control,
    /// The bytes are not valid UTF-8.
    NotUtf8,
    /// Neither terminal nor standard input gave one.
    Read(io::Error),
    /// It could not be hashed.
    Hash(HashError),
    /// The file could not be read, locked or replaced.
    File(PathBuf, &'static str, io::Error),
    /// The user to remove does not exist.
    NoUser(PathBuf, String),
}

/// Runs the command.
pub(crate) fn passwd(arguments: &PasswdArguments) -> Result<ExitCode, Failure> {
    let path = &arguments.file;
    match &arguments.user {
        Some(user) if arguments.remove => remove(path, user)?,
        Some(user) => set(path, user, arguments)?,
        None => {
            let names = UserFile::read(path)?.names().join("\n");
            let end = if names.is_empty() { "" } else { "\n" };
            console::print(&format!("{names}{end}")).map_err(Failure::Output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn set(path: &Path, user: &str, arguments: &PasswdArguments) -> Result<(), PasswdError> {
    check_user_name(user).map_err(|error| PasswdError::Name(user.to_owned(), error))?;
    // Before anything is typed: it would be in vain.
    UserFilePath::resolve(path)?;
    let password = read_password(user)?;
    let entry = if arguments.bcrypt {
        hash_bcrypt(&password, arguments.cost)
    } else {
        hash_argon2id(&password)
    };
    let entry = entry.map_err(PasswdError::Hash)?;
    let place = UserFilePath::resolve(path)?;
    let _alone = place.lock()?;
    let mut file = UserFile::read_or_empty(path)?;
    let change = file.set(user, &entry);
    let is_new = !path.exists();
    place.replace(file.content())?;
    let shown = path.display();
    match change {
        Change::Added => console::message(format_args!("added {user} to {shown}")),
        Change::Changed => {
            console::message(format_args!("changed the password of {user} in {shown}"));
        }
    }
    if is_new && is_for_root_only(path) {
        console::message(format_args!(
            "note: only root can read {shown}: for a server with user = \"www-data\", \
             run `chgrp www-data {shown}`"
        ));
    }
    Ok(())
}

/// Whether a new file belongs to root and its group: a server that drops its privileges cannot read
/// it.
fn is_for_root_only(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| (metadata.uid(), metadata.gid()) == (0, 0))
}

fn remove(path: &Path, user: &str) -> Result<(), PasswdError> {
    let place = UserFilePath::resolve(path)?;
    let _alone = place.lock()?;
    let mut file = UserFile::read(path)?;
    if !file.remove(user) {
        return Err(PasswdError::NoUser(path.to_owned(), user.to_owned()));
    }
    place.replace(file.content())?;
    console::message(format_args!("removed {user} from {}", path.display()));
    Ok(())
}

impl fmt::Display for PasswdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, error) => {
                write!(f, "invalid user name \"{}\": {error}", name.escape_debug())
            }
            Self::Differs => f.write_str("the two passwords differ; nothing was changed"),
            Self::Empty => f.write_str("the password is empty; nothing was changed"),
            Self::TooLong(most) => write!(f, "the password is longer than {most} bytes"),
            Self::Control => {
                f.write_str("the password has a control character, which browsers cannot send")
            }
            Self::NotUtf8 => f.write_str("the password is not valid UTF-8"),
            Self::Read(error) => write!(f, "cannot read the password: {error}"),
            Self::Hash(error) => error.fmt(f),
            Self::File(path, what, error) => write!(f, "cannot {what} {}: {error}", path.display()),
            Self::NoUser(path, user) => write!(f, "user {user} not found in {}", path.display()),
        }
    }
}

/// The maximum length of a password in bytes, as in the credentials of a request.
const PASSWORD_BYTES_MAX: usize = 1024;

/// Reads the password of a user: twice on a terminal, which does not show it, otherwise from the
/// first line of standard input.
fn read_password(user: &str) -> Result<String, PasswdError> {
    let password = if io::stdin().is_terminal() {
        let typed = rpassword::prompt_password(format!("New password for {user}: "));
        let typed = typed.map_err(PasswdError::Read)?;
        let again =
            rpassword::prompt_password("Repeat the password: ").map_err(PasswdError::Read)?;
        if typed != again {
            return Err(PasswdError::Differs);
        }
        typed
    } else {
        read_line()?
    };
    check_password(&password)?;
    Ok(password)
}

fn read_line() -> Result<String, PasswdError> {
    let mut line = Vec::new();
    // One byte more tells a line that is too long from one that fits, with room for its end.
    let mut input = io::stdin().lock().take(PASSWORD_BYTES_MAX as u64 + 3);
    input.read_until(b'\n', &mut line).map_err(PasswdError::Read)?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8(line.to_vec()).map_err(|_| PasswdError::NotUtf8)
}

fn check_password(password: &str) -> Result<(), PasswdError> {
    match password {
        "" => Err(PasswdError::Empty),
        _ if password.len() > PASSWORD_BYTES_MAX => Err(PasswdError::TooLong(PASSWORD_BYTES_MAX)),
        // RFC 7617 §2: credentials hold none.
        _ if password.chars().any(char::is_control) => Err(PasswdError::Control),
        _ => Ok(()),
    }
}
