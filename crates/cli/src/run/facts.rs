//! Facts about the server for the admin listener.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use vervet_server::admin::{ListenerReport, Phase, Reloads, Report, StatusSource};
use vervet_server::filters::blocks::Blocks;
use vervet_server::server::Server;

/// The server and its phase.
pub(super) struct ServerFacts {
    server: Arc<Server>,
    phase: AtomicU8,
    started: (Instant, u64),
    reloads: Mutex<Reloads>,
}

impl ServerFacts {
    pub(super) fn new(server: &Arc<Server>) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            server: Arc::clone(server),
            phase: AtomicU8::new(Phase::Starting as u8),
            started: (Instant::now(), since_1970.map_or(0, |time| time.as_secs())),
            reloads: Mutex::default(),
        }
    }

    /// Enters a phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// A reload took effect, or was refused for this reason.
    pub(super) fn reloaded(&self, refused: Option<String>) {
        let mut reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
        match refused {
            None => reloads.done += 1,
            Some(_) => reloads.refused += 1,
        }
        reloads.last_error = refused;
    }
}

impl StatusSource for ServerFacts {
    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            phase if phase == Phase::Ready as u8 => Phase::Ready,
            phase if phase == Phase::Draining as u8 => Phase::Draining,
            _ => Phase::Starting,
        }
    }

    fn report(&self) -> Report {
        let control = self.server.control();
        let tools = self.server.tools();
        let listeners = self.server.listeners().into_iter();
        let (began, started_unix) = self.started;
        let reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            phase: self.phase(),
            started_unix,
            uptime_seconds: began.elapsed().as_secs(),
            generation: self.server.generation(),
            reloads: reloads.clone(),
            listeners: listeners
                .map(|(name, endpoint)| ListenerReport { name, address: endpoint.to_string() })
                .collect(),
            refused: self.server.refused(),
            caches: tools.pool.caches().reports(),
            ..Report::collect(control, &tools.metrics, &tools.logs, &tools.error_log)
        }
    }

    fn blocks(&self) -> Option<Arc<Blocks>> {
        Some(Arc::clone(&self.server.tools().blocks))
    }
}
