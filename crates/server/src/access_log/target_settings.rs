//! The directives by which a section of a log says where its lines go.

use std::num::NonZero;

use vervet_config::{Diagnostic, Path, Setting, Span};

use super::rotation::{Copies, Period, Rotation};
use super::settings::{
    Every, JournalSettings, LogMode, RotateSettings, StreamName, SyslogSettings,
};
use super::target::{FileTarget, Target};

/// The directives that name a target, of which one at most may be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetSettings<'a> {
    pub(crate) file: &'a Setting<Option<Path>>,
    pub(crate) mode: &'a Setting<LogMode>,
    pub(crate) stream: &'a Setting<Option<StreamName>>,
    pub(crate) syslog: &'a Setting<Option<SyslogSettings>>,
    pub(crate) journal: &'a Setting<Option<JournalSettings>>,
    pub(crate) memory: Option<&'a Setting<bool>>,
}

impl TargetSettings<'_> {
    /// The target that is given, if one is.
    pub(crate) fn target(
        &self,
        owner: Option<(u32, u32)>,
    ) -> Result<Option<Target>, Box<Diagnostic>> {
        let given = [
            self.file
                .value()
                .as_ref()
                .map(|path| (self.file.span(), self.file_target(path, owner))),
            self.stream
                .value()
                .map(|stream| (self.stream.span(), stream.target())),
            self.syslog
                .value()
                .as_ref()
                .map(|syslog| (self.syslog.span(), Target::Syslog(syslog.syslog()))),
            self.journal
                .value()
                .as_ref()
                .map(|journal| (self.journal.span(), Target::Journal(journal.journal()))),
            self.memory
                .filter(|memory| ***memory)
                .map(|memory| (memory.span(), Target::Memory)),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some((first, _)), Some((second, _))) => Err(Box::new(contradiction(first, second))),
            (first, _) => Ok(first.map(|(_, target)| target)),
        }
    }

    fn file_target(&self, path: &Path, owner: Option<(u32, u32)>) -> Target {
        match Target::file(path.to_path_buf()) {
            Target::File(file) => Target::File(FileTarget {
                mode: self.mode.bits(),
                owner,
                ..file
            }),
            stream => stream,
        }
    }

    /// When the file is put aside.
    pub(crate) fn rotation(
        &self,
        rotate: &Setting<Option<RotateSettings>>,
    ) -> Result<Option<Rotation>, Box<Diagnostic>> {
        let Some(settings) = rotate.value() else {
            return Ok(None);
        };
        let problem = |message: &str| Err(Box::new(Diagnostic::error(rotate.span(), message)));
        if self.file.value().is_none() {
            return problem("only a file can be put aside");
        }
        let size = settings
            .size
            .value()
            .and_then(|size| NonZero::new(size.bytes()));
        let every = settings.every.value().map(|every| match every {
            Every::Hour => Period::Hour,
            Every::Day => Period::Day,
        });
        if size.is_none() && every.is_none() {
            return problem("`rotate` says neither by which `size` nor `every` when");
        }
        Ok(Some(Rotation {
            size,
            every,
            keep: *settings.keep,
            copies: if *settings.compress {
                Copies::Gzip
            } else {
                Copies::Plain
            },
        }))
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

fn contradiction(first: Span, second: Span) -> Diagnostic {
    Diagnostic::error(second, "a log has one target")
        .note_at(first, "the other one is here")
        .note("make it two logs, and name both where requests are logged")
}
