//! Events and their lines, in the format of each kind of target.

use std::io::Write as _;

use vervet_config::words;

use crate::log_sinks::{FIELD_MARK, SEVERITY_MARK, Severity, Target};
use crate::timestamp::utc;

words! {
    /// The severity of an event. Each level includes the more severe ones.
    pub enum Level {
        /// Failures: of a page, a log, a reload.
        Error = "error",
        /// Possible failures, and work that was given up temporarily.
        Warning = "warning",
        /// Start, reload and shutdown.
        Notice = "notice",
        /// Errors of clients.
        Info = "info",
        /// Details for debugging.
        Debug = "debug",
    }
}

impl Level {
    /// All levels, the most severe first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warning, Self::Notice, Self::Info, Self::Debug];

    /// The index in [`Level::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The equivalent of syslog and the journal.
    pub fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Notice => Severity::Notice,
            Self::Info => Severity::Info,
            Self::Debug => Severity::Debug,
        }
    }
}

/// Bytes of the text of an event; longer ones are cut.
const TEXT_BYTES_MAX: usize = 8192;

/// An event of the error log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub(super) level: Level,
    pub(super) kind: &'static str,
    pub(super) text: &'a str,
    /// Milliseconds since 1970.
    pub(super) unix_ms: u64,
}

/// The format of lines for a kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFormat {
    /// With time and level.
    Plain,
    /// With a severity; the target adds the time.
    Syslog,
    /// Fields of an entry, with a severity.
    Journal,
}

impl LineFormat {
    pub(super) fn for_target(target: &Target) -> Self {
        match target {
            Target::Journal(_) => Self::Journal,
            Target::Syslog(_) => Self::Syslog,
            _ => Self::Plain,
        }
    }
}

impl Event<'_> {
    /// Appends the line and its line feed.
    pub(super) fn push(&self, out: &mut Vec<u8>, format: LineFormat) {
        let Self { level, kind, .. } = self;
        // Writing to a Vec does not fail; the same holds below.
        let _ = match format {
            LineFormat::Plain => {
                let time = utc(self.unix_ms / 1000).format("%FT%T");
                let milliseconds = self.unix_ms % 1000;
                write!(out, "{time}.{milliseconds:03}Z {level} {kind}: ")
            }
            LineFormat::Syslog => {
                self.push_severity(out);
                write!(out, "{kind}: ")
            }
            LineFormat::Journal => {
                self.push_severity(out);
                write!(out, "MESSAGE={kind}: ")
            }
        };
        push_one_line(out, self.text);
        if format == LineFormat::Journal {
            out.push(FIELD_MARK);
            let _ = write!(out, "VERVET_KIND={kind}");
        }
        out.push(b'\n');
    }

    fn push_severity(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[SEVERITY_MARK, b'0' + self.level.severity() as u8]);
    }
}

/// Appends a text as one line: control characters and line separators are escaped.
fn push_one_line(out: &mut Vec<u8>, text: &str) {
    let begin = out.len();
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            let _ = write!(out, "{}", character.escape_default());
        } else {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if out.len() - begin >= TEXT_BYTES_MAX {
            return out.extend_from_slice("…".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: LineFormat, text: &str, expected: &str) {
        let event = Event { level: Level::Warning, kind: "page", text, unix_ms: 1_795_202_999_007 };
        let mut out = Vec::new();
        event.push(&mut out, format);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_have_the_format_of_their_target() {
        check(
            LineFormat::Plain,
            "a.html:3: \"ä\"",
            "2026-11-20T19:29:59.007Z warning page: a.html:3: \"ä\"\n",
        );
        check(LineFormat::Syslog, "a", "\x1f4page: a\n");
        check(LineFormat::Journal, "a", "\x1f4MESSAGE=page: a\x1eVERVET_KIND=page\n");
    }

    #[test]
    fn a_text_is_one_line_and_cut_at_its_maximum_length() {
        check(
            LineFormat::Syslog,
            "a\r\nb\x1e\u{9b}\u{2028}",
            "\x1f4page: a\\r\\nb\\u{1e}\\u{9b}\\u{2028}\n",
        );
        let long = "x".repeat(TEXT_BYTES_MAX);
        check(
            LineFormat::Syslog,
            &"x".repeat(TEXT_BYTES_MAX + 1),
            &format!("\x1f4page: {long}…\n"),
        );
    }
}
