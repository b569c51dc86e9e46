//! What `vervet run` does when it is told to: reload, reopen, drain, and speak to the service manager.

use std::sync::Arc;
use std::time::Duration;

use vervet_server::admin::Phase;
use vervet_server::config::{Diagnostics, Sources};
use vervet_server::engine::Running;
use vervet_server::engine::listener::ListenAddress;
use vervet_server::error_log::{Level, LimitWatch};
use vervet_server::log_sinks::{Drops, Target};
use vervet_server::plan::Plan;
use vervet_server::server::{Reloaded, Server};
use vervet_server::staging::{Paths, rehearse};

use super::facts::ServerFacts;
use super::notify::{Notifier, State};
use super::pid_file::PidFile;
use crate::config::{FileArguments, planned, refusal, report};
use crate::life::Course;
use crate::memory;

/// How often the counters are looked at for limits that were hit, and freed memory is given back.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The status of a server that serves what it was told to.
pub(super) const SERVING: &str = "serving";

/// What is let go of at the end.
pub(super) struct Hold {
    pub(super) admin: Option<Running>,
    pub(super) pid_file: Option<PidFile>,
}

/// A configuration being served.
pub(super) struct RunCourse {
    server: Arc<Server>,
    facts: Arc<ServerFacts>,
    notifier: Notifier,
    asked: Asked,
    limits: LimitWatch,
    hold: Hold,
}

/// What is read at each reload.
pub(super) struct Asked {
    pub(super) file: FileArguments,
    /// Where it listens if the document does not say.
    pub(super) unasked: Vec<ListenAddress>,
    /// What of the file system the process was restricted to, if it was.
    pub(super) allowed: Option<Paths>,
}

impl RunCourse {
    pub(super) fn new(
        server: Arc<Server>,
        facts: Arc<ServerFacts>,
        (notifier, asked): (Notifier, Asked),
        hold: Hold,
    ) -> Self {
        Self {
            server,
            facts,
            notifier,
            asked,
            limits: LimitWatch::new(),
            hold,
        }
    }

    /// Tells the service manager. One that has gone is no reason to do anything else.
    pub(super) fn tell(&self, state: State, status: &str) {
        let _ = self.notifier.tell(state, status);
    }

    fn event(&self, level: Level, kind: &'static str, text: &str) {
        let error_log = &self.server.tools().error_log;
        error_log.write(level, kind, format_args!("{text}"));
    }

    fn took_effect(&self, reloaded: &Reloaded, sources: &Sources) {
        report(&reloaded.warnings, sources);
        let mut text = format!("reloaded: plan {}", reloaded.generation);
        for (what, names) in [("new", &reloaded.opened), ("gone", &reloaded.closed)] {
            if !names.is_empty() {
                text = format!("{text}, {what}: {}", names.join(", "));
            }
        }
        self.event(Level::Notice, "reload", &text);
        self.facts.reloaded(None);
    }

    /// Goes over to a plan, unless it needs what is out of reach.
    fn take(&self, plan: Plan) -> Result<Reloaded, Diagnostics> {
        let allowed = self.asked.allowed.as_ref();
        let mut outside = allowed.map_or_else(Diagnostics::new, |allowed| plan.outside(allowed));
        if outside.has_errors() {
            outside.extend_behind(rehearse(&plan));
            outside.sort();
            return Err(outside);
        }
        self.server.reload(plan)
    }

    /// Gives the status for the service manager.
    fn refuse(&self, reason: &str) -> String {
        let text = format!("the old configuration is served on: {reason}");
        self.event(Level::Error, "reload", &text);
        self.facts.reloaded(Some(reason.to_owned()));
        format!("serving the old configuration: {reason}")
    }
}

impl Course for RunCourse {
    fn reload(&mut self) {
        self.tell(State::Reloading, "reading the configuration anew");
        let status = match planned(&self.asked.file, &self.asked.unasked) {
            Ok((plan, sources)) => match self.take(plan) {
                Ok(reloaded) => {
                    self.took_effect(&reloaded, &sources);
                    SERVING.to_owned()
                }
                Err(found) => {
                    report(&found, &sources);
                    self.refuse(&refusal(&self.asked.file.file, &found, &sources).to_string())
                }
            },
            Err(failure) => self.refuse(&failure.to_string()),
        };
        // Whoever sends HUP to rotate logs is served, too.
        self.reopen();
        self.tell(State::Ready, &status);
    }

    fn reopen(&mut self) {
        self.server.tools().logs.reopen();
    }

    fn drain(&mut self) -> u64 {
        self.facts.enter(Phase::Draining);
        self.tell(State::Stopping, "letting requests under way end");
        let drain_ms = self.server.drain_ms();
        self.server.control().drain(drain_ms);
        drain_ms
    }

    fn drops(&self) -> Vec<(Target, Drops)> {
        self.server.tools().logs.drops()
    }

    fn finish(&mut self, patience: Duration) -> Vec<(Target, Drops)> {
        if let Some(admin) = self.hold.admin.take() {
            admin.control().stop();
            // It has nothing that anybody waits for.
            let _ = admin.wait();
        }
        let drops = self.server.tools().logs.finish(patience);
        drop(self.hold.pid_file.take());
        drops
    }

    fn heartbeat(&self) -> Option<Duration> {
        let watchdog = self.notifier.watchdog_interval();
        Some(watchdog.map_or(LOOK_EVERY, |interval| interval.min(LOOK_EVERY)))
    }

    fn beat(&mut self) {
        if self.notifier.watchdog_interval().is_some() {
            self.tell(State::Alive, "");
        }
        let totals = self.server.control().totals();
        self.limits.check(&totals, &self.server.tools().error_log);
        memory::give_back();
    }
}
