//! A syslog daemon, by RFC 5424 or RFC 3164, over its unix socket or UDP.
//!
//! Lines that a daemon does not take are sent again until the queues are full. UDP does not report
//! datagrams that were lost on the way.

use std::fs;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use vervet_config::{section, words};

use super::datagram::{DatagramAddress, Datagrams, split_severity};
use super::settings::{Tag, from_text};
use super::sink::SinkState;
use super::target::{Output, WriteError};
use crate::timestamp::utc;

/// Bytes of an entry; longer ones are cut. Receivers should take 2048 and usually take 8192
/// (RFC 5424 §6.1).
pub const SYSLOG_BYTES_MAX: usize = 8192;

words! {
    /// The format of a syslog message.
    pub enum SyslogForm {
        /// The traditional BSD format (RFC 3164), which daemons expect on their unix socket.
        Rfc3164 = "rfc3164",
        /// The standard format (RFC 5424).
        Rfc5424 = "rfc5424",
    }
}

section! {
    /// A syslog daemon. While it is not running, lines are kept in a buffer; when that is full,
    /// they are dropped.
    pub struct Syslog short(address) {
        /// The address: `unix:/dev/log`, or `udp:192.0.2.1:514`.
        pub address: DatagramAddress = "unix:/dev/log",
        /// The message format; if not set, `rfc3164` for a unix socket and `rfc5424` for UDP.
        pub form: Option<SyslogForm>,
        /// The facility: `local0` to `local7`, `daemon`, `user` and others.
        pub facility: Facility = "local7",
        /// The program name in each message.
        pub tag: Tag = "vervet",
    }
}

impl Syslog {
    fn form(&self) -> SyslogForm {
        self.form.unwrap_or(match *self.address {
            DatagramAddress::Unix(_) => SyslogForm::Rfc3164,
            DatagramAddress::Udp(_) => SyslogForm::Rfc5424,
        })
    }
}

/// A facility by its number (RFC 5424 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facility(u8);

/// The names of facilities, in the order of their numbers.
pub const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];

from_text!(
    Facility,
    "syslog facility",
    "local7",
    |text: &str| {
        let number = (0..).zip(FACILITIES).find(|(_, name)| *name == text);
        match number {
            Some((number, _)) => Ok(Facility(number)),
            None => Err(format!("expected one of {}", FACILITIES.join(", "))),
        }
    },
    |facility: &Facility| FACILITIES[usize::from(facility.0)].to_owned()
);

#[derive(Debug)]
pub(super) struct SyslogOutput {
    syslog: Syslog,
    datagrams: Datagrams,
    host: String,
    process: u32,
}

impl SyslogOutput {
    pub(super) fn new(syslog: &Syslog) -> Self {
        Self {
            datagrams: Datagrams::new(syslog.address.value().clone()),
            syslog: syslog.clone(),
            host: host(),
            process: std::process::id(),
        }
    }
}

impl Output for SyslogOutput {
    fn write(&mut self, lines: &[u8], _state: &Arc<SinkState>) -> Result<(), WriteError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let header = Header {
            syslog: &self.syslog,
            host: &self.host,
            process: self.process,
            unix_seconds: now.map_or(0, |now| now.as_secs()),
        };
        self.datagrams.send_lines(lines, |out, line| header.write_entry(out, line))
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.datagrams.disconnect();
        Ok(())
    }
}

/// The name of this machine, or the nil value of RFC 5424.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "-".to_owned(),
        name => name.to_owned(),
    }
}

struct Header<'a> {
    syslog: &'a Syslog,
    host: &'a str,
    process: u32,
    unix_seconds: u64,
}

impl Header<'_> {
    fn write_entry(&self, out: &mut Vec<u8>, line: &[u8]) {
        let (severity, line) = split_severity(line);
        let priority = u16::from(self.syslog.facility.0) * 8 + u16::from(severity - b'0');
        let (tag, process, host) = (self.syslog.tag.as_str(), self.process, self.host);
        let time = utc(self.unix_seconds);
        // Writing to a Vec does not fail.
        let _ = match self.syslog.form() {
            SyslogForm::Rfc5424 => {
                let time = time.format("%FT%TZ");
                write!(out, "<{priority}>1 {time} {host} {tag} {process} - - ")
            }
            SyslogForm::Rfc3164 => {
                let time = time.format("%b %e %T");
                // The daemon of this machine adds the host name itself.
                let host = match *self.syslog.address {
                    DatagramAddress::Unix(_) => String::new(),
                    DatagramAddress::Udp(_) => format!("{host} "),
                };
                write!(out, "<{priority}>{time} {host}{tag}[{process}]: ")
            }
        };
        out.extend_from_slice(line);
        out.truncate(SYSLOG_BYTES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;

    use super::*;

    fn entry(settings: &str, line: &[u8]) -> String {
        let header = Header {
            syslog: &read_text("vervet.toml", settings).value.unwrap(),
            host: "box",
            process: 7,
            unix_seconds: 1_794_252_599 - 4 * 86_400,
        };
        let mut out = Vec::new();
        header.write_entry(&mut out, line);
        String::from_utf8(out).unwrap()
    }

    #[track_caller]
    fn check(settings: &str, line: &[u8], expected: &str) {
        assert_eq!(entry(settings, line), expected, "{settings}");
    }

    #[test]
    fn entries_follow_the_standard_of_their_form() {
        check("facility = 'local0'", b"GET /", "<134>Nov  5 19:29:59 vervet[7]: GET /");
        check(
            "address = 'udp:127.0.0.1:514'\nform = 'rfc3164'",
            b"GET /",
            "<190>Nov  5 19:29:59 box vervet[7]: GET /",
        );
        check(
            "address = 'udp:127.0.0.1:514'\nfacility = 'daemon'",
            b"\x1f3worse",
            "<27>1 2026-11-05T19:29:59Z box vervet 7 - - worse",
        );
    }

    #[test]
    fn entries_are_cut_at_their_maximum_length() {
        let line = vec![b'x'; SYSLOG_BYTES_MAX];
        assert_eq!(entry("", &line).len(), SYSLOG_BYTES_MAX);
    }
}
