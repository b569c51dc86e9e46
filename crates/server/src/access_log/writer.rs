//! The access logs on one reactor: what a service calls for each exchange.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::exchange::Finished;

use super::clock::Clock;
use super::condition::{Condition, LineDecision, RuleMatches};
use super::layout::{Line, RecordOffset};
use super::plan::{LogPlan, NameNumber, Origin};
use super::record::{PendingLine, Records, RequestRecord};
use super::request::RequestInfo;
use crate::log_sinks::LineSender;
use crate::metrics::{Meter, SiteCounters};

/// Writes the access logs of one reactor. In the steady state it allocates nothing.
#[derive(Debug)]
pub struct LogWriter {
    logs: Rc<ReactorLogs>,
    meter: Meter,
    records: Records,
    clock: Clock,
}

impl LogWriter {
    /// Writes the logs of a plan. Exchanges are not counted.
    pub fn new(plan: &Arc<LogPlan>) -> Self {
        Self::with_meter(plan, Meter::default())
    }

    /// Writes the logs of a plan. The meter counts every exchange by its site, whether it gets a
    /// line or not.
    pub fn with_meter(plan: &Arc<LogPlan>, meter: Meter) -> Self {
        Self {
            logs: Rc::new(ReactorLogs::new(plan, &meter)),
            meter,
            records: Records::default(),
            clock: Clock::new(),
        }
    }

    /// Replaces the plan. Requests that have begun get the lines of the old one.
    pub fn set_plan(&mut self, plan: &Arc<LogPlan>) {
        self.logs = Rc::new(ReactorLogs::new(plan, &self.meter));
    }

    /// Records a request. Pass the tag to [`Exchange::set_tag`](vervet_engine::Exchange::set_tag):
    /// each tag must return by [`LogWriter::finish`], with the engine's `finished`.
    pub fn begin(&mut self, info: &RequestInfo<'_>) -> u32 {
        let (tag, record) = self.records.take();
        record.begin(&self.logs, info.client, info.origin);
        self.logs.record_request(record, info);
        tag
    }

    /// Records the head of the response to a request: status line and field lines, each with CRLF.
    /// Needed only if [`LogPlan::needs`] says so.
    pub fn record_response(&mut self, tag: u32, head: &[u8]) {
        if let Some(record) = self.records.get_mut(tag)
            && let Some(logs) = record.logs.clone()
        {
            logs.record_response(record, head);
        }
    }

    /// Writes the lines of an exchange that has ended, and returns where it was answered.
    pub fn finish(&mut self, finished: &Finished<'_>) -> Origin {
        self.clock.advance(finished.now);
        let record = finished.tag.and_then(|tag| self.records.get(tag));
        let Some((record, logs)) = record.and_then(|record| Some((record, record.logs.as_ref()?)))
        else {
            self.logs.write_refused(finished, &self.clock);
            return Origin::default();
        };
        logs.write(record, finished, &self.clock);
        let origin = record.origin();
        if let Some(tag) = finished.tag {
            self.records.release(tag);
        }
        origin
    }
}

/// The logs of one plan on one reactor.
#[derive(Debug, Default)]
pub(super) struct ReactorLogs {
    plan: Arc<LogPlan>,
    outputs: Vec<LogOutput>,
    site_counters: Vec<Arc<SiteCounters>>,
    /// Counts what no site answers.
    other_counters: Arc<SiteCounters>,
}

/// One log on this reactor.
#[derive(Debug)]
struct LogOutput {
    sender: LineSender,
    /// Requests since the last one that was sampled.
    skipped: Cell<u32>,
}

/// The part of a line that differs between the logs of one exchange.
struct LineSource<'a> {
    pending: PendingLine,
    record: Option<&'a RequestRecord>,
    first: RecordOffset,
}

impl ReactorLogs {
    fn new(plan: &Arc<LogPlan>, meter: &Meter) -> Self {
        let outputs = plan
            .logs
            .iter()
            .map(|log| LogOutput { sender: log.sink.sender(), skipped: Cell::new(0) });
        let (site_counters, other_counters) = meter.sites(plan.names.sites());
        Self { outputs: outputs.collect(), site_counters, other_counters, plan: Arc::clone(plan) }
    }

    fn record_request(&self, record: &mut RequestRecord, info: &RequestInfo<'_>) {
        for number in self.plan.logs_of(info.logs) {
            let Some(log) = self.plan.logs.get(usize::from(*number)) else {
                continue;
            };
            let matches = log.condition.match_request(Some(info));
            if log.condition.may_accept(matches) {
                record.lines.push(PendingLine { log: *number, matches });
                log.layout.record_request(record, info);
            }
        }
    }

    fn record_response(&self, record: &mut RequestRecord, head: &[u8]) {
        record.clear_response();
        for index in 0..record.lines.len() {
            if let Some(log) = self.plan.logs.get(usize::from(record.lines[index].log)) {
                log.layout.record_response(record, head);
            }
        }
    }

    /// Counts an exchange that has ended, and writes its lines.
    fn write(&self, record: &RequestRecord, finished: &Finished<'_>, clock: &Clock) {
        let site = record.origin().site.map(NameNumber::index);
        let counters = site.and_then(|site| self.site_counters.get(site));
        counters.unwrap_or(&self.other_counters).count(finished);
        let mut first = RecordOffset::default();
        for pending in &record.lines {
            let source = LineSource { pending: *pending, record: Some(record), first };
            self.write_line(&source, finished, clock);
            if let Some(log) = self.plan.logs.get(usize::from(pending.log)) {
                first = log.layout.end(first);
            }
        }
    }

    /// Counts an exchange that the engine refused, and writes its lines.
    fn write_refused(&self, finished: &Finished<'_>, clock: &Clock) {
        self.other_counters.count(finished);
        for number in self.plan.logs_of_refused() {
            let log = self.plan.logs.get(usize::from(*number));
            let matches =
                log.map_or(RuleMatches::default(), |log| log.condition.match_request(None));
            let source = LineSource {
                pending: PendingLine { log: *number, matches },
                record: None,
                first: RecordOffset::default(),
            };
            self.write_line(&source, finished, clock);
        }
    }

    fn write_line(&self, source: &LineSource<'_>, finished: &Finished<'_>, clock: &Clock) {
        let PendingLine { log, matches } = source.pending;
        let number = usize::from(log);
        let (Some(log), Some(output)) = (self.plan.logs.get(number), self.outputs.get(number))
        else {
            return;
        };
        let sample = match log.condition.decide(matches, finished.status.code()) {
            LineDecision::Write => 1,
            LineDecision::Sample if output.is_sampled(&log.condition) => log.condition.one_in.get(),
            LineDecision::Skip | LineDecision::Sample => return,
        };
        let line = Line {
            record: source.record,
            first: source.first,
            finished,
            names: &self.plan.names,
            clock,
            sample,
        };
        output.sender.send(|out| log.layout.push_line(out, &line));
    }
}

impl LogOutput {
    /// Whether this request is the one in N: the first, and each Nth after it.
    fn is_sampled(&self, condition: &Condition) -> bool {
        let skipped = self.skipped.get();
        self.skipped.set((skipped + 1) % condition.one_in.get());
        skipped == 0
    }
}
