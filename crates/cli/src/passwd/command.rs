//! `vervet passwd`: adds, changes, removes and lists users of a password file.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use vervet_server::filters::basic_auth::{
    BCRYPT_COST_MAX, HashError, UserNameError, check_user_name, hash_argon2id, hash_bcrypt,
};

use super::file::{Change, Place, UserFile};
use super::prompt;
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
of standard input. A running server picks up a changed file within a second.";

/// The arguments of `vervet passwd`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PasswdArguments {
    /// Password file with one user per line; created if it does not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// User to add, change or remove
    #[arg(
        value_name = "USER",
        required_unless_present = "list",
        conflicts_with = "list"
    )]
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
    /// There is no such user to remove.
    NoUser(PathBuf, String),
}

/// Does what is asked.
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
    Place::of(path)?;
    let password = prompt::password(user)?;
    let entry = if arguments.bcrypt {
        hash_bcrypt(&password, arguments.cost)
    } else {
        hash_argon2id(&password)
    };
    let entry = entry.map_err(PasswdError::Hash)?;
    let place = Place::of(path)?;
    let _alone = place.lock()?;
    let mut file = UserFile::read_or_empty(path)?;
    let change = file.set(user, &entry);
    place.replace(file.content())?;
    let path = path.display();
    match change {
        Change::Added => console::message(format_args!("added {user} to {path}")),
        Change::Changed => {
            console::message(format_args!("changed the password of {user} in {path}"))
        }
    }
    Ok(())
}

fn remove(path: &Path, user: &str) -> Result<(), PasswdError> {
    let place = Place::of(path)?;
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
                f.write_str("the password has a control character, which no browser can send")
            }
            Self::NotUtf8 => f.write_str("the password is not UTF-8"),
            Self::Read(error) => write!(f, "cannot read the password: {error}"),
            Self::Hash(error) => error.fmt(f),
            Self::File(path, what, error) => write!(f, "cannot {what} {}: {error}", path.display()),
            Self::NoUser(path, user) => write!(f, "user {user} not found in {}", path.display()),
        }
    }
}
