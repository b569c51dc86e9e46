//! A running server of files on a port of its own, for tests that compare bytes on the wire.

use std::net::SocketAddr;

use vervet_engine::{Engine, Running, Service};

pub struct Wire {
    pub address: SocketAddr,
    running: Option<Running>,
}

impl Wire {
    pub fn start<S: Service + 'static>(
        service: impl Fn(usize) -> S + Send + Sync + 'static,
    ) -> Self {
        let running = Engine::builder().listen("127.0.0.1:0").unwrap().start(service).unwrap();
        Self { address: running.address().unwrap(), running: Some(running) }
    }

    /// Lets what runs come to its end, and stops.
    pub fn stop(mut self) {
        let running = self.running.take().unwrap();
        running.control().drain(5_000);
        running.wait().unwrap();
    }
}
