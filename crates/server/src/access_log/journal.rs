//! Entries of the systemd journal by its native protocol: fields `NAME=value`, one a line, one datagram an entry.
//!
//! On their way to the writer the fields of an entry stand in one line, parted by a byte that no value has.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::datagram::{DatagramAddress, Datagrams, Severity, split_severity};
use super::escape::Delimiter;
use super::layout::{Form, Piece};
use super::outlet::Shared;
use super::target::{Output, Refusal};
use super::variable::Value;

/// Where the journal listens.
pub const JOURNAL_PATH: &str = "/run/systemd/journal/socket";

/// Parts the fields of an entry. Control bytes of values are escaped.
pub(crate) const FIELD_MARK: u8 = 0x1e;

/// The journal, and as whom it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Its socket.
    pub path: PathBuf,
    /// The field `SYSLOG_IDENTIFIER`: letters, digits and `-_./`.
    pub identifier: String,
    /// The field `PRIORITY` of entries that do not say how severe they are.
    pub severity: Severity,
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            path: PathBuf::from(JOURNAL_PATH),
            identifier: "vervet".to_owned(),
            severity: Severity::Info,
        }
    }
}

/// A field's name, and its value.
type Field = (&'static str, fn() -> Value);

/// The fields of an entry of an access log, besides its message. The first is always known.
const FIELDS: &[Field] = &[
    ("VERVET_STATUS", || Value::Status),
    ("VERVET_CLIENT", || Value::Client),
    ("VERVET_DURATION_MS", || Value::Milliseconds),
    ("VERVET_METHOD", || Value::Method),
    ("VERVET_TARGET", || Value::Target),
    ("VERVET_USER", || Value::User),
    ("VERVET_REQUEST_ID", || Value::RequestId),
    ("VERVET_SITE", || Value::Site),
    ("VERVET_ROUTE", || Value::Route),
];

/// Makes an entry of the pieces of a line: the line, which ends with `tail`, becomes its message.
pub(super) fn add_fields(pieces: &mut Vec<Piece>, tail: Vec<u8>) {
    const MESSAGE: &[u8] = b"MESSAGE=";
    let mut before = match pieces.first_mut() {
        Some(first) => {
            first.before.splice(..0, MESSAGE.iter().copied());
            tail
        }
        None => [MESSAGE, &tail].concat(),
    };
    for (number, (name, value)) in FIELDS.iter().enumerate() {
        before.push(FIELD_MARK);
        before.extend_from_slice(name.as_bytes());
        before.push(b'=');
        pieces.push(Piece {
            before: std::mem::take(&mut before),
            value: value(),
            form: if number == 0 {
                Form::Text(Delimiter::QUOTE)
            } else {
                Form::Optional
            },
        });
    }
}

/// The journal at work.
#[derive(Debug)]
pub(super) struct JournalOutput {
    journal: Journal,
    datagrams: Datagrams,
}

impl JournalOutput {
    pub(super) fn new(journal: &Journal) -> Self {
        Self {
            datagrams: Datagrams::new(DatagramAddress::Unix(journal.path.clone())),
            journal: journal.clone(),
        }
    }
}

impl Output for JournalOutput {
    fn write(&mut self, lines: &[u8], _shared: &Arc<Shared>) -> Result<(), Refusal> {
        let journal = &self.journal;
        self.datagrams
            .send_lines(lines, |out, line| wrap(out, line, journal))
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.datagrams.disconnect();
        Ok(())
    }
}

fn wrap(out: &mut Vec<u8>, line: &[u8], journal: &Journal) {
    let (severity, line) = split_severity(line, journal.severity);
    // The short fields first: they stay when a long message has to be cut.
    out.extend_from_slice(b"PRIORITY=");
    out.push(severity);
    out.extend_from_slice(b"\nSYSLOG_IDENTIFIER=");
    out.extend_from_slice(journal.identifier.as_bytes());
    out.push(b'\n');
    let fields = out.len();
    out.extend_from_slice(line);
    for byte in &mut out[fields..] {
        if *byte == FIELD_MARK {
            *byte = b'\n';
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: &str) {
        let mut out = Vec::new();
        wrap(&mut out, line, &Journal::default());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn entries_are_those_of_the_native_protocol() {
        check(
            b"MESSAGE=GET / 200\x1eVERVET_STATUS=200",
            "PRIORITY=6\nSYSLOG_IDENTIFIER=vervet\nMESSAGE=GET / 200\nVERVET_STATUS=200\n",
        );
        check(
            b"\x1f4MESSAGE=look",
            "PRIORITY=4\nSYSLOG_IDENTIFIER=vervet\nMESSAGE=look\n",
        );
    }
}
