//! When and how whoever runs the server is told of lines that were not written: at once, then at most every ten seconds.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::outlet::Drops;
use super::target::Target;

/// Dropped lines are reported at most so often.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// What was said of dropped lines, and when more is to be said.
#[derive(Debug, Default)]
pub struct DropReport {
    last: Option<Instant>,
    due: Option<Instant>,
    /// How many of each target were reported.
    said: HashMap<String, u64>,
}

impl DropReport {
    /// Nothing was said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lines were dropped: there will be something to say.
    pub fn note(&mut self, now: Instant) {
        let next = self.last.map_or(now, |last| last + REPORT_EVERY);
        self.due = Some(next.max(now));
    }

    /// When the report is due; none when there is nothing to say.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A sentence for each target that has dropped lines since it was last reported.
    pub fn sentences(&mut self, drops: &[(Target, Drops)], now: Instant) -> Vec<String> {
        self.due = None;
        let mut sentences = Vec::new();
        for (target, drops) in drops {
            let said = self.said.entry(target.key()).or_default();
            if drops.lines == *said {
                continue;
            }
            *said = drops.lines;
            self.last = Some(now);
            let reason = drops.reason.as_deref();
            sentences.push(format!(
                "log to {target}: {} lines dropped so far: {}",
                drops.lines,
                reason.unwrap_or("it takes lines too slowly")
            ));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(lines: u64) -> [(Target, Drops); 2] {
        let none = (Target::Stdout, Drops::default());
        let reason = Some("no space".to_owned());
        [none, (Target::file("/log"), Drops { lines, reason })]
    }

    #[test]
    fn reports_are_at_once_and_then_ten_seconds_apart() {
        let (mut report, now) = (DropReport::new(), Instant::now());
        assert_eq!(report.due(), None);
        report.note(now);
        assert_eq!(report.due(), Some(now));
        let sentences = report.sentences(&dropped(3), now);
        assert_eq!(sentences, ["log to /log: 3 lines dropped so far: no space"]);
        assert_eq!(report.due(), None);
        report.note(now + Duration::from_secs(1));
        assert_eq!(report.due(), Some(now + Duration::from_secs(10)));
        assert!(report.sentences(&dropped(3), now).is_empty());
        assert_eq!(report.sentences(&dropped(4), now).len(), 1);
        report.note(now + Duration::from_secs(30));
        assert_eq!(report.due(), Some(now + Duration::from_secs(30)));
    }
}
