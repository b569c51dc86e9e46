//! A plan at work on one reactor: the reactor's ends of its logs, and how far each has counted.

use std::cell::Cell;
use std::sync::Arc;

use vervet_engine::exchange::Finished;

use super::condition::{Condition, Fate, Matched};
use super::end_value::Line;
use super::facts::RequestFacts;
use super::lines::Lines;
use super::plan::{LogPlan, NameNumber};
use super::record::{Entry, Record};
use super::when::Clock;
use crate::metrics::{Meter, SiteCounters};

/// The logs of one plan on one reactor.
#[derive(Debug, Default)]
pub(super) struct Desk {
    plan: Arc<LogPlan>,
    ends: Vec<End>,
    /// What is counted of each site, and of what no site answers.
    counters: (Vec<Arc<SiteCounters>>, Arc<SiteCounters>),
}

/// A log's end on this reactor.
#[derive(Debug)]
struct End {
    lines: Lines,
    /// Requests that were let pass since the last of one in N.
    passed: Cell<u32>,
}

impl Desk {
    pub(super) fn new(plan: &Arc<LogPlan>, meter: &Meter) -> Self {
        let ends = plan.logs.iter().map(|log| End {
            lines: log.outlet.lines(),
            passed: Cell::new(0),
        });
        Self {
            ends: ends.collect(),
            counters: meter.sites(plan.names.sites()),
            plan: Arc::clone(plan),
        }
    }

    /// Notes what the lines of a request will need.
    pub(super) fn note_request(&self, record: &mut Record, facts: &RequestFacts<'_>) {
        for number in self.plan.logs_of(facts.logs) {
            let Some(log) = self.plan.logs.get(usize::from(*number)) else {
                continue;
            };
            let matched = log.condition.of_request(Some(facts));
            if log.condition.may_pass(matched) {
                record.entries.push(Entry {
                    log: *number,
                    matched,
                });
                log.layout.note_request(record, facts);
            }
        }
    }

    /// Notes what they will need of the response.
    pub(super) fn note_response(&self, record: &mut Record, head: &[u8]) {
        record.clear_response();
        for index in 0..record.entries.len() {
            if let Some(log) = self.plan.logs.get(usize::from(record.entries[index].log)) {
                log.layout.note_response(record, head);
            }
        }
    }

    /// Counts an exchange that has ended, and writes its lines.
    pub(super) fn write(&self, record: &Record, finished: &Finished<'_>, clock: &Clock) {
        let site = record.origin().site.map(NameNumber::index);
        let counters = site.and_then(|site| self.counters.0.get(site));
        counters.unwrap_or(&self.counters.1).count(finished);
        let mut first = (0, 0);
        for entry in &record.entries {
            self.write_line(*entry, (Some(record), first), finished, clock);
            if let Some(log) = self.plan.logs.get(usize::from(entry.log)) {
                first.0 += log.layout.segments();
                first.1 += log.layout.responses();
            }
        }
    }

    /// Counts what the engine refused, and writes its lines.
    pub(super) fn write_refused(&self, finished: &Finished<'_>, clock: &Clock) {
        self.counters.1.count(finished);
        for number in self.plan.logs_of_refused() {
            let condition = self.plan.logs.get(usize::from(*number));
            let entry = Entry {
                log: *number,
                matched: condition.map_or(Matched::default(), |log| log.condition.of_request(None)),
            };
            self.write_line(entry, (None, (0, 0)), finished, clock);
        }
    }

    fn write_line(
        &self,
        entry: Entry,
        (record, first): (Option<&Record>, (usize, usize)),
        finished: &Finished<'_>,
        clock: &Clock,
    ) {
        let number = usize::from(entry.log);
        let (Some(log), Some(end)) = (self.plan.logs.get(number), self.ends.get(number)) else {
            return;
        };
        let sample = match log.condition.fate(entry.matched, finished.status.code()) {
            Fate::Kept => 1,
            Fate::Counted if end.is_due(&log.condition) => log.condition.one_in.get(),
            Fate::Out | Fate::Counted => return,
        };
        let line = Line {
            record,
            first,
            finished,
            names: &self.plan.names,
            clock,
            sample,
        };
        end.lines.push(|out| log.layout.push_line(out, &line));
    }
}

impl End {
    /// Whether the line that is let pass now is the one in N: the first, and each Nth after it.
    fn is_due(&self, condition: &Condition) -> bool {
        let passed = self.passed.get();
        self.passed.set((passed + 1) % condition.one_in.get());
        passed == 0
    }
}
