//! Kept connections that stay silent, and what they cost the clients beside them.

use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use crate::run::{GENERATOR_CORE, ask};
use crate::subject::Setup;
use crate::summary::spread;
use crate::wrk;

/// How often a run looks at the server without and with its idle connections.
const PAIRS: u32 = 5;
/// What the server needs to close the idle connections, and the kernel to be done with opening them.
const SETTLED: Duration = Duration::from_millis(300);

/// The 99th percentile of the busy clients in microseconds, each the median of the run's pairs.
pub(crate) struct Tails {
    pub(crate) alone_us: f64,
    pub(crate) beside_us: f64,
}

/// Opens the idle connections of the workload: each gets one answer and is kept.
pub(crate) fn hold(setup: &Setup<'_>) -> Result<Vec<TcpStream>> {
    (0..setup.workload.idle)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", setup.port))?;
            ask(&mut stream, setup.port, setup.workload)?;
            Ok(stream)
        })
        .collect()
}

/// Loads the one server without and with idle connections in turn, `seconds` each time. A percentile of a second moves
/// with whatever else the machine does; windows that follow each other meet the same machine, and one server has one
/// layout of memory and one set of ports.
pub(crate) fn tails(setup: &Setup<'_>, arguments: &[String], seconds: u32) -> Result<Tails> {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        sleep(SETTLED);
        alone.push(wrk::load(GENERATOR_CORE, seconds, arguments)?.p99_us);
        let held = hold(setup)?;
        sleep(SETTLED);
        beside.push(wrk::load(GENERATOR_CORE, seconds, arguments)?.p99_us);
        drop(held);
    }
    Ok(Tails {
        alone_us: spread(alone.into_iter()).median,
        beside_us: spread(beside.into_iter()).median,
    })
}
