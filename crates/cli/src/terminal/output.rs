//! The stream that a view is drawn on, and the capabilities of its terminal.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Once;

use rustix::termios::tcgetwinsize;

/// The control sequence that shows the cursor.
pub(super) const SHOW_CURSOR: &str = "\x1b[?25h";

/// A stream of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// The size of a terminal that does not report it.
const SIZE: Size = Size { columns: 80, rows: 24 };

/// Whether a view has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    Shown,
    /// `NO_COLOR` says so (no-color.org).
    Hidden,
}

impl Output {
    /// Whether it is a terminal that can redraw lines.
    pub(crate) fn is_screen(self) -> bool {
        let is_terminal = match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Stderr => io::stderr().is_terminal(),
        };
        is_terminal && !is_dumb(std::env::var_os("TERM").as_deref())
    }

    /// The current size of the terminal.
    pub(crate) fn size(self) -> Size {
        let size = match self {
            Self::Stdout => tcgetwinsize(io::stdout()),
            Self::Stderr => tcgetwinsize(io::stderr()),
        };
        let known = |size: u16, other: usize| match usize::from(size) {
            0 => other,
            size => size,
        };
        size.map_or(SIZE, |size| Size {
            columns: known(size.ws_col, SIZE.columns),
            rows: known(size.ws_row, SIZE.rows),
        })
    }

    /// Shows the cursor, also if it is visible already.
    pub(crate) fn show_cursor(mut self) {
        // A failure to write to the terminal cannot be reported anywhere.
        let _ = self.write_all(SHOW_CURSOR.as_bytes());
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout => io::stdout().write(bytes),
            Self::Stderr => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout => io::stdout().flush(),
            Self::Stderr => io::stderr().flush(),
        }
    }
}

impl Colours {
    /// The choice of the environment variable `NO_COLOR`.
    pub(crate) fn from_environment() -> Self {
        Self::by(std::env::var_os("NO_COLOR").as_deref())
    }

    fn by(no_color: Option<&OsStr>) -> Self {
        match no_color {
            Some(value) if !value.is_empty() => Self::Hidden,
            _ => Self::Shown,
        }
    }
}

/// Whether the terminal shows control sequences as text, as the shell of an editor does.
fn is_dumb(term: Option<&OsStr>) -> bool {
    term == Some(OsStr::new("dumb"))
}

/// Shows the cursor when the program panics: a release build aborts then, without dropping values.
pub(crate) fn show_cursor_on_panic(output: Output) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let then = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            output.show_cursor();
            then(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_environment_decides() {
        let colours = |value: &str| Colours::by(Some(OsStr::new(value)));
        assert_eq!(Colours::by(None), Colours::Shown);
        assert_eq!(colours(""), Colours::Shown);
        assert_eq!(colours("0"), Colours::Hidden);
        assert!(is_dumb(Some(OsStr::new("dumb"))));
        assert!(!is_dumb(Some(OsStr::new("xterm"))) && !is_dumb(None));
    }

    /// Run by the test below, in a process of its own.
    #[test]
    #[ignore = "panics"]
    fn panics() {
        show_cursor_on_panic(Output::Stderr);
        panic!("as it should");
    }

    #[test]
    fn a_panic_brings_the_cursor_back() {
        let this = std::env::current_exe().unwrap();
        let mut command = Command::new(this);
        let name = concat!(module_path!(), "::panics");
        let name = name.split_once("::").unwrap().1;
        command.args(["--exact", name, "--ignored", "--nocapture"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let (_, after) = said.split_once(SHOW_CURSOR).unwrap();
        assert!(after.contains("as it should"), "{said}");
    }
}
