//! Several reactors with listeners, a service each, and one hand to stop them: the server in a program.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use crate::connection::{Http, HttpOptions};
use crate::counters::Counters;
use crate::exchange::{Exchange, Message, Outcome, Service};
use crate::gate::Gate;
use crate::limits::{LimitError, Limits};
use crate::listener::{AddressError, BindError, ListenAddress, ListenOptions, Listener};
use crate::reactor::{Handle, Membership, Overload, Reactor, ReactorOptions, Team};

/// Why an engine did not start, or ended badly.
#[derive(Debug)]
pub enum EngineError {
    /// An address could not be understood.
    Address(AddressError),
    /// A listener could not be had.
    Bind(BindError),
    /// A limit is out of bounds.
    Limit(LimitError),
    /// The system refused a thread, a descriptor, or to wait.
    System(std::io::Error),
    /// A worker's thread panicked: a bug, in the engine or in a handler.
    Panicked,
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(formatter),
            Self::Bind(error) => error.fmt(formatter),
            Self::Limit(error) => error.fmt(formatter),
            Self::System(error) => write!(formatter, "the system refused: {error}"),
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

/// What carries the reactors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Carrier {
    /// A plain thread for each: the smallest memory.
    #[default]
    Thread,
    /// A tokio current-thread runtime for each: handlers may use tokio on the same thread.
    #[cfg(feature = "tokio")]
    Tokio,
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

struct WorkerPlan {
    number: usize,
    carrier: Carrier,
    listeners: Vec<Arc<Listener>>,
    options: ReactorOptions,
    http: Arc<HttpOptions>,
    team: Team<Message>,
}

/// What a worker reports when it is ready.
type Started = (Handle<Message>, Membership<Message>);

struct Worker {
    handle: Handle<Message>,
    counters: Arc<Counters>,
    thread: JoinHandle<Result<(), EngineError>>,
}

impl WorkerPlan {
    fn spawn<F, S>(self, service: &Arc<F>) -> Result<(Worker, Membership<Message>), EngineError>
    where
        F: Fn(usize) -> S + Send + Sync + 'static,
        S: Service + 'static,
    {
        let (started, report) = mpsc::channel();
        let counters = Arc::new(Counters::default());
        let service = Arc::clone(service);
        let its_counters = Arc::clone(&counters);
        let thread = std::thread::Builder::new()
            .name(format!("reactor-{}", self.number))
            .spawn(move || self.run(&*service, its_counters, &started))?;
        match report.recv() {
            Ok((handle, membership)) => Ok((
                Worker {
                    handle,
                    counters,
                    thread,
                },
                membership,
            )),
            Err(_) => match thread.join() {
                Ok(Err(error)) => Err(error),
                _ => Err(EngineError::Panicked),
            },
        }
    }

    fn run<F, S>(
        self,
        service: &F,
        counters: Arc<Counters>,
        started: &mpsc::Sender<Started>,
    ) -> Result<(), EngineError>
    where
        F: Fn(usize) -> S,
        S: Service,
    {
        let service = service(self.number);
        let http = self.http;
        let mut reactor = Reactor::new(self.options, |mailbox, spawner| {
            Http::new(service, http, counters, mailbox, spawner)
        })?;
        reactor.join(&self.team);
        for listener in self.listeners {
            reactor.listen(listener)?;
        }
        // Fails only when whoever started the worker is gone, and then nobody waits for it either.
        let _ = started.send((reactor.handle(), reactor.membership()));
        carry(self.carrier, &mut reactor)
    }
}

fn carry<S: Service>(carrier: Carrier, reactor: &mut Reactor<Http<S>>) -> Result<(), EngineError> {
    match carrier {
        Carrier::Thread => crate::carrier::run_on_thread(reactor)?,
        #[cfg(feature = "tokio")]
        Carrier::Tokio => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(crate::carrier::run_on_tokio(reactor))?;
        }
    }
    Ok(())
}

/// An engine at work.
pub struct Running {
    workers: Vec<Worker>,
    listeners: Vec<Arc<Listener>>,
    gate: Arc<Gate>,
}

impl Running {
    /// The listeners, which know the ports that the kernel chose.
    pub fn listeners(&self) -> &[Arc<Listener>] {
        &self.listeners
    }

    /// The first address of the internet that is listened on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listeners
            .iter()
            .find_map(|listener| listener.local_address())
    }

    /// The counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.workers.iter().map(|worker| &*worker.counters)
    }

    /// Connections open now, over all workers.
    pub fn connections(&self) -> usize {
        self.gate.connections()
    }

    /// A hand on the engine that other threads may have.
    pub fn control(&self) -> EngineControl {
        EngineControl(
            self.workers
                .iter()
                .map(|worker| worker.handle.clone())
                .collect(),
        )
    }

    /// Waits until all workers have ended.
    pub fn wait(self) -> Result<(), EngineError> {
        let mut result = Ok(());
        drop(self.listeners);
        for worker in self.workers {
            let ended = worker.thread.join().unwrap_or(Err(EngineError::Panicked));
            result = result.and(ended);
        }
        result
    }
}

/// Stops an engine, from any thread.
#[derive(Clone)]
pub struct EngineControl(Vec<Handle<Message>>);

impl EngineControl {
    /// Accepts no more, finishes what is in hand, ends at the latest after `timeout_ms`.
    pub fn drain(&self, timeout_ms: u64) {
        self.0.iter().for_each(|handle| handle.drain(timeout_ms));
    }

    /// Ends at once.
    pub fn stop(&self) {
        self.0.iter().for_each(Handle::stop);
    }
}

/// Where to begin.
pub struct Engine;

impl Engine {
    /// An engine with the default limits, one worker, and no listener yet.
    pub fn builder() -> Builder {
        Builder::new()
    }
}
