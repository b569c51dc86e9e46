//! An engine about to be started: where it listens, by what it is carried, within which limits.

use std::net::SocketAddr;
use std::sync::Arc;

use super::error::EngineError;
use super::running::Running;
use super::worker::{Carrier, WorkerPlan};
use crate::connection::HttpOptions;
use crate::exchange::{Exchange, Outcome, Service};
use crate::gate::Gate;
use crate::limits::Limits;
use crate::listener::{ListenAddress, ListenOptions, Listener};
use crate::reactor::{Overload, ReactorOptions, Team};

/// Where to begin.
pub struct Engine;

impl Engine {
    /// An engine with the default limits, one worker, and no listener yet.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// An engine about to be started.
pub struct Builder {
    listen: Vec<Arc<Listener>>,
    spread: Vec<(SocketAddr, ListenOptions)>,
    workers: usize,
    carrier: Carrier,
    http: HttpOptions,
    overload: Overload,
}

impl Builder {
    fn new() -> Self {
        Self {
            listen: Vec::new(),
            spread: Vec::new(),
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

    /// Listens on an address with options. With `reuse_port` each worker has a socket of its own; otherwise
    /// all accept from one.
    pub fn listen_with(
        mut self,
        address: &ListenAddress,
        options: &ListenOptions,
    ) -> Result<Self, EngineError> {
        let listener = Listener::bind(address, options)?;
        if options.reuse_port {
            // The port may have been chosen by the kernel: the other workers bind the same.
            if let Some(bound) = listener.local_address() {
                self.spread.push((bound, options.clone()));
            }
        }
        self.listen.push(Arc::new(listener));
        Ok(self)
    }

    /// Accepts from a listener that exists already.
    #[must_use]
    pub fn adopt(mut self, listener: Listener) -> Self {
        self.listen.push(Arc::new(listener));
        self
    }

    /// How many reactors, each on a thread of its own; at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// What carries the reactors.
    #[must_use]
    pub fn carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// Sets all limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.http.limits = limits;
        self
    }

    /// Field lines of the engine's own answers, each with its CRLF, and the overload policy.
    #[must_use]
    pub fn own_answers(mut self, fields: Vec<u8>, overload: Overload) -> Self {
        self.http.own_fields = fields;
        self.overload = overload;
        self
    }

    /// Starts with one handler, cloned for each worker.
    pub fn serve<H>(self, handler: H) -> Result<Running, EngineError>
    where
        H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    {
        self.start(move |_| handler.clone())
    }

    /// Starts with a service for each worker, made on the worker's own thread from its number.
    pub fn start<F, S>(self, service: F) -> Result<Running, EngineError>
    where
        F: Fn(usize) -> S + Send + Sync + 'static,
        S: Service + 'static,
    {
        self.http.limits.validate()?;
        let http = Arc::new(self.http);
        let limits = &http.limits;
        let options = ReactorOptions {
            gate: Arc::new(Gate::new(
                limits.connections_max as usize,
                limits.connections_per_address_max,
            )),
            overload: self.overload,
            accept_per_turn_max: limits.accept_per_turn_max,
            lingering_close_ms: u64::from(limits.lingering_close_ms),
            lingering_bytes_max: u64::from(limits.lingering_bytes_max),
        };
        let mut running = Running {
            workers: Vec::new(),
            listeners: self.listen.clone(),
            gate: Arc::clone(&options.gate),
        };
        let service = Arc::new(service);
        let (team, mut members) = (Team::default(), Vec::new());
        for number in 0..self.workers {
            let mut listeners = self.listen.clone();
            if number > 0 {
                replace_spread(&mut listeners, &self.spread)?;
            }
            let plan = WorkerPlan {
                number,
                carrier: self.carrier,
                listeners,
                options: options.clone(),
                http: Arc::clone(&http),
                team: team.clone(),
            };
            let (worker, membership) = plan.spawn(&service)?;
            running.workers.push(worker);
            members.push(membership);
        }
        if self.workers > 1 && self.spread.is_empty() {
            team.assemble(members);
        }
        Ok(running)
    }
}

/// Each worker after the first gets sockets of its own for the listeners with `reuse_port`.
fn replace_spread(
    listeners: &mut [Arc<Listener>],
    spread: &[(SocketAddr, ListenOptions)],
) -> Result<(), EngineError> {
    for (address, options) in spread {
        let own = Arc::new(Listener::bind(&ListenAddress::Tcp(*address), options)?);
        let theirs = Some(*address);
        if let Some(shared) = listeners
            .iter_mut()
            .find(|shared| shared.local_address() == theirs)
        {
            *shared = own;
        }
    }
    Ok(())
}
