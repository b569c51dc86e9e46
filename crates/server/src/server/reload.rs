//! Replaces the plan while the engine runs: unchanged parts stay, and a plan that cannot be opened
//! changes nothing.

use super::running::{RemovedListener, Server, ServerState};
use super::sockets::{Named, open};
use crate::plan::{Plan, PlannedListener};
use crate::settings::{Overload, Workers};
use crate::staging::{prepare, rehearse};
use crate::web::Stage;
use std::sync::Arc;
use vervet_config::{Diagnostic, Diagnostics};
use vervet_engine::limits::Limits;
use vervet_engine::listener::{Endpoint, Inherited, Listener, ListenerKey};

/// The result of a reload.
#[derive(Debug)]
pub struct Reloaded {
    /// The number of the plan.
    pub generation: u64,
    /// The names of listeners that are new.
    pub opened: Vec<String>,
    /// The names of closed listeners; connections in their queues are still served.
    pub closed: Vec<String>,
    /// Warnings, such as changes that need a restart.
    pub warnings: Diagnostics,
}

/// The listeners of the next plan, before anything has changed.
#[derive(Default)]
struct Change {
    kept: Vec<(Named, Arc<Endpoint>)>,
    new: Vec<(Named, Listener)>,
    leaving: Vec<RemovedListener>,
    keys: Vec<ListenerKey>,
    found: Diagnostics,
    next_key: u32,
}

impl Server {
    /// Switches to another plan. Connections stay open; requests in progress finish on the old
    /// plan. If something that the plan needs is not available, nothing changes, and all errors are
    /// returned.
    pub fn reload(&self, plan: Plan) -> Result<Reloaded, Diagnostics> {
        let mut current = self.current();
        let mut change = Change::new(&current, &plan);
        let error_log = &plan.document().error_log;
        let sink = error_log.open(&self.tools.logs, self.tools.owner);
        let sink = sink.map_err(|problem| change.found.push(*problem));
        let (Ok(sink), false) = (sink, change.found.has_errors()) else {
            // All errors are reported at once.
            change.found.extend_with_later(rehearse(&plan));
            change.found.sort();
            return Err(change.found);
        };
        let (mut stage, warnings) = prepare(&plan, &change.keys, &self.tools)?;
        self.tools.error_log.apply(error_log, &sink);
        let leaving = change.leaving.iter();
        let leaving = leaving.map(|leaving| (leaving.key, leaving.listener.stage()));
        stage.listeners.extend(leaving);
        change.found.extend(warnings);
        note_what_stays(&current.plan, &plan, &mut change.found);
        Ok(self.install(&mut current, plan, stage, change))
    }

    fn install(
        &self,
        current: &mut ServerState,
        plan: Plan,
        stage: Stage,
        mut change: Change,
    ) -> Reloaded {
        let generation = current.generation + 1;
        self.stages.replace(Stage { generation, ..stage });
        // The limits of a plan are good; an engine that has ended needs none.
        let _ = self.control.set_limits(plan.limits.clone());
        let _ = self.control.refresh().wait();
        let mut opened = Vec::new();
        for (named, listener) in change.new {
            match self.control.adopt(listener) {
                Ok(endpoint) => {
                    opened.push(named.name.clone());
                    change.kept.push((named, endpoint));
                }
                Err(error) => {
                    let message = format!("cannot listen on {}: {error}", named.address);
                    let place =
                        plan.listeners.iter().find(|planned| planned.address == named.address);
                    let span = place.map_or(vervet_config::Span::NOWHERE, |planned| planned.span);
                    change.found.push(Diagnostic::warning(span, message));
                }
            }
        }
        let before = std::mem::replace(&mut current.listeners, change.kept);
        let mut closed = Vec::new();
        for (named, endpoint) in before {
            if !has_key(&current.listeners, named.key) {
                // Its queue is served meanwhile; nobody has to wait for that.
                drop(self.control.unlisten(&endpoint));
                closed.push(named.name);
            }
        }
        current.leaving = change.leaving;
        current.plan = PlanSummary::new(plan);
        current.generation = generation;
        current.next_key = change.next_key;
        Reloaded { generation, opened, closed, warnings: change.found }
    }
}

impl Change {
    fn new(current: &ServerState, plan: &Plan) -> Self {
        let mut change = Self { next_key: current.next_key, ..Self::default() };
        for planned in &plan.listeners {
            match change.known(planned, current, plan) {
                Some((named, endpoint)) => change.keep(planned, named, endpoint),
                None => change.open(planned),
            }
        }
        change.leaving = current.leaving(plan, |key| has_key(&change.kept, key));
        change
    }

    /// The open socket of a listener. Several listeners can have port 0: their names distinguish
    /// them, and one with a new name takes a remaining socket.
    fn known<'c>(
        &self,
        planned: &PlannedListener,
        current: &'c ServerState,
        plan: &Plan,
    ) -> Option<&'c (Named, Arc<Endpoint>)> {
        let is_free =
            |named: &Named| named.address == planned.address && !has_key(&self.kept, named.key);
        let is_anothers = |named: &Named| {
            let mut others = plan.listeners.iter();
            others.any(|other| other.name == named.name && other.address == named.address)
        };
        let mut free = current.listeners.iter().filter(|(named, _)| is_free(named));
        let same = free.clone().find(|(named, _)| named.name == planned.name);
        same.or_else(|| free.find(|(named, _)| !is_anothers(named)))
    }

    fn keep(&mut self, planned: &PlannedListener, known: &Named, endpoint: &Arc<Endpoint>) {
        if known.options != planned.options {
            let message = "the options of an open socket cannot be changed";
            let problem = Diagnostic::warning(planned.span, message);
            self.found.push(problem.note("the new options take effect after a restart"));
        }
        let named = Named { options: known.options.clone(), ..Named::new(planned, known.key) };
        self.keys.push(known.key);
        self.kept.push((named, Arc::clone(endpoint)));
    }

    fn open(&mut self, planned: &PlannedListener) {
        let key = ListenerKey(self.next_key);
        self.next_key += 1;
        self.keys.push(key);
        match open(planned, key, &mut Inherited::default()) {
            Ok(listener) => self.new.push((Named::new(planned, key), listener)),
            Err(problem) => self.found.push(problem),
        }
    }
}

fn has_key(listeners: &[(Named, Arc<Endpoint>)], key: ListenerKey) -> bool {
    listeners.iter().any(|(named, _)| named.key == key)
}

/// Settings that change only with a restart.
fn note_what_stays(before: &PlanSummary, now: &Plan, found: &mut Diagnostics) {
    let now = now.document();
    let mut note = |span, name: &str| {
        let message = format!("a change of `{name}` takes effect after a restart");
        found.push(Diagnostic::warning(span, message));
    };
    if before.workers != *now.workers {
        note(now.workers.span(), "workers");
    }
    if before.overload != *now.overload {
        note(now.overload.span(), "overload");
    }
}

/// The parts of the served plan that the next one is compared with. The plan itself, and its
/// document, are dropped when the stage serves: they are many times as large.
#[derive(Debug)]
pub(super) struct PlanSummary {
    pub(super) limits: Limits,
    pub(super) listeners: Vec<PlannedListener>,
    /// The names of the sites, in the order in which the listeners know them.
    pub(super) sites: Vec<Box<str>>,
    /// Settings that change only with a restart.
    pub(super) workers: Workers,
    pub(super) overload: Overload,
}

impl PlanSummary {
    pub(super) fn new(plan: Plan) -> Self {
        let sites = plan.sites.iter().map(|site| Box::from(site.name.as_str()));
        Self {
            sites: sites.collect(),
            workers: *plan.document().workers,
            overload: *plan.document().overload,
            limits: plan.limits,
            listeners: plan.listeners,
        }
    }
}
