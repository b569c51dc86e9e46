//! A server and the ceiling in turns: what share of the ceiling it reaches.
//!
//! On a shared machine one and the same program takes a third more or less processor time for a request from one second to
//! the next, and the two are a twentieth apart. So both stand at once, on the one core, and only one is loaded at a time,
//! for windows so short that the two of a pair meet the same machine.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::Server;
use crate::run::{GENERATOR_CORE, SERVER_CORE};
use crate::subject::{Role, SUBJECTS, Setup};
use crate::summary::spread;
use crate::wrk;

/// Pairs of windows in a run.
const PAIRS: u32 = 16;
const WINDOW: Duration = Duration::from_millis(400);
/// From the port of a run to that of the ceiling beside it: beyond those of all runs.
const PORT_OFFSET: u16 = 1000;

/// Requests per CPU-second of `server` divided by those of the ceiling: the median of the pairs.
pub(crate) fn share_of_ceiling(setup: &Setup<'_>, server: &Server) -> Result<f64> {
    let beside = Setup {
        port: setup.port.saturating_add(PORT_OFFSET),
        ..*setup
    };
    let subject = SUBJECTS
        .iter()
        .find(|subject| subject.role() == Role::Ceiling)
        .context("a ceiling among the subjects")?;
    let log = setup.work.join(format!("beside-{}.log", beside.port));
    let mut ceiling = Server::start(&subject.command(&beside)?, SERVER_CORE, &log)?;
    ceiling.wait_for_listener(beside.port)?;

    let (ours, theirs) = ((setup, server), (&beside, &ceiling));
    efficiency(theirs)?;
    let mut shares = Vec::new();
    for pair in 0..PAIRS {
        // Whoever comes second follows the other's end: that is each of them as often.
        let (first, second) = if pair % 2 == 0 {
            (ours, theirs)
        } else {
            (theirs, ours)
        };
        let ratio = efficiency(first)? / efficiency(second)?;
        shares.push(if pair % 2 == 0 { ratio } else { ratio.recip() });
    }
    Ok(spread(shares.into_iter()).median)
}

/// Requests per CPU-second of one window, with what it costs to take its connections.
fn efficiency((setup, server): (&Setup<'_>, &Server)) -> Result<f64> {
    let arguments = setup.workload.generator(setup.work, setup.port);
    let before = server.cpu()?.running;
    let load = wrk::window(GENERATOR_CORE, WINDOW, &arguments)?;
    let cpu = server.cpu()?.running.saturating_sub(before);
    Ok(f64::from(load.requests) / cpu.as_secs_f64().max(1e-9))
}
