//! What `vervet serve` does when it is told to: it has a log to open anew, and no configuration.

use std::time::Duration;

use vervet_server::engine::EngineControl;
use vervet_server::log_sinks::{Drops, LogSinks, Target};

use crate::life::Course;
use crate::talk;

/// A folder being served.
pub(super) struct ServeCourse {
    pub(super) control: EngineControl,
    pub(super) logs: Option<LogSinks>,
    pub(super) drain_ms: u64,
}

impl Course for ServeCourse {
    fn reload(&mut self) {
        talk::say(format_args!(
            "there is no configuration to read anew: only the log file is opened anew"
        ));
        self.reopen();
    }

    fn reopen(&mut self) {
        if let Some(logs) = &self.logs {
            logs.reopen();
        }
    }

    fn drain(&mut self) -> u64 {
        self.control.drain(self.drain_ms);
        self.drain_ms
    }

    fn drops(&self) -> Vec<(Target, Drops)> {
        self.logs.as_ref().map(LogSinks::drops).unwrap_or_default()
    }

    fn finish(&mut self, patience: Duration) -> Vec<(Target, Drops)> {
        let logs = self.logs.take();
        logs.map(|logs| logs.finish(patience)).unwrap_or_default()
    }
}
