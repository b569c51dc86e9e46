//! The access logs on one reactor: what a service calls for each exchange.

use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::exchange::Finished;

use super::desk::Desk;
use super::facts::RequestFacts;
use super::plan::{LogPlan, Origin};
use super::record::Records;
use super::when::Clock;
use crate::metrics::Meter;

/// Writes the access logs of one reactor. In the steady state it allocates nothing.
#[derive(Debug)]
pub struct Scribe {
    desk: Rc<Desk>,
    meter: Meter,
    records: Records,
    clock: Clock,
}

impl Scribe {
    /// The logs of a plan on this reactor. What they tell is not counted.
    pub fn new(plan: &Arc<LogPlan>) -> Self {
        Self::counting(plan, Meter::default())
    }

    /// The logs of a plan on this reactor, whose meter counts every exchange, by its site, whether it has a line or not.
    pub fn counting(plan: &Arc<LogPlan>, meter: Meter) -> Self {
        Self {
            desk: Rc::new(Desk::new(plan, &meter)),
            meter,
            records: Records::default(),
            clock: Clock::new(),
        }
    }

    /// Goes over to another plan. Exchanges that have begun get their lines as the old one wanted them.
    pub fn change(&mut self, plan: &Arc<LogPlan>) {
        self.desk = Rc::new(Desk::new(plan, &self.meter));
    }

    /// Notes a request. Give the tag to [`Exchange::set_tag`](vervet_engine::Exchange::set_tag): each tag has to come
    /// back by [`Scribe::finish`], which the engine's `finished` sees to.
    pub fn begin(&mut self, facts: &RequestFacts<'_>) -> u32 {
        let (tag, record) = self.records.take();
        record.begin(&self.desk, facts.client, facts.origin);
        self.desk.note_request(record, facts);
        tag
    }

    /// Notes a request once more, when more is known of it than at the beginning: the site, the user.
    pub fn renew(&mut self, tag: u32, facts: &RequestFacts<'_>) {
        if let Some(record) = self.records.get_mut(tag) {
            record.begin(&self.desk, facts.client, facts.origin);
            self.desk.note_request(record, facts);
        }
    }

    /// Notes the head of the response to a request: status line and field lines, each with CRLF. Needed only where
    /// [`LogPlan::needs`] says so.
    pub fn respond(&mut self, tag: u32, head: &[u8]) {
        if let Some(record) = self.records.get_mut(tag)
            && let Some(desk) = record.desk.clone()
        {
            desk.note_response(record, head);
        }
    }

    /// Writes the lines of an exchange that has ended, and says where it was answered.
    pub fn finish(&mut self, finished: &Finished<'_>) -> Origin {
        self.clock.advance(finished.now);
        let record = finished.tag.and_then(|tag| self.records.get(tag));
        let Some((record, desk)) = record.and_then(|record| Some((record, record.desk.as_ref()?)))
        else {
            self.desk.write_refused(finished, &self.clock);
            return Origin::default();
        };
        desk.write(record, finished, &self.clock);
        let origin = record.origin();
        if let Some(tag) = finished.tag {
            self.records.release(tag);
        }
        origin
    }
}
