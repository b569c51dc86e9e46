//! Configuring an engine before its start: listeners, workers, carrier and limits.

use std::sync::Arc;

use super::error::EngineError;
use super::group::Group;
use super::running::{Running, StartingEngine};
use super::worker::{Carrier, WorkerPlan};
use crate::connection::HttpOptions;
use crate::exchange::{Exchange, Outcome, Service};
use crate::gate::Gate;
use crate::limits::Limits;
use crate::listener::{ListenAddress, ListenOptions, Listener};
use crate::reactor::{Overload, ReactorOptions, Team, Tuning};

/// The HTTP engine; see [`Engine::builder`].
pub struct Engine;

impl Engine {
    /// Creates a builder with the default limits, one worker, and no listeners.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// The configuration of an engine that is not started yet.
pub struct Builder {
    listen: Vec<Listener>,
    workers: usize,
    carrier: Carrier,
    http: HttpOptions,
    overload: Overload,
}

impl Builder {
    fn new() -> Self {
        Self {
            listen: Vec::new(),
            workers: 1,
            carrier: Carrier::default(),
            http: HttpOptions::default(),
            overload: Overload::default(),
        }
    }

    /// Listens on an address: `127.0.0.1:8080`, `[::]:8080`, `:8080`, `unix:/run/web.sock`.
    pub fn listen(self, address: &str) -> Result<Self, EngineError> {
        self.listen_with(&address.parse()?, &ListenOptions::default())
    }

    /// Listens on an address with options. With `reuse_port` each worker has a socket of its own;
    /// otherwise all workers share one.
    pub fn listen_with(
        self,
        address: &ListenAddress,
        options: &ListenOptions,
    ) -> Result<Self, EngineError> {
        Ok(self.adopt(Listener::bind(address, options)?))
    }

    /// Adds a listener that exists already.
    #[must_use]
    pub fn adopt(mut self, listener: Listener) -> Self {
        self.listen.push(listener);
        self
    }

    /// Sets the number of reactors, each on its own thread; at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Sets what runs the reactors.
    #[must_use]
    pub fn carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// Sets all limits of the engine.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.http.limits = limits;
        self
    }

    /// Sets the field lines of the engine's own responses, each with its CRLF, and the overload
    /// policy.
    #[must_use]
    pub fn own_answers(mut self, fields: Vec<u8>, overload: Overload) -> Self {
        self.http.own_fields = fields;
        self.overload = overload;
        self
    }

    /// Starts the engine with one handler, cloned for each worker.
    pub fn serve<H>(self, handler: H) -> Result<Running, EngineError>
    where
        H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    {
        self.start(move |_| handler.clone())
    }

    /// Starts the engine with a service for each worker, made on the worker's thread from its
    /// number.
    pub fn start<F, S>(self, service: F) -> Result<Running, EngineError>
    where
        F: Fn(usize) -> S + Send + Sync + 'static,
        S: Service + 'static,
    {
        let service = Arc::new(service);
        self.http.limits.validate()?;
        let limits = &self.http.limits;
        let connections_max = limits.connections_max as usize;
        let gate = Gate::new(connections_max, limits.connections_per_address_max);
        let options = ReactorOptions {
            gate: Arc::new(gate),
            overload: self.overload,
            tuning: Tuning::from(limits),
            counters: Arc::default(),
        };
        let mut groups = Vec::new();
        for listener in self.listen {
            groups.push(Group::open(listener, self.workers)?);
        }
        let http = Arc::new(self.http);
        let team = Team::default();
        let mut start = StartingEngine::default();
        for number in 0..self.workers {
            let plan = WorkerPlan {
                number,
                carrier: self.carrier,
                listeners: groups.iter().map(|group| group.socket(number)).collect(),
                options: ReactorOptions {
                    counters: Arc::default(),
                    ..options.clone()
                },
                http: Arc::clone(&http),
                team: team.clone(),
            };
            start.add(plan.spawn(&service)?);
        }
        Ok(start.running(&team, &groups, options.gate))
    }
}
