//! Events for limits that were reached, from the difference of counters.

use vervet_engine::counters::Totals;

use super::line::Level;
use super::log::ErrorLog;

/// Compares the counters of an engine with their last values and logs the limits that were reached.
#[derive(Debug, Default)]
pub struct LimitWatch {
    before: Totals,
}

impl LimitWatch {
    /// Starts with all counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Logs a warning for each limit on connections, and an info event for each timeout, that was
    /// reached since the last call. Slow peers are normal; too many connections concern the
    /// operator.
    pub fn check(&mut self, now: &Totals, log: &ErrorLog) {
        let (before, after) = (&self.before.timeouts, &now.timeouts);
        let in_number = [
            ("connections_max", self.before.refused, now.refused),
            ("connections_per_address_max", self.before.refused_address, now.refused_address),
        ];
        let in_time = [
            ("proxy_header_timeout_ms", before.proxy_header, after.proxy_header),
            ("head_timeout_ms", before.head, after.head),
            ("content_idle_timeout_ms", before.content_idle, after.content_idle),
            ("content_rate_min", before.content_rate, after.content_rate),
            ("write_stall_timeout_ms", before.write_stall, after.write_stall),
            ("write_rate_min", before.write_rate, after.write_rate),
        ];
        let levels =
            [(Level::Warning, "refused", &in_number[..]), (Level::Info, "closed", &in_time[..])];
        for (level, what, limits) in levels {
            for (name, before, after) in limits {
                let count = after.saturating_sub(*before);
                if count > 0 {
                    log.write(level, "limit", format_args!("{name}: {count} connections {what}"));
                }
            }
        }
        self.before = *now;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::log_sinks::{LogSinks, Target};

    #[test]
    fn each_limit_is_reported_with_its_count_since_the_last_check() {
        let logs = LogSinks::new(|notice| panic!("{notice:?}"));
        let sink = logs.open(&Target::Memory).unwrap();
        let log = ErrorLog::new(&sink, Level::Info);
        let (mut watch, mut totals) = (LimitWatch::new(), Totals::default());
        watch.check(&totals, &log);
        (totals.refused, totals.timeouts.head) = (5, 2);
        watch.check(&totals, &log);
        watch.check(&totals, &log);
        totals.refused = 6;
        watch.check(&totals, &log);
        drop(log);
        logs.finish(Duration::from_secs(20));
        let lines = sink.recent();
        let found: Vec<_> =
            lines.iter().filter_map(|line| line.split_once(' ')).map(|(_, text)| text).collect();
        let expected = [
            "warning limit: connections_max: 5 connections refused",
            "info limit: head_timeout_ms: 2 connections closed",
            "warning limit: connections_max: 1 connections refused",
        ];
        assert_eq!(found, expected);
    }
}
