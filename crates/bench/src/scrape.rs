//! Somebody who reads the metrics of a server each second, as Prometheus would.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::beside::Beside;

const EVERY: Duration = Duration::from_secs(1);

/// Begins with one reading that has to succeed, and reads until it is dropped.
pub(crate) fn start(socket: &Path) -> Result<Beside> {
    let metrics = scrape(socket).context("cannot scrape the metrics")?;
    ensure!(metrics.contains("# EOF"), "the metrics have no end");
    let socket = socket.to_owned();
    Ok(Beside::start(EVERY, move || {
        // One that fails shows in the next run, which begins with one.
        let _ = scrape(&socket);
    }))
}

fn scrape(socket: &Path) -> Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
