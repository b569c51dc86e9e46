//! One reactor on its own thread.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use super::error::EngineError;
use crate::connection::{Http, HttpOptions};
use crate::counters::Counters;
use crate::exchange::{Message, Service};
use crate::listener::Listener;
use crate::reactor::{Handle, Membership, Reactor, ReactorOptions, Team};

/// What runs the reactors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Carrier {
    /// A plain thread for each reactor: the smallest memory.
    #[default]
    Thread,
    /// A tokio current-thread runtime for each reactor: handlers may use tokio on the same thread.
    #[cfg(feature = "tokio")]
    Tokio,
}

pub(super) struct WorkerPlan {
    pub(super) number: usize,
    pub(super) carrier: Carrier,
    pub(super) listeners: Vec<Arc<Listener>>,
    pub(super) options: ReactorOptions,
    pub(super) http: Arc<HttpOptions>,
    pub(super) team: Team<Message>,
}

/// What a worker reports when it is ready.
type Started = (Handle<Message>, Membership<Message>);

pub(super) struct Worker {
    pub(super) handle: Handle<Message>,
    pub(super) counters: Arc<Counters>,
    pub(super) thread: JoinHandle<Result<(), EngineError>>,
}

impl WorkerPlan {
    pub(super) fn spawn<F, S>(
        self,
        service: &Arc<F>,
    ) -> Result<(Worker, Membership<Message>), EngineError>
    where
        F: Fn(usize) -> S + Send + Sync + 'static,
        S: Service + 'static,
    {
        let (started, report) = mpsc::channel();
        let counters = Arc::clone(&self.options.counters);
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new()
            .name(format!("reactor-{}", self.number))
            .spawn(move || self.run(&*service, &started))?;
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

    fn run<F, S>(self, service: &F, started: &mpsc::Sender<Started>) -> Result<(), EngineError>
    where
        F: Fn(usize) -> S,
        S: Service,
    {
        let service = service(self.number);
        let http = self.http;
        let counters = Arc::clone(&self.options.counters);
        let mut reactor = Reactor::new(self.options, |mailbox, spawner| {
            Http::new(service, http, counters, mailbox, spawner)
        })?;
        reactor.join(&self.team);
        for listener in self.listeners {
            reactor.listen(listener)?;
        }
        // Fails only if the starting thread is gone, so nobody waits for the result.
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
