//! Lines to a syslog daemon, by RFC 5424 or by RFC 3164, over its unix socket or UDP.
//!
//! What a dead daemon does not take is tried again until the buffers of lines are full. UDP says nothing of datagrams
//! that were lost on the way.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::datagram::{DatagramAddress, Datagrams, Severity, split_severity};
use super::outlet::Shared;
use super::target::{Output, Refusal};
use crate::timestamp::Moment;

/// Bytes of an entry; longer ones are cut. Receivers should take 2048 and usually take 8192 (RFC 5424 §6.1).
pub const SYSLOG_BYTES_MAX: usize = 8192;
/// Where the daemon of the machine listens.
pub const SYSLOG_PATH: &str = "/dev/log";

/// A syslog daemon, and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syslog {
    /// Where it is.
    pub address: DatagramAddress,
    /// How an entry looks.
    pub form: SyslogForm,
    /// What kind of program speaks.
    pub facility: Facility,
    /// How severe lines are that do not say so.
    pub severity: Severity,
    /// The program's name in each entry: letters, digits and `-_./`, 32 at most.
    pub tag: String,
}

/// How an entry looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyslogForm {
    /// The traditional one (RFC 3164), as the C library writes it: daemons expect it on their unix socket.
    Rfc3164,
    /// The standard (RFC 5424).
    Rfc5424,
}

/// What kind of program speaks (RFC 5424 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facility(u8);

/// The facilities by name, in the order of their numbers.
pub const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];

impl Facility {
    /// For servers of no particular kind.
    pub const LOCAL7: Self = Self(23);

    /// The facility of a name of [`FACILITIES`].
    pub fn named(name: &str) -> Option<Self> {
        let number = FACILITIES.iter().position(|known| *known == name)?;
        u8::try_from(number).ok().map(Self)
    }
}

impl Syslog {
    /// The daemon of this machine, spoken to as usual.
    pub fn local() -> Self {
        Self::new(DatagramAddress::Unix(PathBuf::from(SYSLOG_PATH)))
    }

    /// A daemon, spoken to as is usual over such an address.
    pub fn new(address: DatagramAddress) -> Self {
        let form = match address {
            DatagramAddress::Unix(_) => SyslogForm::Rfc3164,
            DatagramAddress::Udp(_) => SyslogForm::Rfc5424,
        };
        Self {
            address,
            form,
            facility: Facility::LOCAL7,
            severity: Severity::Info,
            tag: "vervet".to_owned(),
        }
    }
}

impl fmt::Display for Syslog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            DatagramAddress::Unix(path) => write!(formatter, "syslog at {}", path.display()),
            DatagramAddress::Udp(address) => write!(formatter, "syslog at {address}"),
        }
    }
}

/// A syslog daemon at work.
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
            datagrams: Datagrams::new(syslog.address.clone()),
            syslog: syslog.clone(),
            host: host(),
            process: std::process::id(),
        }
    }
}

impl Output for SyslogOutput {
    fn write(&mut self, lines: &[u8], _shared: &Arc<Shared>) -> Result<(), Refusal> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let header = Header {
            syslog: &self.syslog,
            host: &self.host,
            process: self.process,
            moment: Moment::of_unix(now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0))),
        };
        self.datagrams
            .send_lines(lines, |out, line| header.wrap(out, line))
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.datagrams.disconnect();
        Ok(())
    }
}

/// The name of this machine; the nil value of RFC 5424 where it has none.
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
    moment: Moment,
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

impl Header<'_> {
    fn wrap(&self, out: &mut Vec<u8>, line: &[u8]) {
        let (severity, line) = split_severity(line, self.syslog.severity);
        let priority = u16::from(self.syslog.facility.0) * 8 + u16::from(severity - b'0');
        let (tag, process) = (&self.syslog.tag, self.process);
        // Writing to a Vec does not fail.
        let _ = match self.syslog.form {
            SyslogForm::Rfc5424 => write!(
                out,
                "<{priority}>1 {} {} {tag} {process} - - ",
                self.moment.rfc3339(),
                self.host
            ),
            SyslogForm::Rfc3164 => {
                let Moment {
                    month,
                    day,
                    hour,
                    minute,
                    second,
                    ..
                } = self.moment;
                let month = usize::try_from(month - 1)
                    .ok()
                    .and_then(|index| MONTHS.get(index));
                let month = month.unwrap_or(&"Jan");
                // The daemon of this machine knows its name; another has to be told.
                let host = match self.syslog.address {
                    DatagramAddress::Unix(_) => String::new(),
                    DatagramAddress::Udp(_) => format!("{} ", self.host),
                };
                write!(
                    out,
                    "<{priority}>{month} {day:>2} {hour:02}:{minute:02}:{second:02} {host}{tag}[{process}]: "
                )
            }
        };
        out.extend_from_slice(line);
        out.truncate(SYSLOG_BYTES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: DatagramAddress, form: SyslogForm, line: &[u8], expected: &str) {
        let syslog = Syslog {
            form,
            facility: Facility::named("local0").unwrap(),
            ..Syslog::new(address)
        };
        let header = Header {
            syslog: &syslog,
            host: "box",
            process: 7,
            moment: Moment::of_unix(1_794_252_599 - 4 * 86_400),
        };
        let mut out = Vec::new();
        header.wrap(&mut out, line);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn entries_are_those_of_each_form() {
        let local = || DatagramAddress::Unix(PathBuf::from(SYSLOG_PATH));
        let far = || DatagramAddress::Udp(([127, 0, 0, 1], 514).into());
        check(
            local(),
            SyslogForm::Rfc3164,
            b"GET /",
            "<134>Nov  5 19:29:59 vervet[7]: GET /",
        );
        check(
            far(),
            SyslogForm::Rfc3164,
            b"GET /",
            "<134>Nov  5 19:29:59 box vervet[7]: GET /",
        );
        check(
            far(),
            SyslogForm::Rfc5424,
            b"\x1f3worse",
            "<131>1 2026-11-05T19:29:59Z box vervet 7 - - worse",
        );
    }

    #[test]
    fn entries_are_cut_at_their_length() {
        let syslog = Syslog::local();
        let header = Header {
            syslog: &syslog,
            host: "box",
            process: 7,
            moment: Moment::of_unix(0),
        };
        let mut out = Vec::new();
        header.wrap(&mut out, &vec![b'x'; SYSLOG_BYTES_MAX]);
        assert_eq!(out.len(), SYSLOG_BYTES_MAX);
    }

    #[test]
    fn facilities_have_the_numbers_of_the_standard() {
        assert_eq!(Facility::named("local7"), Some(Facility::LOCAL7));
        assert_eq!(Facility::named("daemon"), Some(Facility(3)));
        assert_eq!(Facility::named("local8"), None);
    }
}
