//! Where the password comes from: a terminal that shows nothing of it, or the first line of
//! standard input.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use super::command::PasswdError;

/// The longest password, in bytes: what the server takes in the credentials of a request.
const PASSWORD_BYTES_MAX: usize = 1024;

/// The password for a user. On a terminal it is asked for twice.
pub(super) fn password(user: &str) -> Result<String, PasswdError> {
    let password = if io::stdin().is_terminal() {
        let typed = rpassword::prompt_password(format!("New password for {user}: "));
        let typed = typed.map_err(PasswdError::Read)?;
        let again = rpassword::prompt_password("The same again: ").map_err(PasswdError::Read)?;
        if typed != again {
            return Err(PasswdError::Differs);
        }
        typed
    } else {
        line()?
    };
    check(&password)?;
    Ok(password)
}

fn line() -> Result<String, PasswdError> {
    let mut line = Vec::new();
    // One byte more tells a line that is too long from one that fits, with room for its end.
    let mut input = io::stdin().lock().take(PASSWORD_BYTES_MAX as u64 + 3);
    input
        .read_until(b'\n', &mut line)
        .map_err(PasswdError::Read)?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8(line.to_vec()).map_err(|_| PasswdError::NotUtf8)
}

fn check(password: &str) -> Result<(), PasswdError> {
    match password {
        "" => Err(PasswdError::Empty),
        _ if password.len() > PASSWORD_BYTES_MAX => Err(PasswdError::TooLong(PASSWORD_BYTES_MAX)),
        // RFC 7617 §2: credentials hold none.
        _ if password.chars().any(char::is_control) => Err(PasswdError::Control),
        _ => Ok(()),
    }
}
