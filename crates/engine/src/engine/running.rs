//! A running engine: how its workers start, and how it ends.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::builder::EngineError;
use super::control::{EngineControl, Group, Shared, WorkerHandle};
use crate::carrier::{Carrier, run_on_thread};
use crate::connection::{Http, HttpOptions};
use crate::counters::Counters;
use crate::exchange::{Message, Service};
use crate::gate::Gate;
use crate::listener::{Endpoint, Listener};
use crate::reactor::{Membership, Reactor, ReactorOptions, Team};

/// One worker before its start: a reactor on its own thread.
pub(super) struct WorkerPlan {
    pub(super) number: usize,
    pub(super) carrier: Carrier,
    pub(super) listeners: Vec<Arc<Listener>>,
    pub(super) options: ReactorOptions,
    pub(super) http: Arc<HttpOptions>,
    pub(super) team: Team<Message>,
}

impl WorkerPlan {
    /// Runs the reactor on this thread; sends `started` when it is ready.
    fn run<F, S>(
        self,
        service: &F,
        started: &mpsc::Sender<(WorkerHandle, Membership<Message>)>,
    ) -> Result<(), EngineError>
    where
        F: Fn(usize) -> S,
        S: Service,
    {
        let service = service(self.number);
        let http = self.http;
        let counters = Arc::clone(&self.options.counters);
        let mut reactor = Reactor::new(self.options, |mailbox, spawner| {
            Http::new(service, http, Arc::clone(&counters), mailbox, spawner)
        })?;
        reactor.join(&self.team);
        for listener in self.listeners {
            reactor.listen(listener)?;
        }
        let membership = reactor.membership();
        let handle = WorkerHandle { handle: reactor.handle(), counters, load: membership.load() };
        // Fails only if the starting thread is gone, so nobody waits for the result.
        let _ = started.send((handle, membership));
        carry(self.carrier, &mut reactor)
    }
}

fn carry<S: Service>(carrier: Carrier, reactor: &mut Reactor<Http<S>>) -> Result<(), EngineError> {
    match carrier {
        Carrier::Thread => run_on_thread(reactor)?,
        #[cfg(feature = "tokio")]
        Carrier::Tokio => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(crate::carrier::run_on_tokio(reactor))?;
        }
    }
    Ok(())
}

/// The workers started so far. Ends them when dropped, so that an engine starts completely or not
/// at all.
#[derive(Default)]
pub(super) struct StartingEngine {
    handles: Vec<WorkerHandle>,
    members: Vec<Membership<Message>>,
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
}

impl StartingEngine {
    /// Starts a worker and waits until it is ready.
    pub(super) fn spawn<F, S>(
        &mut self,
        plan: WorkerPlan,
        service: &Arc<F>,
    ) -> Result<(), EngineError>
    where
        F: Fn(usize) -> S + Send + Sync + 'static,
        S: Service + 'static,
    {
        let (started, report) = mpsc::channel();
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new()
            .name(format!("reactor-{}", plan.number))
            .spawn(move || plan.run(&*service, &started))?;
        let Ok((handle, membership)) = report.recv() else {
            let ended = thread.join();
            return ended.unwrap_or(Err(EngineError::Panicked));
        };
        self.handles.push(handle);
        self.members.push(membership);
        self.threads.push(thread);
        Ok(())
    }

    /// Makes a running engine of the started workers.
    pub(super) fn running(
        mut self,
        team: &Team<Message>,
        groups: &[Group],
        gate: Arc<Gate>,
    ) -> Running {
        if self.members.len() > 1 {
            team.assemble(std::mem::take(&mut self.members));
        }
        let shared = Shared {
            handles: std::mem::take(&mut self.handles),
            entries: Mutex::new(groups.iter().map(Group::downgrade).collect()),
            changing: Mutex::default(),
            gate,
        };
        Running {
            threads: std::mem::take(&mut self.threads),
            control: EngineControl(Arc::new(shared)),
        }
    }
}

impl Drop for StartingEngine {
    fn drop(&mut self) {
        self.handles.iter().for_each(|hand| hand.handle.stop());
    }
}

/// A running engine; ends it when dropped.
pub struct Running {
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
    control: EngineControl,
}

impl Running {
    /// Returns the current listeners, with the ports that the kernel chose.
    pub fn listeners(&self) -> Vec<Arc<Endpoint>> {
        self.control.listeners()
    }

    /// Returns the first TCP address that the engine listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        let listeners = self.listeners();
        listeners.iter().find_map(|listener| listener.local_address())
    }

    /// Returns the counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.control.counters()
    }

    /// Returns the number of open connections of all workers.
    pub fn connections(&self) -> usize {
        self.control.connections()
    }

    /// Returns a handle for controlling the engine from other threads.
    pub fn control(&self) -> EngineControl {
        self.control.clone()
    }

    /// Waits until all workers have ended.
    pub fn wait(self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for thread in self.threads {
            let ended = thread.join().unwrap_or(Err(EngineError::Panicked));
            result = result.and(ended);
        }
        result
    }
}
