//! `[error_log]`: as a document declares it.

use vervet_config::{Diagnostic, Path, section};

use super::level::Level;
use crate::access_log::{
    JournalSettings, LogMode, Logs, Outlet, RotateSettings, Rotation, StreamName, SyslogSettings,
    Target, TargetSettings,
};

section! {
    /// The error log: one line for each event that is not a request. Without a target it goes to standard error. Events of
    /// one kind are written thirty at once and then one a second; the rest are counted.
    ///
    /// ```toml
    /// [error_log]
    /// level = "notice"
    /// file  = "/var/log/vervet/error.log"
    /// ```
    pub struct ErrorLogSettings short(level) {
        /// The least grave events that are written.
        pub level: Level = "notice",
        /// Levels of single parts, in place of that one.
        pub parts: Option<PartLevels>,
        /// The file that lines are appended to. It is opened anew on USR1, and when it was renamed away. Its folder has to
        /// be there.
        pub file: Option<Path>,
        /// Permissions of a file that is made, in octal; at most 640, less what the umask takes away.
        pub mode: LogMode = "640",
        /// Standard output or standard error.
        pub stream: Option<StreamName>,
        /// A syslog daemon; levels become severities.
        pub syslog: Option<SyslogSettings>,
        /// The systemd journal; levels become priorities, and `VERVET_KIND` says what an event is about.
        pub journal: Option<JournalSettings>,
        /// When the file is put aside, and how many copies stay.
        pub rotate: Option<RotateSettings>,
    }
}

section! {
    /// Levels of single parts of the server.
    ///
    /// ```toml
    /// [error_log.parts]
    /// request = "info"
    /// page    = "error"
    /// ```
    pub struct PartLevels {
        /// Files of users and their passwords.
        pub auth: Option<Level>,
        /// Limits of the server that were hit.
        pub limit: Option<Level>,
        /// Templates.
        pub page: Option<Level>,
        /// The configuration read anew.
        pub reload: Option<Level>,
        /// Requests that were refused or did not reach their end.
        pub request: Option<Level>,
        /// Routes that lead nowhere.
        pub routing: Option<Level>,
    }
}

impl PartLevels {
    /// The parts that have a level of their own.
    pub(super) fn own(&self) -> impl Iterator<Item = (&'static str, Level)> {
        let parts = [
            ("auth", &self.auth),
            ("limit", &self.limit),
            ("page", &self.page),
            ("reload", &self.reload),
            ("request", &self.request),
            ("routing", &self.routing),
        ];
        let own = parts.into_iter();
        own.filter_map(|(part, level)| Some((part, (*level.value())?)))
    }
}

impl ErrorLogSettings {
    /// Where the lines go. A file that is made is given to `owner`, a user and a group.
    pub fn target(&self, owner: Option<(u32, u32)>) -> Result<Target, Box<Diagnostic>> {
        let target = self.targets().target(owner)?;
        Ok(target.unwrap_or(Target::Stderr))
    }

    /// When its file is put aside.
    pub fn rotation(&self) -> Result<Option<Rotation>, Box<Diagnostic>> {
        self.targets().rotation(&self.rotate)
    }

    /// Opens its target. What is wrong is found at the directive. How its file is put aside, and the level, are changed by
    /// [`ErrorLog::obey`](super::ErrorLog::obey).
    pub fn open(&self, logs: &Logs, owner: Option<(u32, u32)>) -> Result<Outlet, Box<Diagnostic>> {
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
        }
    }
}
