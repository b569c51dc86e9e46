//! What is said when the server has begun: where it is, and what of the kernel holds it back.

use std::path::Path;

use vervet_server::engine::Running;
use vervet_server::engine::capacity::{Kernel, advice};
use vervet_server::engine::listener::Endpoint;

use crate::talk;

/// One line for each listener; `notes` in the order of the listeners.
pub(super) fn listeners(path: &Path, running: &Running, notes: &[Option<String>]) {
    let path = path.to_string_lossy();
    for (listener, note) in running.listeners().into_iter().zip(notes) {
        let url = url(&listener);
        // A name may hold what a terminal would obey.
        let path = path.escape_debug();
        match note {
            None => talk::say(format_args!("serving {path} at {url}")),
            Some(note) => talk::say(format_args!("serving {path} at {url} ({note})")),
        }
    }
}

fn url(listener: &Endpoint) -> String {
    match listener.local_address() {
        Some(address) => format!("http://{address}/"),
        None => listener.to_string(),
    }
}

/// One line for each setting of the kernel that is too small.
pub(super) fn kernel_advice(backlog: u32, connections_max: u32) {
    for sentence in advice(&Kernel::read(), backlog, connections_max) {
        talk::say(format_args!("note: {sentence}"));
    }
}
