//! The load generator wrk(1): how it is called and what it says.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{cpu_of_tree, pinned};

/// What is left of a run when the generator is asked how long it waited for its core: a process that has ended cannot be asked.
const LAST_LOOK: Duration = Duration::from_millis(50);
/// What a generator may take beyond its time: answers that never come end its own timeout of 2 s, a stuck one ends here.
const GRACE: Duration = Duration::from_secs(15);

/// What wrk reports about one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Answers received.
    pub(crate) requests: u32,
    /// Length of the run, as wrk measured it.
    pub(crate) seconds: f64,
    /// Median of the time from request to whole answer, in microseconds.
    pub(crate) p50_us: f64,
    /// 99th percentile of the same.
    pub(crate) p99_us: f64,
    /// Connections refused, broken or timed out.
    pub(crate) errors: u32,
    /// Answers with a status of 400 or above.
    pub(crate) bad_status: u32,
    /// Time the generator was ready but something else had its core, but for the last moments of the run.
    pub(crate) waiting: Duration,
}

/// Runs wrk for `length` on `core` with `arguments` (the last one is the URL). wrk cannot be asked for a part of a second, but
/// interrupted, it reports.
pub(crate) fn load(core: u32, length: Duration, arguments: &[String]) -> Result<Load> {
    let wrk = pinned(core)
        .args(["timeout", "--foreground", "--preserve-status"])
        .args(["--signal=INT", &format!("--kill-after={}", GRACE.as_secs())])
        .arg(length.as_secs_f64().to_string())
        .args(["wrk", "-t1", "--latency"])
        .arg(format!("-d{}s", (length + GRACE).as_secs()))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run setpriv (is util-linux installed?)")?;
    sleep(length.saturating_sub(LAST_LOOK));
    // It may have failed and ended: then its report says so.
    let waiting = cpu_of_tree(wrk.id()).map_or(Duration::ZERO, |cpu| cpu.waiting);
    Ok(Load {
        waiting,
        ..report(wrk)?
    })
}

fn report(wrk: Child) -> Result<Load> {
    let output = wrk.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!(
            "wrk failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    parse(&text).with_context(|| format!("cannot read wrk's report:\n{text}"))
}

/// Reads its report; none where the text is none.
pub(crate) fn parse(text: &str) -> Option<Load> {
    let mut load = Load::default();
    let mut total = None;
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["50%", time] => load.p50_us = micros(time)?,
            ["99%", time] => load.p99_us = micros(time)?,
            [requests, "requests", "in", time, ..] => {
                total = Some(requests.parse().ok()?);
                load.seconds = micros(time.trim_end_matches(','))? / 1e6;
            }
            ["Socket", "errors:", ..] => {
                let counts = words[2..].iter().map(|word| word.trim_end_matches(','));
                load.errors = counts.filter_map(|count| count.parse::<u32>().ok()).sum();
            }
            ["Non-2xx", .., count] => load.bad_status = count.parse().ok()?,
            _ => {}
        }
    }
    load.requests = total?;
    (load.seconds > 0.0).then_some(load)
}

/// A time with a unit, in microseconds.
pub(crate) fn micros(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 5] = [
        ("us", 1.0),
        ("ms", 1e3),
        ("s", 1e6),
        ("m", 6e7),
        ("h", 3.6e9),
    ];
    let (number, unit) = text.split_at(text.find(char::is_alphabetic)?);
    let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    number.parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "Running 3s test @ http://127.0.0.1:10000/tiny.txt\n  1 threads and 64 connections\n\
        \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   306.12us   61.1us   2.1ms   78.5%\n\
        \x20   Req/Sec   212.1k     4.2k   220.1k    70.0%\n  Latency Distribution\n     50%  300.00us\n\
        \x20    75%  330.00us\n     90%  360.00us\n     99%    1.25ms\n  640001 requests in 3.10s, 150.1MB read\n";

    fn check(text: &str, expected: Option<(u32, u32, u32)>) {
        let load = parse(text).map(|load| (load.requests, load.errors, load.bad_status));
        assert_eq!(load, expected, "{text}");
    }

    #[test]
    fn refuses_what_is_not_a_report() {
        check("", None);
        check(
            "unable to connect to 127.0.0.1:10000 Connection refused\n",
            None,
        );
        check("  0 requests in 0.00us, 0.00B read\n", None);
        check("  many requests in 3.10s, 1B read\n", None);
    }

    #[test]
    fn counts_requests_and_errors() {
        check(GOOD, Some((640_001, 0, 0)));
        let errors = "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n";
        check(&format!("{GOOD}{errors}"), Some((640_001, 10, 5)));
    }

    #[test]
    fn reads_times_in_every_unit() {
        let load = parse(GOOD).expect("a report");
        assert_eq!(
            (load.p50_us, load.p99_us, load.seconds),
            (300.0, 1250.0, 3.1)
        );
        let rows = [
            ("1.00us", Some(1.0)),
            ("2.00s", Some(2e6)),
            ("1.50m", Some(9e7)),
            ("7", None),
            ("7parsec", None),
        ];
        for (text, expected) in rows {
            assert_eq!(micros(text), expected, "{text}");
        }
    }
}
