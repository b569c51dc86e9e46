//! Standard error is for talk, standard output for data. Neither has to be there: a server outlives
//! its terminal.

use std::fmt;
use std::io::{self, Write as _};

/// Prints a line for the user to standard error.
pub(crate) fn message(text: fmt::Arguments<'_>) {
    let line = format!("vervet: {text}\n");
    // A closed standard error must not end the server, and there is nobody else to tell.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Prints a block of complete lines.
pub(crate) fn message_block(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes data to standard output; a reader that closed the pipe is not an error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
