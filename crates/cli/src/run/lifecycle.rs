//! What a running server does on signals: it reloads, reopens its logs and drains; and it reports
//! its state to the service manager.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use vervet_server::admin::Phase;
use vervet_server::config::{Diagnostics, Sources};
use vervet_server::engine::Running;
use vervet_server::engine::listener::{Endpoint, ListenAddress};
use vervet_server::error_log::{Level, LimitWatch};
use vervet_server::log_sinks::{Drops, Target};
use vervet_server::plan::Plan;
use vervet_server::server::{Reloaded, Server};
use vervet_server::staging::{Account, Paths, rehearse, unwritable};

use super::facts::ServerFacts;
use super::notify::{Notifier, State};
use super::pid_file::PidFile;
use super::rehearsal::folder_of;
use crate::config::{Examiner, FileArguments, Planned, line, plan, read, refusal, report};
use crate::console;

/// How often counters are checked for limits that were reached, and freed memory is returned.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The status of a server whose configuration is in effect.
pub(super) const SERVING: &str = "serving";

/// The source of the configuration.
pub(crate) enum ConfigurationSource {
    /// A file, which each reload reads.
    File {
        /// The file.
        file: FileArguments,
        /// Default addresses to listen on, if the file has none.
        default_listen: Vec<ListenAddress>,
    },
    /// The flags of `vervet serve`, which do not change.
    Flags {
        /// What is served.
        path: PathBuf,
        /// What to print after the address of each listener.
        notes: Vec<Option<String>>,
    },
}

impl ConfigurationSource {
    /// What messages call the configuration: its file, or what is served.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File { file, .. } => &file.file,
            Self::Flags { path, .. } => path,
        }
    }

    /// The configuration file, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File { file, .. } => Some(&file.file),
            Self::Flags { .. } => None,
        }
    }
}

/// A server at work, and what it holds until the process ends.
pub(super) struct Lifecycle {
    pub(super) server: Arc<Server>,
    pub(super) facts: Arc<ServerFacts>,
    pub(super) notifier: Notifier,
    pub(super) source: ConfigurationSource,
    /// The account that the server runs as.
    pub(super) account: Account,
    /// The paths that the process is restricted to, if it is.
    pub(super) allowed: Option<Paths>,
    pub(super) limits: LimitWatch,
    pub(super) admin: Option<Running>,
    pub(super) pid_file: Option<PidFile>,
}

impl Lifecycle {
    /// Reports a state to the service manager. Its absence is not an error.
    pub(super) fn notify(&self, state: State, status: &str) {
        let _ = self.notifier.notify(state, status);
    }

    fn event(&self, level: Level, kind: &'static str, text: &str) {
        let error_log = &self.server.tools().error_log;
        error_log.write(level, kind, format_args!("{text}"));
    }

    /// Writes an event to the error log that standard error has been told of in another form.
    fn log_server(&self, level: Level, text: &str) {
        if !self.server.tools().error_log.is_on_stderr() {
            self.event(level, "server", text);
        }
    }

    /// Logs the start, with its warnings.
    pub(super) fn started(&self, warnings: &[String]) {
        let listeners = self.server.listeners();
        let addresses = listeners.iter().map(|(_, endpoint)| match endpoint.local_address() {
            Some(address) => address.to_string(),
            None => endpoint.to_string(),
        });
        let text = format!(
            "started: vervet {}, process {}, as {}, configuration {}, listening on {}",
            env!("CARGO_PKG_VERSION"),
            std::process::id(),
            self.account.user,
            self.source.path().display(),
            addresses.collect::<Vec<_>>().join(", ")
        );
        self.log_server(Level::Notice, &text);
        for warning in warnings {
            self.log_server(Level::Warning, warning);
        }
    }

    fn took_effect(&self, reloaded: &Reloaded, planned: &Diagnostics, sources: &Sources) {
        report(planned, sources);
        report(&reloaded.warnings, sources);
        for warning in planned.iter().chain(&reloaded.warnings) {
            self.event(Level::Warning, "reload", &line(warning, sources));
        }
        let changes = [
            ("new listeners", &reloaded.opened),
            ("closed listeners", &reloaded.closed),
            ("new sites", &reloaded.new_sites),
            ("removed sites", &reloaded.removed_sites),
        ];
        let changes = changes.into_iter().filter(|(_, names)| !names.is_empty());
        let changes = changes.map(|(what, names)| format!("{what}: {}", names.join(", ")));
        let mut changes: Vec<String> = changes.collect();
        if changes.is_empty() {
            changes.push("the same listeners and sites".to_owned());
        }
        let text = format!("the configuration was reloaded ({})", changes.join("; "));
        self.event(Level::Notice, "reload", &text);
        self.facts.reloaded(None);
    }

    /// Serves another plan, unless it needs paths outside of the restriction.
    fn install(&self, plan: Plan) -> Result<Reloaded, Diagnostics> {
        let allowed = self.allowed.as_ref();
        let mut outside = allowed.map_or_else(Diagnostics::new, |allowed| plan.outside(allowed));
        if outside.has_errors() {
            outside.extend_with_later(rehearse(&plan));
            outside.sort();
            return Err(outside);
        }
        // The plan is gone when its errors are known.
        let denials = plan.denials(&self.account);
        self.server.reload(plan).map_err(|found| denials.explain(&found))
    }

    /// Returns the status for the service manager.
    fn refuse(&self, reason: &str) -> String {
        let text = format!("the running configuration stays in effect: {reason}");
        self.event(Level::Error, "reload", &text);
        self.facts.reloaded(Some(reason.to_owned()));
        format!("reload failed, the running configuration stays in effect: {reason}")
    }

    /// Reads the configuration file, and returns the status for the service manager.
    fn reload_file(&self, file: &FileArguments, default_listen: &[ListenAddress]) -> String {
        let planned = read(file)
            .and_then(|reading| plan(reading, &file.file, default_listen, Examiner::Serving));
        let Planned { plan, sources, warnings } = match planned {
            Ok(planned) => planned,
            Err(failure) => return self.refuse(&failure.to_string()),
        };
        match self.install(plan) {
            Ok(reloaded) => {
                self.took_effect(&reloaded, &warnings, &sources);
                SERVING.to_owned()
            }
            Err(found) => {
                report(&found, &sources);
                self.refuse(&refusal(&file.file, &found, &sources).to_string())
            }
        }
    }

    /// Handles SIGHUP: reloads the configuration, and reopens the log files, as some use it for
    /// rotation.
    pub(super) fn reload(&self) {
        match &self.source {
            ConfigurationSource::File { file, default_listen } => {
                self.notify(State::Reloading, "reading the configuration");
                let status = self.reload_file(file, default_listen);
                self.reopen_logs();
                self.notify(State::Ready, &status);
            }
            ConfigurationSource::Flags { .. } => {
                console::message(format_args!(
                    "no configuration file to reload; log file reopened"
                ));
                self.reopen_logs();
            }
        }
    }

    /// SIGUSR1: opens the log files by their names again.
    pub(super) fn reopen_logs(&self) {
        self.server.tools().logs.reopen();
    }

    /// Starts to drain, and returns how long that may take, in milliseconds.
    pub(super) fn drain(&self, signal: i32) -> u64 {
        let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
        self.log_server(Level::Notice, &format!("stopping: received {name}"));
        self.facts.enter(Phase::Draining);
        self.notify(State::Stopping, "waiting for requests to end");
        let drain_ms = self.server.drain_ms();
        self.server.control().drain(drain_ms);
        drain_ms
    }

    /// The log lines that were not written so far.
    pub(super) fn drops(&self) -> Vec<(Target, Drops)> {
        self.server.tools().logs.drops()
    }

    /// Ends the logs. Lines that are not written within `patience` are counted as dropped.
    pub(super) fn finish(&mut self, patience: Duration) -> Vec<(Target, Drops)> {
        let mut endpoints: Vec<_> =
            self.server.listeners().into_iter().map(|(_, one)| one).collect();
        if let Some(admin) = self.admin.take() {
            endpoints.extend(admin.control().listeners());
            admin.control().stop();
            // Its result does not matter any more.
            let _ = admin.wait();
        }
        self.remove_files(&endpoints);
        self.log_server(Level::Notice, "stopped");
        self.server.tools().logs.finish(patience)
    }

    /// Removes the pid file, and reports it if it stays, as well as sockets that the engine cannot
    /// remove.
    fn remove_files(&mut self, endpoints: &[Arc<Endpoint>]) {
        let pid_file = self.pid_file.take();
        let pid_file = pid_file.filter(|file| file.remove().is_err());
        let pid_file = pid_file.iter().map(|file| ("pid file", file.path()));
        let sockets = endpoints.iter().filter_map(|endpoint| match endpoint.address() {
            ListenAddress::Unix(path) if path.exists() => Some(("socket", path.as_path())),
            _ => None,
        });
        for (what, path) in sockets.chain(pid_file) {
            if let Some(reason) = self.unwritable(folder_of(path)) {
                let text = format!("the {what} {} stays: {reason}", path.display());
                self.event(Level::Warning, "server", &text);
            }
        }
    }

    /// Why this process cannot remove files from a folder; `None` if it can.
    fn unwritable(&self, folder: &Path) -> Option<String> {
        if let (Some(allowed), Ok(folder)) = (&self.allowed, folder.canonicalize()) {
            let mut allowed = allowed.write.iter().filter_map(|path| path.canonicalize().ok());
            if !allowed.any(|path| folder.starts_with(path)) {
                let folder = folder.display();
                return Some(format!("the sandbox forbids it (add {folder} to `sandbox.write`)"));
            }
        }
        unwritable(folder, &self.account)
    }

    /// How often [`Self::check`] is due.
    pub(super) fn check_interval(&self) -> Duration {
        let watchdog = self.notifier.watchdog_interval();
        watchdog.map_or(CHECK_INTERVAL, |interval| interval.min(CHECK_INTERVAL))
    }

    /// Notifies the watchdog, logs the limits that were reached, and returns freed memory.
    pub(super) fn check(&mut self) {
        if self.notifier.watchdog_interval().is_some() {
            self.notify(State::Alive, "");
        }
        let totals = self.server.control().totals();
        self.limits.check(&totals, &self.server.tools().error_log);
        release_memory();
    }
}

/// More than the 512 KiB up to which mimalloc keeps empty pages.
const PIECE_BYTES: usize = 4 << 20;

/// Returns memory that was freed a second ago or longer to the system. mimalloc does so when
/// another piece is freed: an idle server frees none, and would keep the memory that reading its
/// configuration took.
fn release_memory() {
    // Nothing is written to the piece, so none of it becomes memory.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(PIECE_BYTES)));
}
