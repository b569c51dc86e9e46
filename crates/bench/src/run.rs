//! One run: a fresh server, checked before and after, under one load.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use crate::cut::Cutter;
use crate::document::{access_log, admin_socket};
use crate::idle;
use crate::process::{Memory, Server, busy, is_free};
use crate::scrape;
use crate::subject::{Role, Setup, Subject};
use crate::turns;
use crate::workload::Workload;
use crate::wrk;

/// The server's core and the generator's.
pub(crate) const SERVER_CORE: u32 = 0;
pub(crate) const GENERATOR_CORE: u32 = 1;

const WARM_UP_SECONDS: u32 = 1;
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const FETCH_MAX: Duration = Duration::from_secs(5);
/// Busy share of either core before a run above which the run counts as disturbed.
const BUSY_MAX: f64 = 0.05;
/// Share of a run during which the server, or the generator, may wait for its core.
const WAITING_MAX: f64 = 0.05;
/// One core gives one CPU-second per second, and the clocks of server and generator differ a little.
const CORE_USE_MAX: f64 = 1.05;
/// A server that wants less of its core under full load is stalled, or another one answers.
const CORE_USE_MIN: f64 = 0.25;

/// What one run measured.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Run {
    pub(crate) workload: String,
    pub(crate) subject: String,
    pub(crate) round: u32,
    pub(crate) requests: u32,
    pub(crate) seconds: f64,
    pub(crate) server_cpu_seconds: f64,
    /// Time the server was ready but something else had its core.
    pub(crate) server_waiting_seconds: f64,
    /// The same of the generator.
    pub(crate) generator_waiting_seconds: f64,
    pub(crate) requests_per_second: f64,
    pub(crate) requests_per_cpu_second: f64,
    /// The same divided by that of the ceiling, in turns; 0 where it was not looked at.
    pub(crate) share_of_ceiling: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// The 99th percentile of the same server without the idle connections of the workload; 0 where it has none.
    pub(crate) p99_alone_us: f64,
    /// Windows for the two that were taken again, because something else had a core.
    pub(crate) windows_again: u32,
    pub(crate) rss_idle_kib: u32,
    pub(crate) rss_peak_kib: u32,
    /// Why the run is shown but not ranked.
    pub(crate) faults: Vec<String>,
    /// What else had the processor.
    pub(crate) disturbances: Vec<String>,
}

/// Runs `subject` once; whatever goes wrong becomes a fault of the run.
pub(crate) fn run(subject: &Subject, setup: &Setup<'_>, seconds: u32) -> Run {
    let mut run = Run {
        workload: setup.workload.name.into(),
        subject: subject.name.into(),
        ..Run::default()
    };
    if let Err(error) = measure(&mut run, subject, setup, seconds) {
        run.faults.push(format!("{error:#}"));
    }
    run
}

fn measure(run: &mut Run, subject: &Subject, setup: &Setup<'_>, seconds: u32) -> Result<()> {
    ensure!(is_free(setup.port), "port {} is taken", setup.port);
    for (core, share) in [SERVER_CORE, GENERATOR_CORE]
        .iter()
        .zip(busy([SERVER_CORE, GENERATOR_CORE], IDLE_WINDOW)?)
    {
        if share > BUSY_MAX {
            run.disturbances.push(format!(
                "core {core} was {:.0} % busy before the run",
                share * 100.0
            ));
        }
    }
    let log = setup
        .work
        .join(format!("{}-{}.log", subject.name, setup.port));
    let mut server = Server::start(&subject.command(setup)?, SERVER_CORE, &log)?;
    server.wait_for_listener(setup.port).with_context(|| {
        format!(
            "its output: {:?}",
            fs::read_to_string(&log).unwrap_or_default()
        )
    })?;
    // Reading the idle size straight after the start would miss what the server still sets up.
    sleep(IDLE_WINDOW);
    run.rss_idle_kib = server.memory_kib()?.now;
    check_answer(setup)?;
    let held = idle::hold(setup)?;
    let scraper = subject
        .is_scraped()
        .then(|| scrape::start(&admin_socket(setup.work, setup.port)))
        .transpose()?;
    let cutter = subject
        .is_logged()
        .then(|| Cutter::start(&access_log(setup.work, setup.port)));

    let arguments = setup.workload.generator(setup.work, setup.port);
    wrk::load(GENERATOR_CORE, WARM_UP_SECONDS, &arguments)?;
    let before = server.cpu()?;
    let load = wrk::load(GENERATOR_CORE, seconds, &arguments)?;
    let after = server.cpu()?;
    let Memory { peak, .. } = server.memory_kib()?;
    drop((held, scraper, cutter));

    run.requests = load.requests;
    run.seconds = load.seconds;
    run.p50_us = load.p50_us;
    run.p99_us = load.p99_us;
    look_closer(run, subject, setup, &server, seconds)?;
    run.rss_peak_kib = peak;
    run.server_cpu_seconds = after.running.saturating_sub(before.running).as_secs_f64();
    run.server_waiting_seconds = after.waiting.saturating_sub(before.waiting).as_secs_f64();
    run.generator_waiting_seconds = load.waiting.as_secs_f64();
    run.requests_per_second = f64::from(load.requests) / load.seconds;
    run.requests_per_cpu_second = f64::from(load.requests) / run.server_cpu_seconds.max(1e-9);
    refuse_errors(run, &load);
    judge(run);
    Ok(())
}

/// What some workloads ask beyond the run, on the server that is there already.
fn look_closer(
    run: &mut Run,
    subject: &Subject,
    setup: &Setup<'_>,
    server: &Server,
    seconds: u32,
) -> Result<()> {
    // Nothing is asked of the rivals here; the ceiling shows what the machine does by itself.
    if setup.workload.idle > 0 && subject.role() != Role::Rival {
        let tails = idle::tails(setup, server, seconds)?;
        run.p99_us = tails.beside_us;
        run.p99_alone_us = tails.alone_us;
        run.windows_again = tails.again;
        if tails.disturbed > 0 {
            run.disturbances.push(format!(
                "something else had a core in {} windows, however often they were taken",
                tails.disturbed
            ));
        }
    }
    if setup.workload.turns && subject.role() == Role::Ours {
        run.share_of_ceiling = turns::share_of_ceiling(setup, server)?;
    }
    Ok(())
}

/// Whoever answers with errors is not ranked.
fn refuse_errors(run: &mut Run, load: &wrk::Load) {
    if load.errors > 0 {
        run.faults.push(format!("{} socket errors", load.errors));
    }
    if load.bad_status > 0 {
        run.faults.push(format!(
            "{} answers of status 400 or above",
            load.bad_status
        ));
    }
}

/// Checks that processor time agrees with the rate.
fn judge(run: &mut Run) {
    let core_use = run.server_cpu_seconds / run.seconds;
    if core_use > CORE_USE_MAX {
        run.faults
            .push(format!("the server used {core_use:.2} cores"));
    }
    let waiting = run.server_waiting_seconds / run.seconds;
    if core_use + waiting < CORE_USE_MIN {
        run.faults.push(format!(
            "the server wanted only {core_use:.2} of its core: it stalls"
        ));
    }
    for (who, seconds) in [
        ("server", run.server_waiting_seconds),
        ("generator", run.generator_waiting_seconds),
    ] {
        let waiting = seconds / run.seconds;
        if waiting > WAITING_MAX {
            run.disturbances.push(format!(
                "the {who} waited {:.0} % of the run for its core",
                waiting * 100.0
            ));
        }
    }
}

/// Fetches once by hand: status and every byte must be right.
fn check_answer(setup: &Setup<'_>) -> Result<()> {
    let (status, content) = setup.workload.expected(&setup.work.join("site"))?;
    let answer = fetch(setup.port, setup.workload)?;
    if answer.0 != status {
        bail!(
            "status {} instead of {status} for {}",
            answer.0,
            setup.workload.path()
        );
    }
    if answer.1 != content {
        bail!(
            "wrong content for {}: {} bytes instead of {}",
            setup.workload.path(),
            answer.1.len(),
            content.len()
        );
    }
    Ok(())
}

fn fetch(port: u16, workload: &Workload) -> Result<(u16, Vec<u8>)> {
    ask(
        &mut TcpStream::connect(("127.0.0.1", port))?,
        port,
        workload,
    )
}

/// Asks on a connection what the workload asks, and reads the whole answer.
pub(crate) fn ask(
    stream: &mut TcpStream,
    port: u16,
    workload: &Workload,
) -> Result<(u16, Vec<u8>)> {
    stream.set_read_timeout(Some(FETCH_MAX))?;
    let field = workload
        .field()
        .map(|field| format!("{field}\r\n"))
        .unwrap_or_default();
    let path = workload.path();
    let host = workload
        .host()
        .unwrap_or_else(|| format!("127.0.0.1:{port}"));
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{field}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let received = stream.read(&mut piece)?;
        answer.extend_from_slice(&piece[..received]);
        let whole = split(&answer).filter(|(_, length, content)| content.len() >= *length);
        match whole {
            Some((status, _, content)) => return Ok((status, content.to_vec())),
            None if received == 0 => bail!("the answer ends early, after {} bytes", answer.len()),
            None => {}
        }
    }
}

/// Status, `Content-Length` and the content so far, once the head is whole.
fn split(answer: &[u8]) -> Option<(u16, usize, &[u8])> {
    let end = memchr::memmem::find(answer, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?
        .1;
    Some((status, length.trim().parse().ok()?, &answer[end + 4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: f64, cpu: f64, waiting: (f64, f64), expected: (usize, usize)) {
        let mut run = Run {
            seconds,
            server_cpu_seconds: cpu,
            server_waiting_seconds: waiting.0,
            generator_waiting_seconds: waiting.1,
            ..Run::default()
        };
        judge(&mut run);
        assert_eq!(
            (run.faults.len(), run.disturbances.len()),
            expected,
            "{run:?}"
        );
    }

    #[test]
    fn refuses_processor_time_that_disagrees_with_the_rate() {
        check(3.0, 3.3, (0.0, 0.0), (1, 0));
        check(3.0, 0.1, (0.0, 0.0), (1, 0));
        check(3.0, 0.1, (2.0, 0.0), (0, 1));
        check(3.0, 2.0, (0.2, 0.0), (0, 1));
        check(3.0, 2.0, (0.2, 0.2), (0, 2));
        check(3.0, 3.0, (0.1, 0.1), (0, 0));
    }

    #[test]
    fn splits_an_answer() {
        assert_eq!(split(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r"), None);
        assert_eq!(split(b"HTTP/1.1 200 OK\r\n\r\nab"), None);
        assert_eq!(
            split(b"HTTP/1.1 206 X\r\ncontent-length: 2\r\n\r\nab"),
            Some((206, 2, &b"ab"[..]))
        );
    }
}
