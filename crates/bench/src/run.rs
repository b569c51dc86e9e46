//! Runs: fresh servers, checked before and after, under one load, in turn.
//!
//! On a shared machine one and the same program takes a third more or less processor time for a request from one second to
//! the next, which is more than most servers differ by. So the servers that are compared stand at once, on the one core, and
//! only one is loaded at a time, in short windows: all of them meet the same machine.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use crate::beside::Beside;
use crate::cut::Cutter;
use crate::document::{access_log, admin_socket};
use crate::idle;
use crate::process::{Memory, Server, busy, is_free};
use crate::scrape;
use crate::subject::{Role, Setup, Subject};
use crate::summary::spread;
use crate::workload::Workload;
use crate::wrk;

/// The server's core and the generator's.
pub(crate) const SERVER_CORE: u32 = 0;
pub(crate) const GENERATOR_CORE: u32 = 1;

const WARM_UP: Duration = Duration::from_secs(1);
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
    /// The sums of all windows, as the times are.
    pub(crate) requests: u32,
    pub(crate) seconds: f64,
    pub(crate) server_cpu_seconds: f64,
    /// Time the server was ready but something else had its core.
    pub(crate) server_waiting_seconds: f64,
    /// The same of the generator.
    pub(crate) generator_waiting_seconds: f64,
    pub(crate) requests_per_second: f64,
    pub(crate) requests_per_cpu_second: f64,
    /// The medians of the windows.
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

/// Runs all of `entrants` once, each loaded for `length` in all; whatever goes wrong with one becomes a fault of its run.
pub(crate) fn runs(entrants: Vec<(&Subject, Setup<'_>)>, length: Duration) -> Vec<Run> {
    let disturbances = disturbances_before();
    let mut standing: Vec<Standing<'_>> = entrants
        .into_iter()
        .map(|(subject, setup)| Standing::start(subject, setup, &disturbances))
        .collect();
    for one in &mut standing {
        one.attempt(|_, _, setup| warm_up(setup));
    }
    let window = standing
        .first()
        .map_or(length, |one| one.setup.workload.window());
    for _ in 0..length.as_millis().div_ceil(window.as_millis()) {
        for one in &mut standing {
            one.attempt(|_, up, setup| {
                up.windows.push(Window::take(setup, &up.server, window)?);
                Ok(())
            });
        }
        // Whoever came first comes last.
        standing.reverse();
    }
    standing.into_iter().map(Standing::finish).collect()
}

/// What has the cores while nothing of ours runs.
fn disturbances_before() -> Vec<String> {
    let cores = [SERVER_CORE, GENERATOR_CORE];
    let shares = busy(cores, IDLE_WINDOW).unwrap_or_default();
    cores
        .iter()
        .zip(shares)
        .filter(|(_, share)| *share > BUSY_MAX)
        .map(|(core, share)| {
            let percent = share * 100.0;
            format!("core {core} was {percent:.0} % busy before the run")
        })
        .collect()
}

/// A subject, its run so far, and its server while that is without fault.
struct Standing<'a> {
    subject: &'a Subject,
    setup: Setup<'a>,
    run: Run,
    up: Option<Up>,
}

/// A server at work, with what goes on beside it.
struct Up {
    server: Server,
    held: Vec<TcpStream>,
    scraper: Option<Beside>,
    cutter: Option<Cutter>,
    windows: Vec<Window>,
}

/// What a window measured.
pub(crate) struct Window {
    pub(crate) load: wrk::Load,
    cpu: Duration,
    /// Time the server was ready but something else had its core.
    pub(crate) waiting: Duration,
}

impl Window {
    /// Loads `server` for `length`.
    pub(crate) fn take(setup: &Setup<'_>, server: &Server, length: Duration) -> Result<Self> {
        let arguments = setup.workload.generator(setup.work, setup.port);
        let before = server.cpu()?;
        let load = wrk::load(GENERATOR_CORE, length, &arguments)?;
        let after = server.cpu()?;
        Ok(Self {
            load,
            cpu: after.running.saturating_sub(before.running),
            waiting: after.waiting.saturating_sub(before.waiting),
        })
    }
}

impl<'a> Standing<'a> {
    fn start(subject: &'a Subject, setup: Setup<'a>, disturbances: &[String]) -> Self {
        let mut run = Run {
            workload: setup.workload.name.into(),
            subject: subject.name.into(),
            disturbances: disturbances.to_vec(),
            ..Run::default()
        };
        let up = Up::start(&mut run, subject, &setup);
        let mut standing = Self {
            subject,
            setup,
            run,
            up: None,
        };
        match up {
            Ok(up) => standing.up = Some(up),
            Err(error) => standing.run.faults.push(format!("{error:#}")),
        }
        standing
    }

    /// Does something with a server that is up; one that fails is ended.
    fn attempt(&mut self, act: impl FnOnce(&mut Run, &mut Up, &Setup<'_>) -> Result<()>) {
        let Some(up) = &mut self.up else { return };
        if let Err(error) = act(&mut self.run, up, &self.setup) {
            self.run.faults.push(format!("{error:#}"));
            self.up = None;
        }
    }

    fn finish(mut self) -> Run {
        let role = self.subject.role();
        self.attempt(|run, up, setup| up.finish(run, role, setup));
        self.run
    }
}

impl Up {
    fn start(run: &mut Run, subject: &Subject, setup: &Setup<'_>) -> Result<Self> {
        ensure!(is_free(setup.port), "port {} is taken", setup.port);
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
        Ok(Self {
            server,
            held: idle::hold(setup)?,
            scraper: subject
                .is_scraped()
                .then(|| scrape::start(&admin_socket(setup.work, setup.port)))
                .transpose()?,
            cutter: subject
                .is_logged()
                .then(|| Cutter::start(&access_log(setup.work, setup.port))),
            windows: Vec::new(),
        })
    }

    /// Sums the windows up, and goes on with what some workloads ask beyond them.
    fn finish(&mut self, run: &mut Run, role: Role, setup: &Setup<'_>) -> Result<()> {
        let Memory { peak, .. } = self.server.memory_kib()?;
        self.held.clear();
        (self.scraper, self.cutter) = (None, None);
        run.rss_peak_kib = peak;
        sum_up(run, &self.windows);
        judge(run);
        // Nothing is asked of the rivals here; the ceiling shows what the machine does by itself.
        if setup.workload.idle > 0 && role != Role::Rival {
            let tails = idle::tails(setup, &self.server)?;
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
        Ok(())
    }
}

fn warm_up(setup: &Setup<'_>) -> Result<()> {
    let arguments = setup.workload.generator(setup.work, setup.port);
    wrk::load(GENERATOR_CORE, WARM_UP, &arguments)?;
    Ok(())
}

fn sum_up(run: &mut Run, windows: &[Window]) {
    let seconds =
        |of: fn(&Window) -> Duration| windows.iter().map(of).sum::<Duration>().as_secs_f64();
    let count =
        |of: fn(&wrk::Load) -> u32| windows.iter().map(|window| of(&window.load)).sum::<u32>();
    let middle =
        |of: fn(&wrk::Load) -> f64| spread(windows.iter().map(|window| of(&window.load))).median;
    run.requests = count(|load| load.requests);
    run.seconds = windows.iter().map(|window| window.load.seconds).sum();
    run.p50_us = middle(|load| load.p50_us);
    run.p99_us = middle(|load| load.p99_us);
    run.server_cpu_seconds = seconds(|window| window.cpu);
    run.server_waiting_seconds = seconds(|window| window.waiting);
    run.generator_waiting_seconds = seconds(|window| window.load.waiting);
    run.requests_per_second = f64::from(run.requests) / run.seconds;
    run.requests_per_cpu_second = f64::from(run.requests) / run.server_cpu_seconds.max(1e-9);
    refuse_errors(
        run,
        count(|load| load.errors),
        count(|load| load.bad_status),
    );
}

/// Whoever answers with errors is not ranked.
fn refuse_errors(run: &mut Run, errors: u32, bad_status: u32) {
    if errors > 0 {
        run.faults.push(format!("{errors} socket errors"));
    }
    if bad_status > 0 {
        run.faults
            .push(format!("{bad_status} answers of status 400 or above"));
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
    fn windows_are_summed_up_and_latencies_are_their_middle() {
        let window = |requests, p99_us, bad_status| Window {
            load: wrk::Load {
                requests,
                seconds: 0.5,
                p50_us: 1.0,
                p99_us,
                bad_status,
                waiting: Duration::from_millis(10),
                ..wrk::Load::default()
            },
            cpu: Duration::from_millis(400),
            waiting: Duration::from_millis(20),
        };
        let mut run = Run::default();
        let windows = [
            window(100, 7.0, 0),
            window(300, 9000.0, 2),
            window(200, 8.0, 1),
        ];
        sum_up(&mut run, &windows);
        assert_eq!((run.requests, run.seconds), (600, 1.5));
        assert!((run.requests_per_second - 400.0).abs() < 1e-6, "{run:?}");
        assert!(
            (run.requests_per_cpu_second - 500.0).abs() < 1e-6,
            "{run:?}"
        );
        assert!((run.server_waiting_seconds - 0.06).abs() < 1e-9, "{run:?}");
        assert!(
            (run.generator_waiting_seconds - 0.03).abs() < 1e-9,
            "{run:?}"
        );
        assert_eq!((run.p50_us, run.p99_us), (1.0, 8.0));
        assert_eq!(run.faults, ["3 answers of status 400 or above"]);
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
