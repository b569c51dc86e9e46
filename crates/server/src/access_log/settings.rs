//! `[log.NAME]`: the section of an access log.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::num::NonZero;

use vervet_config::{Diagnostic, Diagnostics, Name, Named, Path, Span, section};

use super::condition::{Condition, RULES_MAX, Rule, Statuses};
use super::format::{Color, Format};
use crate::log_sinks::{
    Journal, LogMode, Rotation, StreamName, Syslog, Target, TargetSettings, from_text,
};

section! {
    /// An access log: one line for each request to the sites and routes that select it. It has one
    /// target: `file`, `stream`, `syslog`, `journal` or `memory`; logs with the same target share
    /// it. Lines that the target does not accept in time are dropped and counted: a log never
    /// delays a response.
    ///
    /// ```toml
    /// [log.main]
    /// file   = "/var/log/vervet/access.log"
    /// format = '{client} "{request}" {status} {bytes} {duration}'
    /// rotate = { every = "day", keep = 14 }
    /// except = [{ path = "/health/*", status = "2xx" }]
    /// ```
    pub struct LogSettings short(file) {
        /// The format of a line: `common`, `combined`, `json` or `pretty`, or a text with variables
        /// such as `{client} "{request}" {status}`. `{{` and `}}` are literal braces.
        pub format: LogFormat = "combined",
        /// The log file; also a named pipe or a device. Lines are appended. It is reopened on
        /// SIGUSR1 and after it was renamed. Its directory must exist.
        pub file: Option<Path>,
        /// Permissions of a new file, in octal; at most 640, and reduced by the umask.
        pub mode: LogMode = "640",
        /// Writes to standard output or standard error.
        pub stream: Option<StreamName>,
        /// Writes to a syslog daemon.
        pub syslog: Option<Syslog>,
        /// Writes to the systemd journal, with fields such as `VERVET_STATUS`.
        pub journal: Option<Journal>,
        /// Keeps the last 250 lines in memory for `/-/status`.
        pub memory: bool = false,
        /// When the file is rotated, and how many rotated files are kept. Their names are such as
        /// `access.log.20261121T193000Z`.
        pub rotate: Option<Rotation>,
        /// Logs only requests that match one of these rules; if not set, all.
        pub only: Vec<Rule>,
        /// Does not log requests that match one of these rules.
        pub except: Vec<Rule>,
        /// Statuses that are always logged, regardless of the rules and `one_in`, such as `"5xx"`.
        pub always: Vec<Statuses>,
        /// Sampling: logs one in this many requests, counted per worker. `{sample}`, and `sample`
        /// in JSON, is this number.
        pub one_in: u32 = 1 in 1..=1000000,
    }
}

/// The format of an access log, as a document writes it.
#[derive(Clone, Debug)]
pub struct LogFormat {
    text: String,
    format: Format,
}

impl LogFormat {
    /// The format of lines to a target. `pretty` has colors on a terminal, unless `NO_COLOR` is
    /// set.
    pub(super) fn format_for(&self, target: &Target) -> Format {
        let is_terminal = match target {
            Target::Stdout => io::stdout().is_terminal(),
            Target::Stderr => io::stderr().is_terminal(),
            _ => false,
        };
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if self.text == "pretty" && is_terminal && !no_color {
            Format::pretty(Color::On)
        } else {
            self.format.clone()
        }
    }
}

impl PartialEq for LogFormat {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
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

impl LogSettings {
    /// The target of the lines. A missing target is reported at `at`. New files belong to `owner`,
    /// a user and a group.
    pub fn target(&self, at: Span, owner: Option<(u32, u32)>) -> Result<Target, Box<Diagnostic>> {
        let target = self.targets().target(owner)?;
        target.ok_or_else(|| {
            Box::new(
                Diagnostic::error(at, "a log needs a target")
                    .expected("one of `file`, `stream`, `syslog`, `journal` and `memory = true`"),
            )
        })
    }

    /// The rotation of the log file; `None` for never.
    pub fn rotation(&self) -> Result<Option<Rotation>, Box<Diagnostic>> {
        self.targets().rotation()
    }

    fn targets(&self) -> TargetSettings<'_> {
        TargetSettings {
            file: &self.file,
            mode: &self.mode,
            stream: &self.stream,
            syslog: &self.syslog,
            journal: &self.journal,
            memory: Some(&self.memory),
            rotate: &self.rotate,
        }
    }

    /// Which requests get a line.
    pub fn condition(&self) -> Result<Condition, Box<Diagnostic>> {
        for rules in [&self.only, &self.except] {
            if rules.len() > RULES_MAX {
                let message = format!("more than {RULES_MAX} rules");
                return Err(Box::new(
                    Diagnostic::error(rules.span(), message)
                        .note("a rule may have several statuses, paths and methods"),
                ));
            }
        }
        Ok(Condition {
            only: self.only.value().clone(),
            except: self.except.value().clone(),
            always: self.always.value().clone(),
            one_in: NonZero::new(*self.one_in).unwrap_or(NonZero::<u32>::MIN),
        })
    }
}

/// Finds logs without a target, invalid rules, and logs that contradict each other, without
/// opening anything.
pub fn check_logs(logs: &Named<LogSettings>, diagnostics: &mut Diagnostics) {
    // By target: the first log and its rotation.
    let mut rotations = HashMap::new();
    for (name, settings) in logs.iter() {
        let (target, rotation) = (settings.target(name.span(), None), settings.rotation());
        if let (Ok(target), Ok(rotation)) = (&target, &rotation) {
            let first = rotations.entry(target.key()).or_insert((name, rotation.clone()));
            if first.1 != *rotation {
                diagnostics.push(rotation_conflict(name, settings, first.0));
            }
        }
        let problems = [target.err(), rotation.err(), settings.condition().err()];
        let problems = problems.into_iter().flatten();
        problems.for_each(|problem| diagnostics.push(*problem));
    }
}

fn rotation_conflict(name: &Name, settings: &LogSettings, first: &Name) -> Diagnostic {
    let span = if settings.rotate.value().is_some() { settings.rotate.span() } else { name.span() };
    Diagnostic::error(span, "two logs to the same file have different `rotate` settings")
        .note_at(first.span(), "the other log is here")
}
