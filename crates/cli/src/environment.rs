//! What platforms say to every server by variables of the environment.

use crate::failure::Failure;

/// The port unless another is asked for, and then on this machine alone.
pub(crate) const DEFAULT_PORT: u16 = 8080;

/// The port to listen on, by `PORT`.
pub(crate) fn port() -> Result<Option<u16>, Failure> {
    let Ok(port) = std::env::var("PORT") else {
        return Ok(None);
    };
    port.parse().map(Some).map_err(|_| {
        Failure::Environment(format!(
            "the environment says PORT={port}, which is no port (a number from 0 to 65535)"
        ))
    })
}
