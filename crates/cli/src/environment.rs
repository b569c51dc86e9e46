//! Environment variables that platforms and service managers set for every server.

use vervet_server::engine::listener::Inherited;
use vervet_server::settings::{WORKERS_MAX, Workers};

use crate::failure::Failure;

/// The number of worker threads. `auto` is `WEB_CONCURRENCY` if set, otherwise the number of CPUs
/// that affinity and cgroup allow.
pub(crate) fn workers(configured: Workers) -> Result<usize, Failure> {
    let variable = std::env::var("WEB_CONCURRENCY").unwrap_or_default();
    if configured != Workers::Auto || variable.is_empty() || variable == "auto" {
        return Ok(configured.count());
    }
    let number = variable.parse().ok();
    number.filter(|number| (1..=WORKERS_MAX).contains(number)).ok_or_else(|| {
        Failure::Other(format!(
            "invalid WEB_CONCURRENCY `{variable}`: expected a number from 1 to {WORKERS_MAX}, \
                 or auto"
        ))
    })
}

/// The listening sockets that the parent process left open, as `LISTEN_FDS` announces them. To be
/// called once.
pub(crate) fn inherited() -> Result<Inherited, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    Ok(Inherited::from_environment(&variable, std::process::id())?)
}

/// The port to listen on, by `PORT`.
pub(crate) fn port() -> Result<Option<u16>, Failure> {
    let Ok(port) = std::env::var("PORT") else {
        return Ok(None);
    };
    port.parse().map(Some).map_err(|_| {
        Failure::Other(format!(
            "invalid port in the environment: PORT={port}, expected a number from 0 to 65535"
        ))
    })
}
