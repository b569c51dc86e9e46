//! A program at a terminal: `script` of util-linux gives it one, and what it draws comes out of a
//! pipe.

use std::process::Command;

use crate::skip::find_program;

/// The terminal's kind, unless a test says another: what the environment of the tests says is
/// nobody's concern.
const TERM: &str = "TERM=xterm";

/// A command of the shell at a terminal of its own with so many columns and 24 rows; none where
/// `script` is not installed. Its status is that of the command. What it writes to either stream is
/// on standard output, with CR LF at the ends of lines.
pub fn at_terminal(command: &str, columns: u16) -> Option<Command> {
    let script = find_program("script")?;
    let sized = format!("stty cols {columns} rows 24; export {TERM}; {command}");
    let mut terminal = Command::new(script);
    terminal.env_remove("NO_COLOR");
    terminal.args(["-qec", &sized, "/dev/null"]);
    Some(terminal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, PATIENCE, Stream, skip};

    #[test]
    fn a_command_has_a_terminal_and_its_status_is_told() {
        let command = "test -t 2 && stty size && exit 7";
        let Some(command) = at_terminal(command, 33) else {
            skip!("needs script of util-linux");
        };
        let mut child = Child::spawn(command);
        assert_eq!(child.wait_exit(PATIENCE).code(), Some(7));
        assert_eq!(child.text(Stream::Stdout), "24 33\r\n");
    }
}
