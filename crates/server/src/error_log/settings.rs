//! `[error_log]`: as a document declares it.

use vervet_config::{Diagnostic, Path, section};

use super::line::Level;
use crate::log_sinks::{
    Journal, LogMode, LogSink, LogSinks, Rotation, StreamName, Syslog, Target, TargetSettings,
};

section! {
    /// The error log: one line for each event that is not a request, such as a reload or a failure.
    /// If no target is set, it goes to standard error. Each kind of event is limited to a burst of
    /// 30 lines and then one per second; the others are counted.
    ///
    /// ```toml
    /// [error_log]
    /// level = "notice"
    /// file  = "/var/log/vervet/error.log"
    /// ```
    pub struct ErrorLogSettings short(level) {
        /// The minimum severity of events that are logged.
        pub level: Level = "notice",
        /// Levels for parts of the server, which override `level`.
        pub parts: Option<PartLevels>,
        /// The log file. Lines are appended. It is reopened on SIGUSR1 and after it was renamed.
        /// Its directory must exist.
        pub file: Option<Path>,
        /// Permissions of a new file, in octal; at most 640, and reduced by the umask.
        pub mode: LogMode = "640",
        /// Writes to standard output or standard error.
        pub stream: Option<StreamName>,
        /// Writes to a syslog daemon, with levels as severities.
        pub syslog: Option<Syslog>,
        /// Writes to the systemd journal, with levels as priorities and the kind of the event in
        /// `VERVET_KIND`.
        pub journal: Option<Journal>,
        /// When the file is rotated, and how many rotated files are kept.
        pub rotate: Option<Rotation>,
    }
}

section! {
    /// Levels for parts of the server. A part without a level has `error_log.level`.
    ///
    /// ```toml
    /// [error_log.parts]
    /// request = "info"
    /// page    = "error"
    /// ```
    pub struct PartLevels {
        /// User files and passwords.
        pub auth: Option<Level>,
        /// Files that are not served, with the reason: at the level `info`.
        pub file: Option<Level>,
        /// Limits of the server that were exceeded.
        pub limit: Option<Level>,
        /// Rendering of page templates.
        pub page: Option<Level>,
        /// Reloads of the configuration.
        pub reload: Option<Level>,
        /// Requests that were rejected or incomplete.
        pub request: Option<Level>,
        /// Routes that rewrite a request in a loop.
        pub routing: Option<Level>,
        /// Start and stop of the server, unless the log is standard error, where the program
        /// reports them itself.
        pub server: Option<Level>,
    }
}

impl PartLevels {
    /// The parts with a level.
    pub(super) fn own(&self) -> impl Iterator<Item = (&'static str, Level)> {
        let parts = [
            ("auth", &self.auth),
            ("file", &self.file),
            ("limit", &self.limit),
            ("page", &self.page),
            ("reload", &self.reload),
            ("request", &self.request),
            ("routing", &self.routing),
            ("server", &self.server),
        ];
        let own = parts.into_iter();
        own.filter_map(|(part, level)| Some((part, (*level.value())?)))
    }
}

impl ErrorLogSettings {
    /// Whether events about requests are written.
    pub(crate) fn takes_requests(&self) -> bool {
        let parts = self.parts.value().as_ref();
        let level = parts.and_then(|parts| *parts.request.value());
        level.unwrap_or(*self.level).index() >= Level::Info.index()
    }

    /// The target of the lines. New files belong to `owner`, a user and a group.
    pub fn target(&self, owner: Option<(u32, u32)>) -> Result<Target, Box<Diagnostic>> {
        let target = self.targets().target(owner)?;
        Ok(target.unwrap_or(Target::Stderr))
    }

    /// The rotation of the log file; `None` for never.
    pub fn rotation(&self) -> Result<Option<Rotation>, Box<Diagnostic>> {
        self.targets().rotation()
    }

    /// Opens its target. Errors are reported at the directive. Rotation and level are applied by
    /// [`ErrorLog::apply`](super::ErrorLog::apply).
    pub fn open(
        &self,
        logs: &LogSinks,
        owner: Option<(u32, u32)>,
    ) -> Result<LogSink, Box<Diagnostic>> {
        let target = self.target(owner)?;
        self.rotation()?;
        logs.open(&target).map_err(|error| {
            let message = format!("cannot open {target}: {error}");
            Box::new(Diagnostic::error(self.file.span(), message))
        })
    }

    fn targets(&self) -> TargetSettings<'_> {
        TargetSettings {
            file: &self.file,
            mode: &self.mode,
            stream: &self.stream,
            syslog: &self.syslog,
            journal: &self.journal,
            memory: None,
            rotate: &self.rotate,
        }
    }
}
