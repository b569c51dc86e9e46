//! Configuring an engine before its start: listeners, workers, carrier and limits, and why it did
//! not start.

use std::fmt;
use std::sync::Arc;

use super::control::Group;
use super::running::{Running, StartingEngine, WorkerPlan};
use crate::carrier::Carrier;
use crate::connection::HttpOptions;
use crate::exchange::{Exchange, Outcome, Service};
use crate::gate::Gate;
use crate::limits::{LimitError, Limits};
use crate::listener::{AddressError, BindError, ListenAddress, ListenOptions, Listener};
use crate::reactor::{CommandError, Overload, ReactorOptions, Team, Tuning};

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
        let options = ReactorOptions {
            gate: Arc::new(Gate::of_engine(limits, self.workers)),
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
                options: ReactorOptions { counters: Arc::default(), ..options.clone() },
                http: Arc::clone(&http),
                team: team.clone(),
            };
            start.spawn(plan, &service)?;
        }
        Ok(start.running(&team, &groups, options.gate))
    }
}

/// Why an engine did not start, or failed.
#[derive(Debug)]
pub enum EngineError {
    /// An address is invalid.
    Address(AddressError),
    /// A listener could not be opened.
    Bind(BindError),
    /// A limit is out of bounds.
    Limit(LimitError),
    /// The system failed to provide a thread or a descriptor, or waiting failed.
    System(std::io::Error),
    /// The engine has ended or is ending, and accepts no more commands.
    Ended,
    /// A worker's thread panicked, which is a bug in the engine or in a handler.
    Panicked,
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(formatter),
            Self::Bind(error) => error.fmt(formatter),
            Self::Limit(error) => error.fmt(formatter),
            Self::System(error) => write!(formatter, "system error: {error}"),
            Self::Ended => formatter.write_str("the engine is ending"),
            Self::Panicked => formatter.write_str("a worker panicked (the trace is above)"),
        }
    }
}

impl std::error::Error for EngineError {}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for EngineError {
            fn from(error: $error) -> Self {
                Self::$variant(error.into())
            }
        }
    )*};
}

from!(
    Address(AddressError),
    Bind(BindError),
    Limit(LimitError),
    System(std::io::Error),
    System(rustix::io::Errno)
);

impl From<CommandError> for EngineError {
    fn from(not_done: CommandError) -> Self {
        match not_done {
            CommandError::Ended => Self::Ended,
            CommandError::Refused(errno) => errno.into(),
        }
    }
}
