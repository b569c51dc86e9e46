//! Replaces the plan while the engine runs: unchanged parts stay, and a plan that cannot be opened
//! changes nothing.

use super::running::{RemovedListener, Server, ServerState};
use super::sockets::{Named, open};
use crate::plan::{Plan, PlannedListener};
use crate::settings::{AdminSettings, Document, Overload, Sandbox, Workers};
use crate::staging::{prepare, rehearse};
use crate::web::Stage;
use rustix::io::Errno;
use std::collections::HashSet;
use std::sync::Arc;
use vervet_config::{Diagnostic, Diagnostics, Path, Text};
use vervet_engine::limits::Limits;
use vervet_engine::listener::{BindError, Endpoint, Inherited, Listener, ListenerKey};

/// The result of a reload.
#[derive(Debug)]
pub struct Reloaded {
    /// The number of the plan.
    pub generation: u64,
    /// The names of listeners that are new.
    pub opened: Vec<String>,
    /// The names of closed listeners; connections in their queues are still served.
    pub closed: Vec<String>,
    /// The names of sites that are new.
    pub new_sites: Vec<String>,
    /// The names of sites that are there no more.
    pub removed_sites: Vec<String>,
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
        let fixed = current.plan.fixed.clone();
        let next = PlanSummary { fixed, ..PlanSummary::new(plan) };
        let before = std::mem::replace(&mut current.plan, next);
        let (now, before) = (&current.plan.sites, &before.sites);
        current.generation = generation;
        current.next_key = change.next_key;
        Reloaded {
            generation,
            opened,
            closed,
            new_sites: names_without(now, before),
            removed_sites: names_without(before, now),
            warnings: change.found,
        }
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
            Err(error) => {
                self.found.push(Diagnostic::error(planned.span, bind_problem(&error)));
            }
        }
    }
}

/// Why a running server cannot bind a socket. Its start may have had more privileges.
fn bind_problem(error: &BindError) -> String {
    match error {
        BindError::Address { address, errno: Errno::ACCESS | Errno::PERM } => format!(
            "cannot bind {address}: permission denied (restart the server: it had the privileges \
             for this only at its start)"
        ),
        other => other.to_string(),
    }
}

/// The names of one plan that the other does not have.
fn names_without(names: &[Box<str>], others: &[Box<str>]) -> Vec<String> {
    let others: HashSet<&str> = others.iter().map(|name| &**name).collect();
    names.iter().filter(|name| !others.contains(&***name)).map(ToString::to_string).collect()
}

fn has_key(listeners: &[(Named, Arc<Endpoint>)], key: ListenerKey) -> bool {
    listeners.iter().any(|(named, _)| named.key == key)
}

/// Settings that change only with a restart.
fn note_what_stays(before: &PlanSummary, now: &Plan, found: &mut Diagnostics) {
    let (before, now) = (&before.fixed, now.document());
    let changes = [
        ("user", before.user != *now.user, now.user.span()),
        ("group", before.group != *now.group, now.group.span()),
        ("pid_file", before.pid_file != *now.pid_file, now.pid_file.span()),
        ("sandbox", before.sandbox != *now.sandbox, now.sandbox.span()),
        ("workers", before.workers != *now.workers, now.workers.span()),
        ("overload", before.overload != *now.overload, now.overload.span()),
        // Sites have the new value at once, rejections by the engine do not.
        ("server", before.server != *now.server, now.server.span()),
        ("admin", before.admin != *now.admin, now.admin.span()),
    ];
    for (name, _, span) in changes.into_iter().filter(|(_, has_changed, _)| *has_changed) {
        let message = format!("a change of `{name}` takes effect after a restart");
        found.push(Diagnostic::warning(span, message));
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
    fixed: FixedSettings,
}

/// Settings that change only with a restart, as they were at the start.
#[derive(Clone, Debug)]
struct FixedSettings {
    user: Option<Text>,
    group: Option<Text>,
    pid_file: Option<Path>,
    sandbox: Option<Sandbox>,
    workers: Workers,
    overload: Overload,
    server: Text,
    admin: Option<AdminSettings>,
}

impl From<&Document> for FixedSettings {
    fn from(document: &Document) -> Self {
        Self {
            user: document.user.value().clone(),
            group: document.group.value().clone(),
            pid_file: document.pid_file.value().clone(),
            sandbox: document.sandbox.value().clone(),
            workers: *document.workers,
            overload: *document.overload,
            server: document.server.value().clone(),
            admin: document.admin.value().clone(),
        }
    }
}

impl PlanSummary {
    pub(super) fn new(plan: Plan) -> Self {
        let sites = plan.sites.iter().map(|site| Box::from(site.name.as_str()));
        Self {
            sites: sites.collect(),
            fixed: FixedSettings::from(plan.document()),
            limits: plan.limits,
            listeners: plan.listeners,
        }
    }
}
