//! The line of an event, as each kind of target takes it.

use std::fmt;

use super::level::Level;
use crate::access_log::{FIELD_MARK, SEVERITY_MARK, Target};
use crate::timestamp::Moment;

/// Bytes of the text of an event; longer ones are cut.
const TEXT_BYTES_MAX: usize = 8192;

/// One event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub(super) level: Level,
    pub(super) kind: &'static str,
    pub(super) text: &'a str,
    /// When, in milliseconds since 1970.
    pub(super) unix_ms: u64,
}

/// How a target takes lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Envelope {
    /// With time and level.
    Plain,
    /// The target adds the time.
    Syslog,
    /// As fields.
    Journal,
}

impl Envelope {
    pub(super) fn of(target: &Target) -> Self {
        match target {
            Target::Journal(_) => Self::Journal,
            Target::Syslog(_) => Self::Syslog,
            _ => Self::Plain,
        }
    }
}

impl Event<'_> {
    /// Appends the line with its end.
    pub(super) fn push(&self, out: &mut Vec<u8>, envelope: Envelope) {
        let Self { level, kind, .. } = self;
        match envelope {
            Envelope::Plain => {
                let seconds = i64::try_from(self.unix_ms / 1000).unwrap_or(0);
                let time = Moment::of_unix(seconds).rfc3339();
                let time = time.trim_end_matches('Z');
                let milliseconds = self.unix_ms % 1000;
                push(
                    out,
                    format_args!("{time}.{milliseconds:03}Z {level} {kind}: "),
                );
            }
            Envelope::Syslog => {
                self.push_severity(out);
                push(out, format_args!("{kind}: "));
            }
            Envelope::Journal => {
                self.push_severity(out);
                push(out, format_args!("MESSAGE={kind}: "));
            }
        }
        push_one_line(out, self.text);
        if envelope == Envelope::Journal {
            out.push(FIELD_MARK);
            push(out, format_args!("VERVET_KIND={kind}"));
        }
        out.push(b'\n');
    }

    fn push_severity(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[SEVERITY_MARK, b'0' + self.level.severity() as u8]);
    }
}

fn push(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    use std::io::Write as _;
    // Writing to a Vec does not fail.
    let _ = out.write_fmt(text);
}

/// Appends a text so that it stays in its line: control characters, and what some readers end a line at, are escaped.
fn push_one_line(out: &mut Vec<u8>, text: &str) {
    let begin = out.len();
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            push(out, format_args!("{}", character.escape_default()));
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
    fn check(envelope: Envelope, text: &str, expected: &str) {
        let event = Event {
            level: Level::Warning,
            kind: "page",
            text,
            unix_ms: 1_795_202_999_007,
        };
        let mut out = Vec::new();
        event.push(&mut out, envelope);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_are_as_their_target_takes_them() {
        check(
            Envelope::Plain,
            "a.html:3: \"ä\"",
            "2026-11-20T19:29:59.007Z warning page: a.html:3: \"ä\"\n",
        );
        check(Envelope::Syslog, "a", "\x1f4page: a\n");
        check(
            Envelope::Journal,
            "a",
            "\x1f4MESSAGE=page: a\x1eVERVET_KIND=page\n",
        );
    }

    #[test]
    fn a_text_stays_in_its_line_and_its_length() {
        check(
            Envelope::Syslog,
            "a\r\nb\x1e\u{9b}\u{2028}",
            "\x1f4page: a\\r\\nb\\u{1e}\\u{9b}\\u{2028}\n",
        );
        let long = "x".repeat(TEXT_BYTES_MAX);
        check(
            Envelope::Syslog,
            &"x".repeat(TEXT_BYTES_MAX + 1),
            &format!("\x1f4page: {long}…\n"),
        );
    }
}
