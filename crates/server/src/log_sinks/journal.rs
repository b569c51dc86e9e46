//! The systemd journal by its native protocol: one datagram per entry, with lines `NAME=value`.
//!
//! In the queue of a sink the fields of an entry form one line, separated by a byte that no value
//! contains.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use vervet_config::{Path, section};

use super::datagram::{DatagramAddress, Datagrams, split_severity};
use super::settings::Tag;
use super::sink::SinkState;
use super::target::{Output, WriteError};

section! {
    /// The systemd journal, written with its native protocol.
    pub struct Journal short(identifier) {
        /// The field `SYSLOG_IDENTIFIER`, which `journalctl -t` filters by.
        pub identifier: Tag = "vervet",
        /// The socket of the journal.
        pub socket: Path = "/run/systemd/journal/socket",
    }
}

/// Separates the fields of an entry. Control bytes of values are escaped.
pub(crate) const FIELD_MARK: u8 = 0x1e;

#[derive(Debug)]
pub(super) struct JournalOutput {
    identifier: Tag,
    datagrams: Datagrams,
}

impl JournalOutput {
    pub(super) fn new(journal: &Journal) -> Self {
        let socket: PathBuf = journal.socket.to_path_buf();
        Self {
            datagrams: Datagrams::new(DatagramAddress::Unix(socket)),
            identifier: journal.identifier.value().clone(),
        }
    }
}

impl Output for JournalOutput {
    fn write(&mut self, lines: &[u8], _state: &Arc<SinkState>) -> Result<(), WriteError> {
        let identifier = &self.identifier;
        self.datagrams.send_lines(lines, |out, line| write_entry(out, line, identifier))
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.datagrams.disconnect();
        Ok(())
    }
}

fn write_entry(out: &mut Vec<u8>, line: &[u8], identifier: &Tag) {
    let (severity, line) = split_severity(line);
    // The short fields first: they remain when a long message has to be cut.
    out.extend_from_slice(b"PRIORITY=");
    out.push(severity);
    out.extend_from_slice(b"\nSYSLOG_IDENTIFIER=");
    out.extend_from_slice(identifier.as_str().as_bytes());
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
    use vervet_config::FromText as _;

    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: &str) {
        let mut out = Vec::new();
        write_entry(&mut out, line, &Tag::from_text("vervet").unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn entries_follow_the_native_protocol() {
        check(
            b"MESSAGE=GET / 200\x1eVERVET_STATUS=200",
            "PRIORITY=6\nSYSLOG_IDENTIFIER=vervet\nMESSAGE=GET / 200\nVERVET_STATUS=200\n",
        );
        check(b"\x1f4MESSAGE=look", "PRIORITY=4\nSYSLOG_IDENTIFIER=vervet\nMESSAGE=look\n");
    }
}
