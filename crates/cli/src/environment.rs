//! What platforms say to every server by variables of the environment.

use vervet_server::settings::{WORKERS_MAX, Workers};

use crate::failure::Failure;

/// How many workers: where nobody says a number, as many as `WEB_CONCURRENCY` does, else as many as there are processors,
/// as far as affinity and the control group let this process use them.
pub(crate) fn workers(asked: Workers) -> Result<usize, Failure> {
    let given = std::env::var("WEB_CONCURRENCY").ok();
    let (Workers::Auto, Some(text)) = (asked, given.filter(|text| !text.is_empty())) else {
        return Ok(asked.count());
    };
    let given = workers_of(&text);
    let given =
        given.map_err(|problem| Failure::Environment(format!("WEB_CONCURRENCY: {problem}")))?;
    Ok(given.count())
}

/// Reads a number of workers.
pub(crate) fn workers_of(text: &str) -> Result<Workers, String> {
    if text == "auto" {
        return Ok(Workers::Auto);
    }
    text.parse()
        .ok()
        .filter(|number| (1..=WORKERS_MAX).contains(number))
        .map(Workers::Number)
        .ok_or_else(|| format!("\"{text}\" is no number of workers (1 to {WORKERS_MAX}, or auto)"))
}

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
