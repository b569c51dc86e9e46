//! Kept connections that stay silent, and what they cost the clients beside them.

use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use crate::process::Server;
use crate::run::{Window, ask};
use crate::subject::Setup;
use crate::summary::spread;

/// How often a run looks at the server without and with its idle connections.
const PAIRS: u32 = 5;
/// Length of one look.
const WINDOW: Duration = Duration::from_secs(1);
/// What the server needs to close the idle connections, and the kernel to be done with opening them.
const SETTLED: Duration = Duration::from_millis(300);
/// Share of a window during which server or generator may wait for a core that something else has. Beyond it the window is
/// taken again: wrk counts a pause for every request that it would have sent meanwhile, so that one of 20 ms in a second is
/// the 99th percentile. What watches the processes of a machine pauses longer the more connections there are.
const WAITING_MAX: f64 = 0.01;
/// How often a window is taken again at most.
const AGAIN_MAX: u32 = 9;

/// The 99th percentile of the busy clients in microseconds, each the median of the run's pairs.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    pub(crate) alone_us: f64,
    pub(crate) beside_us: f64,
    /// Windows that were taken again.
    pub(crate) again: u32,
    /// Windows in which something else had a core, however often they were taken.
    pub(crate) disturbed: u32,
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

/// Loads the one server without and with idle connections in turn. A percentile of a second moves
/// with whatever else the machine does; windows that follow each other meet the same machine, and one server has one
/// layout of memory and one set of ports.
pub(crate) fn tails(setup: &Setup<'_>, server: &Server) -> Result<Tails> {
    let mut tails = Tails::default();
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let mut window = || tails.settled(AGAIN_MAX, || look(setup, server));
        alone.push(window()?);
        let held = hold(setup)?;
        beside.push(window()?);
        drop(held);
    }
    tails.alone_us = spread(alone.into_iter()).median;
    tails.beside_us = spread(beside.into_iter()).median;
    Ok(tails)
}

/// One window.
struct Look {
    p99_us: f64,
    /// The larger share of it that server or generator waited.
    waiting: f64,
}

fn look(setup: &Setup<'_>, server: &Server) -> Result<Look> {
    sleep(SETTLED);
    let Window { load, waiting, .. } = Window::take(setup, server, WINDOW)?;
    Ok(Look {
        p99_us: load.p99_us,
        waiting: waiting.max(load.waiting).as_secs_f64() / load.seconds,
    })
}

impl Tails {
    /// Looks until nothing else had a core, or `again_max` times more.
    fn settled(&mut self, again_max: u32, mut look: impl FnMut() -> Result<Look>) -> Result<f64> {
        let mut seen = look()?;
        for _ in 0..again_max {
            if seen.waiting <= WAITING_MAX {
                break;
            }
            self.again += 1;
            seen = look()?;
        }
        self.disturbed += u32::from(seen.waiting > WAITING_MAX);
        Ok(seen.p99_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(looks: &[(f64, f64)], expected: (f64, u32, u32)) {
        let mut tails = Tails::default();
        let mut looks = looks.iter();
        let p99_us = tails.settled(2, || {
            let &(p99_us, waiting) = looks.next().expect("no more looks than allowed");
            Ok(Look { p99_us, waiting })
        });
        let p99_us = p99_us.expect("every look succeeds");
        assert_eq!((p99_us, tails.again, tails.disturbed), expected);
        assert_eq!(looks.len(), 0, "looks that were not taken");
    }

    #[test]
    fn takes_a_window_again_while_something_else_has_a_core() {
        check(&[(1.0, 0.0)], (1.0, 0, 0));
        // Whatever it measured: a window is judged by who had the core, not by its figure.
        check(&[(9.0, 0.01)], (9.0, 0, 0));
        check(&[(1.0, 0.011), (2.0, 0.0)], (2.0, 1, 0));
        check(&[(1.0, 0.5), (2.0, 0.5), (3.0, 0.02)], (3.0, 2, 1));
    }
}
