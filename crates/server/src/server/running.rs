//! The engine with the sites of a plan.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_engine::listener::{Endpoint, ListenerKey};
use vervet_engine::reactor::Overload as EngineOverload;
use vervet_engine::{Carrier, Engine, EngineControl, EngineError, Running};

use super::reload::PlanSummary;
use super::sockets::{Named, Sockets};
use crate::plan::{Plan, PlannedListener};
use crate::settings::Overload;
use crate::staging::Tools;
use crate::web::{Stage, Stages, Web};

/// Settings of the engine that stay the same until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The number of reactors.
    pub workers: usize,
    /// How reactors are run.
    pub carrier: Carrier,
}

/// A running server, controlled from outside.
pub struct Server {
    pub(super) control: EngineControl,
    pub(super) stages: Stages,
    pub(super) tools: Tools,
    pub(super) current: Mutex<ServerState>,
}

/// The state of the current plan.
pub(super) struct ServerState {
    pub(super) plan: PlanSummary,
    pub(super) listeners: Vec<(Named, Arc<Endpoint>)>,
    pub(super) leaving: Vec<RemovedListener>,
    pub(super) next_key: u32,
    pub(super) generation: u64,
}

/// A listener that was removed, while connections that it accepted are open.
pub(super) struct RemovedListener {
    pub(super) listener: PlannedListener,
    pub(super) key: ListenerKey,
    /// Connections hold it, too.
    endpoint: Arc<Endpoint>,
}

impl ServerState {
    /// The listeners that have left, or do with the `next` plan, as they lead to its sites.
    pub(super) fn leaving(
        &self,
        next: &Plan,
        stays: impl Fn(ListenerKey) -> bool,
    ) -> Vec<RemovedListener> {
        let has_connections = |leaving: &&RemovedListener| Arc::strong_count(&leaving.endpoint) > 1;
        let before = self.leaving.iter().filter(has_connections);
        let before = before.map(|leaving| (&leaving.listener, leaving.key, &leaving.endpoint));
        let going = self.listeners.iter().filter(|(named, _)| !stays(named.key));
        let going = going.filter_map(|(named, endpoint)| {
            let mut planned = self.plan.listeners.iter();
            let planned = planned.find(|planned| planned.name == named.name)?;
            Some((planned, named.key, endpoint))
        });
        let leaving = before.chain(going);
        let leaving = leaving.map(|(listener, key, endpoint)| RemovedListener {
            listener: listener.leaving(&self.plan.sites, next),
            key,
            endpoint: Arc::clone(endpoint),
        });
        leaving.collect()
    }
}

impl Server {
    /// Starts the engine with its sockets and first stage. Wait for the second value of the result.
    pub fn start(
        plan: Plan,
        stage: Stage,
        sockets: Sockets,
        tools: Tools,
        setup: Setup,
    ) -> Result<(Self, Running), EngineError> {
        let document = plan.document();
        let overload = match *document.overload {
            Overload::Reject => EngineOverload::Reject,
            Overload::Wait => EngineOverload::Wait,
        };
        let own_fields = format!("Server: {}\r\n", *document.server).into_bytes();
        let mut builder = Engine::builder()
            .workers(setup.workers)
            .carrier(setup.carrier)
            .limits(plan.limits.clone())
            .own_answers(own_fields, overload);
        for listener in sockets.listeners {
            builder = builder.adopt(listener);
        }
        let stages = Stages::new(stage);
        let for_reactors = stages.clone();
        let metrics = tools.metrics.clone();
        let running = builder.start(move |_| Web::new(&for_reactors, metrics.meter()))?;
        let control = running.control();
        let endpoints = control.listeners();
        let listeners = sockets.named.into_iter().filter_map(|named| {
            let endpoint = endpoint(&endpoints, named.key)?;
            Some((named, endpoint))
        });
        let listeners: Vec<_> = listeners.collect();
        let current = ServerState {
            plan: PlanSummary::new(plan),
            next_key: u32::try_from(listeners.len()).unwrap_or(u32::MAX),
            listeners,
            leaving: Vec::new(),
            generation: 1,
        };
        let server = Self { control, stages, tools, current: Mutex::new(current) };
        Ok((server, running))
    }

    /// The control handle of the engine.
    pub fn control(&self) -> &EngineControl {
        &self.control
    }

    /// Returns the tools that all plans share.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// How long a drain may take, in milliseconds.
    pub fn drain_ms(&self) -> u64 {
        u64::from(self.current().plan.limits.drain_timeout_ms)
    }

    /// Requests rejected by filters, by short names, summed over all sites and routes.
    pub fn refused(&self) -> Vec<(String, u64)> {
        let mut sums = BTreeMap::new();
        for (name, count) in self.stages.newest().refused() {
            *sums.entry(name.to_owned()).or_default() += count;
        }
        sums.into_iter().collect()
    }

    /// The number of the current plan, counted from 1.
    pub fn generation(&self) -> u64 {
        self.current().generation
    }

    /// The names of the listeners and their bound addresses.
    pub fn listeners(&self) -> Vec<(String, Arc<Endpoint>)> {
        let current = self.current();
        let listeners = current.listeners.iter();
        listeners.map(|(named, endpoint)| (named.name.clone(), Arc::clone(endpoint))).collect()
    }

    pub(super) fn current(&self) -> MutexGuard<'_, ServerState> {
        // A reload that panicked has ended the process.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn endpoint(endpoints: &[Arc<Endpoint>], key: ListenerKey) -> Option<Arc<Endpoint>> {
    endpoints.iter().find(|endpoint| endpoint.key() == key).cloned()
}
