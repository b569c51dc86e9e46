//! `[log.NAME]`: an access log as a document declares it.

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;

use vervet_config::{Diagnostic, FromText, Path, Size, Span, Text, TextShape, section, words};

use super::condition::{Condition, PathPattern, RULES_MAX, Rule};
use super::datagram::DatagramAddress;
use super::format::Format;
use super::journal::Journal;
use super::rotation::Rotation;
use super::setting_values::StatusesSetting;
use super::syslog::{FACILITIES, Facility, Syslog, SyslogForm};
use super::target::{LOG_FILE_MODE, Target};
use super::target_settings::TargetSettings;

words! {
    /// A stream that a program begins with.
    pub enum StreamName {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
    }
}

words! {
    /// How often a file is put aside.
    pub enum Every {
        /// At each full hour, UTC.
        Hour = "hour",
        /// At midnight, UTC.
        Day = "day",
    }
}

words! {
    /// How an entry of syslog looks.
    pub enum SyslogFormName {
        /// As the C library writes it; what daemons expect on their unix socket.
        Rfc3164 = "rfc3164",
        /// The standard.
        Rfc5424 = "rfc5424",
    }
}

section! {
    /// An access log: a line for each request of the sites and routes that name it. It goes to one of `file`, `stream`,
    /// `syslog`, `journal` and `memory`; logs with the same target share it. Lines that a target does not take in time are
    /// dropped and counted: a log never delays an answer.
    ///
    /// ```toml
    /// [log.main]
    /// file   = "/var/log/vervet/access.log"
    /// format = '{client} "{request}" {status} {bytes} {duration}'
    /// rotate = { every = "day", keep = 14 }
    /// except = [{ path = "/health/*", status = "2xx" }]
    /// ```
    pub struct LogSettings short(file) {
        /// How a line looks: `common`, `combined`, `json` or `pretty`, or a text with variables such as
        /// `{client} "{request}" {status}`. A brace that is meant as such is written twice.
        pub format: LogFormat = "combined",
        /// The file that lines are appended to; a named pipe or a device, too. It is opened anew on USR1, and when it was
        /// renamed away. Its folder has to be there.
        pub file: Option<Path>,
        /// Permissions of a file that is made, in octal; at most 640, less what the umask takes away.
        pub mode: LogMode = "640",
        /// Standard output or standard error.
        pub stream: Option<StreamName>,
        /// A syslog daemon.
        pub syslog: Option<SyslogSettings>,
        /// The systemd journal, with fields such as `VERVET_STATUS`.
        pub journal: Option<JournalSettings>,
        /// The last 250 lines in memory, shown by `/-/status`.
        pub memory: bool = false,
        /// When the file is put aside, and how many copies stay. The copies are called `access.log.20261121T193000Z`.
        pub rotate: Option<RotateSettings>,
        /// If given, only requests that fit one of these rules.
        pub only: Vec<RuleSettings>,
        /// No request that fits one of these rules.
        pub except: Vec<RuleSettings>,
        /// Statuses that get a line whatever the rules and `one_in` say, such as `"5xx"`.
        pub always: Vec<StatusesSetting>,
        /// One in so many requests, counted in each worker; `{sample}`, and `sample` in JSON, says so in the line.
        pub one_in: u32 = 1 in 1..=1000000,
    }
}

section! {
    /// A syslog daemon. While it is away, lines wait until their buffer is full.
    pub struct SyslogSettings short(address) {
        /// Where it is: `unix:/dev/log`, or `udp:192.0.2.1:514`.
        pub address: SyslogAddress = "unix:/dev/log",
        /// How an entry looks; `rfc3164` for a unix socket and `rfc5424` for UDP where it is not given.
        pub form: Option<SyslogFormName>,
        /// What kind of program speaks: `local0` to `local7`, `daemon`, `user` and others.
        pub facility: FacilityName = "local7",
        /// The program's name in each entry.
        pub tag: Tag = "vervet",
    }
}

section! {
    /// The systemd journal.
    pub struct JournalSettings short(identifier) {
        /// The field `SYSLOG_IDENTIFIER`, by which `journalctl -t` finds entries.
        pub identifier: Tag = "vervet",
        /// Its socket.
        pub socket: Path = "/run/systemd/journal/socket",
    }
}

section! {
    /// When a log file is put aside. It happens as lines are written; an empty file is not put aside. Hours and days are
    /// those of UTC, as the times in lines are.
    pub struct RotateSettings short(every) {
        /// Before the file grows past this.
        pub size: Option<Size> = _ in "4KiB"..="1TiB",
        /// With the first line of another hour or day.
        pub every: Option<Every>,
        /// Copies that stay; older ones are removed.
        pub keep: u32 = 7 in 0..=10000,
        /// Whether copies are compressed by gzip, beside the server's work.
        pub compress: bool = true,
    }
}

section! {
    /// Some requests: those that each directive given here fits.
    pub struct RuleSettings {
        /// Statuses: `404`, `"4xx"`, `"400-418"`.
        pub status: Vec<StatusesSetting>,
        /// Paths: `*` stands for any text, slashes too, and `?` for one byte.
        pub path: Vec<Text>,
        /// Methods, as they are sent.
        pub method: Vec<Text>,
    }
}

/// A format as it is written in a document.
#[derive(Clone, Debug)]
pub struct LogFormat {
    text: String,
    format: Format,
}

impl LogFormat {
    /// The format.
    pub fn format(&self) -> &Format {
        &self.format
    }
}

impl PartialEq for LogFormat {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Permission bits of a log file, in octal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMode(u32);

impl LogMode {
    /// The bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// Where a syslog daemon is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyslogAddress(DatagramAddress);

/// A facility of syslog by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacilityName(String);

/// The name of a program in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

/// Bytes of a tag (RFC 5424 §6: 48; RFC 3164 §5.3: 32).
const TAG_BYTES_MAX: usize = 32;

macro_rules! from_text {
    ($Type:ident, $noun:literal, $example:literal, $read:expr, $show:expr) => {
        impl FromText for $Type {
            const SHAPE: TextShape = TextShape {
                noun: $noun,
                example: $example,
                pattern: None,
            };

            fn from_text(text: &str) -> Result<Self, String> {
                $read(text)
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&$show(self))
            }
        }
    };
}

from_text!(
    LogFormat,
    "format of a line",
    "combined",
    |text: &str| {
        let format = text.parse::<Format>().map_err(|error| error.to_string())?;
        let text = text.to_owned();
        Ok(LogFormat { text, format })
    },
    |format: &LogFormat| format.text.clone()
);

from_text!(
    LogMode,
    "mode in octal",
    "640",
    |text: &str| match u32::from_str_radix(text, 8) {
        Ok(mode) if mode & !LOG_FILE_MODE == 0 && mode & 0o200 != 0 => Ok(LogMode(mode)),
        Ok(mode) if mode & !LOG_FILE_MODE == 0 => Err("the server has to write it".to_owned()),
        Ok(_) => Err("a log tells who asked for what: at most 640".to_owned()),
        Err(_) => Err("it is no mode".to_owned()),
    },
    |mode: &LogMode| format!("{:03o}", mode.0)
);

from_text!(
    SyslogAddress,
    "address of a syslog daemon",
    "unix:/dev/log",
    |text: &str| match text.split_once(':') {
        Some(("unix", path)) if path.starts_with('/') => {
            Ok(SyslogAddress(DatagramAddress::Unix(PathBuf::from(path))))
        }
        Some(("udp", address)) => match address.parse() {
            Ok(address) => Ok(SyslogAddress(DatagramAddress::Udp(address))),
            Err(_) => Err("behind `udp:` stand an IP address, a colon and a port".to_owned()),
        },
        _ => Err("it begins with `unix:/` or `udp:`".to_owned()),
    },
    |address: &SyslogAddress| match &address.0 {
        DatagramAddress::Unix(path) => format!("unix:{}", path.display()),
        DatagramAddress::Udp(address) => format!("udp:{address}"),
    }
);

from_text!(
    FacilityName,
    "facility of syslog",
    "local7",
    |text: &str| match Facility::named(text) {
        Some(_) => Ok(FacilityName(text.to_owned())),
        None => Err(format!("it is none of {}", FACILITIES.join(", "))),
    },
    |name: &FacilityName| name.0.clone()
);

from_text!(
    Tag,
    "program's name",
    "vervet",
    |text: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        if (1..=TAG_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed) {
            Ok(Tag(text.to_owned()))
        } else {
            Err(format!(
                "it has 1 to {TAG_BYTES_MAX} letters, digits and `-_./`"
            ))
        }
    },
    |tag: &Tag| tag.0.clone()
);

impl LogSettings {
    /// Where the lines go. `at` is underlined when no target is given; a file that is made is given to `owner`, a user and
    /// a group.
    pub fn target(&self, at: Span, owner: Option<(u32, u32)>) -> Result<Target, Box<Diagnostic>> {
        let target = self.targets().target(owner)?;
        target.ok_or_else(|| {
            Box::new(
                Diagnostic::error(at, "a log needs a target")
                    .expected("one of `file`, `stream`, `syslog`, `journal` and `memory = true`"),
            )
        })
    }

    /// When its file is put aside.
    pub fn rotation(&self) -> Result<Option<Rotation>, Box<Diagnostic>> {
        self.targets().rotation(&self.rotate)
    }

    fn targets(&self) -> TargetSettings<'_> {
        TargetSettings {
            file: &self.file,
            mode: &self.mode,
            stream: &self.stream,
            syslog: &self.syslog,
            journal: &self.journal,
            memory: Some(&self.memory),
        }
    }

    /// Which requests get a line.
    pub fn condition(&self) -> Result<Condition, Box<Diagnostic>> {
        for rules in [&self.only, &self.except] {
            if rules.len() > RULES_MAX {
                let message = format!("more than {RULES_MAX} rules of one kind");
                return Err(Box::new(
                    Diagnostic::error(rules.span(), message)
                        .note("a rule may have several statuses, paths and methods"),
                ));
            }
        }
        Ok(Condition {
            only: self.only.iter().map(RuleSettings::rule).collect(),
            except: self.except.iter().map(RuleSettings::rule).collect(),
            always: self.always.iter().map(|some| some.0.clone()).collect(),
            one_in: NonZero::new(*self.one_in).unwrap_or(NonZero::<u32>::MIN),
        })
    }
}

impl RuleSettings {
    fn rule(&self) -> Rule {
        Rule {
            statuses: self.status.iter().map(|some| some.0.clone()).collect(),
            paths: self
                .path
                .iter()
                .map(|path| PathPattern::new(path))
                .collect(),
            methods: self.method.value().clone(),
        }
    }
}

impl SyslogSettings {
    /// The daemon.
    pub fn syslog(&self) -> Syslog {
        let usual = Syslog::new(self.address.0.clone());
        Syslog {
            form: match self.form.value() {
                None => usual.form,
                Some(SyslogFormName::Rfc3164) => SyslogForm::Rfc3164,
                Some(SyslogFormName::Rfc5424) => SyslogForm::Rfc5424,
            },
            facility: Facility::named(&self.facility.0).unwrap_or(usual.facility),
            tag: self.tag.0.clone(),
            ..usual
        }
    }
}

impl JournalSettings {
    /// The journal.
    pub fn journal(&self) -> Journal {
        Journal {
            path: self.socket.to_path_buf(),
            identifier: self.identifier.0.clone(),
            ..Journal::default()
        }
    }
}
