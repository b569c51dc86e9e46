//! What an adapter receives: where to listen, what to serve, and what for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit, getuid};

use crate::document::Log;
use crate::record::Connections;

/// What a server is set up for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The program; for a Python module the interpreter that has it.
    pub program: &'a Path,
    /// Where to listen, on 127.0.0.1.
    pub port: u16,
    /// An empty folder for configurations and state.
    pub folder: &'a Path,
    /// The folder of the generated files.
    pub site: &'a Path,
    /// The application, page or script.
    pub app: Option<&'a Path>,
    /// The settings of the adapter.
    pub settings: &'a Settings,
    /// Which log of requests is written.
    pub log: Log,
    /// The load that the server will receive.
    pub traffic: Traffic,
}

/// The load that a server will receive, for which an adapter tunes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Length of the largest body, if known.
    pub content_bytes_max: u64,
    /// How many files there are.
    pub files: u64,
    /// Reuse of connections by clients.
    pub connections: Connections,
    /// The most connections at a time.
    pub connections_max: u64,
}

/// From this length on a file is cheaper to send by sendfile(2) than from memory.
const LARGE_BYTES: u64 = 32 * 1024;
/// Assumed limit of open files if the system does not report one.
const DESCRIPTORS: u64 = 65_536;
/// The most descriptors that a server is configured with; some keep a table of that length.
const DESCRIPTORS_MAX: u64 = 200_000;

impl Traffic {
    /// Whether contents are so large that sendfile(2) pays.
    pub fn is_large(self) -> bool {
        self.content_bytes_max >= LARGE_BYTES
    }

    /// Whether each response closes its connection.
    pub fn closes(self) -> bool {
        self.connections == Connections::Close
    }
}

impl Setup<'_> {
    /// A path below the subject's own folder, as text.
    pub fn own(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Path of the application, or of the site if there is none.
    pub fn app(&self) -> &Path {
        self.app.unwrap_or(self.site)
    }

    /// `text` if a log of requests is to be written, else `otherwise`.
    pub fn logged<'t>(&self, text: &'t str, otherwise: &'t str) -> &'t str {
        match self.log {
            Log::Access => text,
            Log::None => otherwise,
        }
    }
}

/// Descriptors that a server may have open.
pub(super) fn descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile).current;
    limit.unwrap_or(DESCRIPTORS).min(DESCRIPTORS_MAX)
}

/// A line for root alone: servers change to another user when started by root, who could then not
/// read the lab's folders.
pub(super) fn as_root(line: &str) -> &str {
    if getuid().is_root() { line } else { "" }
}

/// What is to be started: files that are written first, then processes in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Files of the subject's own folder, by name, with what is written into them.
    pub files: Vec<(String, String)>,
    /// The processes; all of them together are the subject.
    pub parts: Vec<Process>,
}

/// One process of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Additional environment variables of the process.
    pub environment: Vec<(String, String)>,
    /// A file that must exist before the process is started, such as the socket of the previous
    /// one.
    pub after: Option<PathBuf>,
}

impl Launch {
    /// A launch of one process.
    pub fn new<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().and(program, arguments)
    }

    /// Adds a process, which starts after the others.
    #[must_use]
    pub fn and<'a>(mut self, program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let program = program.display().to_string();
        let arguments = arguments.into_iter().map(str::to_owned);
        self.parts.push(Process {
            command: std::iter::once(program).chain(arguments).collect(),
            ..Process::default()
        });
        self
    }

    /// The last process is started when a file, such as the socket of the one before, is there.
    #[must_use]
    pub fn after(mut self, file: &str) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.after = Some(file.into());
        }
        self
    }

    /// Adds a file with its content.
    #[must_use]
    pub fn file(mut self, name: &str, text: impl Into<String>) -> Self {
        self.files.push((name.to_owned(), text.into()));
        self
    }

    /// With a variable for all processes.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        for part in &mut self.parts {
            part.environment.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// One setting of an adapter.
#[derive(Debug)]
pub struct Row {
    /// The name in a lab file.
    pub name: &'static str,
    /// The default of the setting.
    pub default: &'static str,
    /// Which values there are.
    pub kind: Kind,
    /// Description in one line.
    pub about: &'static str,
}

/// Which values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number within these bounds.
    Count(u32, u32),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text is valid.
    Text,
}

impl Row {
    /// Why a text is not a valid value, as the end of a sentence.
    pub fn refusal(&self, value: &str) -> Option<String> {
        match self.kind {
            Kind::Text => None,
            Kind::Word(words) if words.contains(&value) => None,
            Kind::Word(words) => Some(format!("is one of {}", words.join(", "))),
            Kind::Count(low, high) => {
                let number = value.parse().ok();
                let fits = number.is_some_and(|number| (low..=high).contains(&number));
                (!fits).then(|| format!("is a number from {low} to {high}"))
            }
        }
    }
}

/// The values of one subject: those of the lab file, and the defaults of the adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// The defaults of `rows`, overridden by `given`.
    pub fn new<'a>(rows: &[Row], given: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let defaults = rows.iter().map(|row| (row.name, row.default));
        let all = defaults.chain(given);
        Self(all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// The value of a setting; empty for one that the adapter has not declared.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Each setting with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Row] = &[
        Row { name: "kind", default: "sync", kind: Kind::Word(&["sync", "gevent"]), about: "how" },
        Row { name: "workers", default: "1", kind: Kind::Count(1, 64), about: "how many" },
    ];

    #[test]
    fn what_is_given_goes_before_the_default() {
        let settings = Settings::new(ROWS, [("workers", "4")].into_iter());
        assert_eq!((settings.get("kind"), settings.get("workers")), ("sync", "4"));
        assert_eq!(settings.get("other"), "");
    }

    #[test]
    fn refuses_other_words_and_numbers() {
        assert_eq!(ROWS[0].refusal("fast"), Some("is one of sync, gevent".to_owned()));
        let bounds = Some("is a number from 1 to 64".to_owned());
        for value in ["0", "65", "-1", "many", ""] {
            assert_eq!(ROWS[1].refusal(value), bounds, "{value}");
        }
        assert_eq!((ROWS[1].refusal("1"), ROWS[1].refusal("64")), (None, None));
    }
}
