//! The directives for the target of a log.

use vervet_config::{Diagnostic, Path, Setting, Span, words};

use super::journal::Journal;
use super::rotation::Rotation;
use super::syslog::Syslog;
use super::target::{FileTarget, Target};

/// Implements [`FromText`] by a function that reads a text, and `Display` by one that writes it.
macro_rules! from_text {
    ($Type:ident, $noun:literal, $example:literal, $read:expr, $show:expr) => {
        impl ::vervet_config::FromText for $Type {
            const SHAPE: ::vervet_config::TextShape =
                ::vervet_config::TextShape { noun: $noun, example: $example, pattern: None };

            fn from_text(text: &str) -> Result<Self, String> {
                $read(text)
            }
        }

        impl ::std::fmt::Display for $Type {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(&$show(self))
            }
        }
    };
}

pub(crate) use from_text;

words! {
    /// A standard stream of the process.
    pub enum StreamName {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
    }
}

/// Permission bits of a new log file: at most 640, because logs hold personal data, less the bits
/// of the umask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMode(u32);

impl LogMode {
    const BITS_MAX: u32 = 0o640;
    const OWNER_WRITES: u32 = 0o200;

    /// Returns the permission bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl Default for LogMode {
    fn default() -> Self {
        Self(Self::BITS_MAX)
    }
}

from_text!(
    LogMode,
    "octal mode",
    "640",
    |text: &str| match u32::from_str_radix(text, 8) {
        Ok(mode) if mode & !LogMode::BITS_MAX != 0 =>
            Err("logs contain personal data: at most 640 is allowed".to_owned()),
        Ok(mode) if mode & LogMode::OWNER_WRITES == 0 =>
            Err("the server must be able to write the file".to_owned()),
        Ok(mode) => Ok(LogMode(mode)),
        Err(_) => Err("expected an octal number".to_owned()),
    },
    |mode: &LogMode| format!("{:03o}", mode.0)
);

/// The name of the program in entries of syslog and of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

/// Bytes of a tag (RFC 5424 §6: 48; RFC 3164 §5.3: 32).
const TAG_BYTES_MAX: usize = 32;

impl Tag {
    /// Returns the name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

from_text!(
    Tag,
    "program name",
    "vervet",
    |text: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        if (1..=TAG_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed) {
            Ok(Tag(text.to_owned()))
        } else {
            Err(format!("expected 1 to {TAG_BYTES_MAX} letters, digits and `-_./`"))
        }
    },
    |tag: &Tag| tag.0.clone()
);

/// The directives that name a target. At most one may be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetSettings<'a> {
    pub(crate) file: &'a Setting<Option<Path>>,
    pub(crate) mode: &'a Setting<LogMode>,
    pub(crate) stream: &'a Setting<Option<StreamName>>,
    pub(crate) syslog: &'a Setting<Option<Syslog>>,
    pub(crate) journal: &'a Setting<Option<Journal>>,
    pub(crate) memory: Option<&'a Setting<bool>>,
    pub(crate) rotate: &'a Setting<Option<Rotation>>,
}

impl TargetSettings<'_> {
    /// The target, if one is given. New files belong to `owner`, a user and a group.
    pub(crate) fn target(
        &self,
        owner: Option<(u32, u32)>,
    ) -> Result<Option<Target>, Box<Diagnostic>> {
        let file = self.file.value().as_ref();
        let syslog = self.syslog.value().as_ref();
        let journal = self.journal.value().as_ref();
        let memory = self.memory.filter(|memory| ***memory);
        let given = [
            file.map(|path| (self.file.span(), self.file_target(path, owner))),
            self.stream.value().map(|stream| (self.stream.span(), stream.target())),
            syslog.map(|syslog| (self.syslog.span(), Target::Syslog(syslog.clone()))),
            journal.map(|journal| (self.journal.span(), Target::Journal(journal.clone()))),
            memory.map(|memory| (memory.span(), Target::Memory)),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some((first, _)), Some((second, _))) => Err(Box::new(conflict(first, second))),
            (first, _) => Ok(first.map(|(_, target)| target)),
        }
    }

    fn file_target(&self, path: &Path, owner: Option<(u32, u32)>) -> Target {
        match Target::file(path.to_path_buf()) {
            Target::File(file) => {
                Target::File(FileTarget { mode: *self.mode.value(), owner, ..file })
            }
            stream => stream,
        }
    }

    /// When the file is rotated; `None` for never.
    pub(crate) fn rotation(&self) -> Result<Option<Rotation>, Box<Diagnostic>> {
        let Some(rotation) = self.rotate.value() else {
            return Ok(None);
        };
        let problem = if self.file.value().is_none() {
            "only a file can be rotated"
        } else if rotation.size.is_none() && rotation.every.is_none() {
            "`rotate` needs `size` or `every`"
        } else {
            return Ok(Some(rotation.clone()));
        };
        Err(Box::new(Diagnostic::error(self.rotate.span(), problem)))
    }
}

impl StreamName {
    fn target(self) -> Target {
        match self {
            Self::Stdout => Target::Stdout,
            Self::Stderr => Target::Stderr,
        }
    }
}

fn conflict(first: Span, second: Span) -> Diagnostic {
    Diagnostic::error(second, "a log can have only one target")
        .note_at(first, "the other one is here")
        .note("declare two logs, and list both in `log` of the site or route")
}
