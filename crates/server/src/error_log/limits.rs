//! Limits that were hit, as events: what the counters say now against what they said before.

use vervet_engine::counters::Totals;

use super::level::Level;
use super::log::ErrorLog;

/// Looks at the counters of an engine now and then, and tells which limits were hit since it last looked.
#[derive(Debug, Default)]
pub struct LimitWatch {
    before: Totals,
}

impl LimitWatch {
    /// Nothing was hit yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a warning for each limit on connections, and a line of information for each limit in time, that was hit since
    /// the last look. Slow peers are the internet; too many connections are for the operator to know.
    pub fn look(&mut self, now: &Totals, log: &ErrorLog) {
        let (before, after) = (&self.before.timeouts, &now.timeouts);
        let in_number = [
            ("connections_max", self.before.refused, now.refused),
            (
                "connections_per_address_max",
                self.before.refused_address,
                now.refused_address,
            ),
        ];
        let in_time = [
            (
                "proxy_header_timeout_ms",
                before.proxy_header,
                after.proxy_header,
            ),
            ("head_timeout_ms", before.head, after.head),
            (
                "content_idle_timeout_ms",
                before.content_idle,
                after.content_idle,
            ),
            ("content_rate_min", before.content_rate, after.content_rate),
            (
                "write_stall_timeout_ms",
                before.write_stall,
                after.write_stall,
            ),
            ("write_rate_min", before.write_rate, after.write_rate),
        ];
        let levels = [
            (Level::Warning, "refused", &in_number[..]),
            (Level::Info, "cut", &in_time[..]),
        ];
        for (level, what, limits) in levels {
            for (name, before, after) in limits {
                let count = after.saturating_sub(*before);
                if count > 0 {
                    log.write(
                        level,
                        "limit",
                        format_args!("{name}: {count} connections {what}"),
                    );
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
    use crate::access_log::{Logs, Target};

    #[test]
    fn each_limit_is_told_with_what_was_hit_since_the_last_look() {
        let logs = Logs::new(|notice| panic!("{notice:?}"));
        let outlet = logs.open(&Target::Memory).unwrap();
        let log = ErrorLog::new(&outlet, Level::Info);
        let (mut watch, mut totals) = (LimitWatch::new(), Totals::default());
        watch.look(&totals, &log);
        (totals.refused, totals.timeouts.head) = (5, 2);
        watch.look(&totals, &log);
        watch.look(&totals, &log);
        totals.refused = 6;
        watch.look(&totals, &log);
        drop(log);
        logs.finish(Duration::from_secs(20));
        let lines = outlet.recent();
        let found: Vec<_> = lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(_, text)| text)
            .collect();
        let expected = [
            "warning limit: connections_max: 5 connections refused",
            "info limit: head_timeout_ms: 2 connections cut",
            "warning limit: connections_max: 1 connections refused",
        ];
        assert_eq!(found, expected);
    }
}
