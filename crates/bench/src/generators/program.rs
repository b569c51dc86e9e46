//! The load generators under comparison: how each is called for the same load, and what it says.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use vervet_lab::subject::find;

use crate::process::{ended_cpu, pinned};

/// One load that all generators put on the same server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Connections at a time.
    pub(crate) connections: u32,
    /// What follows an answer.
    pub(crate) reuse: Reuse,
    /// How long, where the generator takes a time.
    pub(crate) seconds: u32,
    /// How many, where it takes a number only.
    pub(crate) requests: u32,
}

/// Whether a connection carries more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// All of its life.
    Keep,
    /// A new connection for each request.
    Close,
}

/// What a generator says of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// Answers that were good.
    pub(crate) answers: f64,
    /// Answers a second.
    pub(crate) rate: f64,
    /// Median of the time from request to whole answer, in microseconds; 0 where it does not say.
    pub(crate) p50_us: f64,
    /// 99th percentile of the same.
    pub(crate) p99_us: f64,
    /// Requests without a good answer.
    pub(crate) failed: u64,
}

/// A load generator.
pub(crate) struct Generator {
    /// Its name in the tables.
    pub(crate) name: &'static str,
    /// The program; ours is named on the command line instead.
    program: &'static str,
    /// What it can do with connections.
    reuses: &'static [Reuse],
    /// Its arguments for a load on a URL.
    arguments: fn(&Load, &str) -> Vec<String>,
    /// What its report says; none where the text is no report.
    read: fn(&str) -> Option<Said>,
}

/// All generators, in the order of the tables.
pub(crate) const GENERATORS: [Generator; 6] = [
    Generator {
        name: "vervet",
        program: "vervet",
        reuses: &[Reuse::Keep, Reuse::Close],
        arguments: for_vervet,
        read: read_vervet,
    },
    Generator {
        name: "weighttp",
        program: "weighttp",
        reuses: &[Reuse::Keep, Reuse::Close],
        arguments: for_weighttp,
        read: read_weighttp,
    },
    Generator {
        name: "ab",
        program: "ab",
        reuses: &[Reuse::Keep, Reuse::Close],
        arguments: for_ab,
        read: read_ab,
    },
    Generator {
        name: "wrk",
        program: "wrk",
        // It asks for the end of a connection, and goes on with it where the server does not end it.
        reuses: &[Reuse::Keep],
        arguments: for_wrk,
        read: read_wrk,
    },
    Generator {
        name: "h2load",
        program: "h2load",
        reuses: &[Reuse::Keep],
        arguments: for_h2load,
        read: read_counts,
    },
    Generator {
        name: "oha",
        program: "oha",
        reuses: &[Reuse::Keep, Reuse::Close],
        arguments: for_oha,
        read: read_oha,
    },
];

impl Generator {
    /// Its program, where it is installed.
    pub(crate) fn program(&self, vervet: &str) -> Option<String> {
        if self.name == "vervet" {
            return Some(vervet.to_owned());
        }
        find(self.program).map(|path| path.display().to_string())
    }

    /// Runs it on `core`, and says what processor time it took as well; none where it cannot put such a load.
    pub(crate) fn run(
        &self,
        program: &str,
        core: u32,
        load: &Load,
        url: &str,
    ) -> Result<Option<(Said, Duration)>> {
        if !self.reuses.contains(&load.reuse) {
            return Ok(None);
        }
        let arguments = (self.arguments)(load, url);
        self.run_with(program, core, load.seconds, &arguments)
            .map(Some)
    }

    /// Runs it with arguments of the caller's own.
    pub(crate) fn run_with(
        &self,
        program: &str,
        core: u32,
        seconds: u32,
        arguments: &[String],
    ) -> Result<(Said, Duration)> {
        // Answers that never come are the generator's own timeout; this one is for a stuck generator.
        const GRACE_SECONDS: u32 = 30;
        let before = ended_cpu();
        let output = pinned(core)
            .args(["timeout", "--foreground", "--kill-after=1"])
            .arg((seconds + GRACE_SECONDS).to_string())
            .arg(program)
            .args(arguments)
            .output()
            .context("cannot run setpriv (is util-linux installed?)")?;
        let cpu = ended_cpu().saturating_sub(before);
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(said) = (self.read)(&text) else {
            bail!(
                "cannot read the report of {} ({}): {text} {}",
                self.name,
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            );
        };
        Ok((said, cpu))
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn for_vervet(load: &Load, url: &str) -> Vec<String> {
    let close = if load.reuse == Reuse::Close {
        " --close"
    } else {
        ""
    };
    words(&format!(
        "load {url} -c {} -d {}s --format json{close}",
        load.connections, load.seconds
    ))
}

/// The figures of the JSON report (docs/schema/load-report.json); times in it are nanoseconds.
fn read_vervet(text: &str) -> Option<Said> {
    let run: serde_json::Value = serde_json::from_str(text).ok()?;
    let number = |pointer: &str| run.pointer(pointer).and_then(serde_json::Value::as_f64);
    let errors = run.pointer("/errors")?.as_object()?;
    let failed = errors
        .values()
        .filter_map(serde_json::Value::as_u64)
        .sum::<u64>();
    Some(Said {
        answers: number("/achieved/done")?,
        rate: number("/achieved/rate_per_s")?,
        p50_us: number("/timings/service/p50_ns")? / 1e3,
        p99_us: number("/timings/service/p99_ns")? / 1e3,
        failed,
    })
}

fn for_weighttp(load: &Load, url: &str) -> Vec<String> {
    let keep = if load.reuse == Reuse::Keep { "-k " } else { "" };
    words(&format!(
        "{keep}-q -n {} -c {} {url}",
        load.requests, load.connections
    ))
}

/// The JSON of its newer kind, or the lines of its older one.
fn read_weighttp(text: &str) -> Option<Said> {
    if let Ok(run) = serde_json::from_str::<serde_json::Value>(text) {
        let number = |pointer: &str| run.pointer(pointer).and_then(serde_json::Value::as_f64);
        return Some(Said {
            answers: number("/response_counts/pass")?,
            rate: number("/reqs_per_sec")?,
            failed: whole(number("/response_counts/fail")? + number("/response_counts/errs")?),
            ..Said::default()
        });
    }
    read_counts(text)
}

/// The two lines that weighttp and h2load have in common.
fn read_counts(text: &str) -> Option<Said> {
    let line = |name: &str| text.lines().find(|line| line.starts_with(name));
    let (finished, requests) = (line("finished in")?, line("requests:")?);
    Some(Said {
        answers: before(requests, "succeeded")?,
        rate: before(finished, "req/s")?,
        failed: whole(before(requests, "failed")? + before(requests, "errored")?),
        ..Said::default()
    })
}

/// ab keeps 32 bytes for each request that it was promised, so it is given a number as well.
fn for_ab(load: &Load, url: &str) -> Vec<String> {
    let keep = if load.reuse == Reuse::Keep { "-k " } else { "" };
    words(&format!(
        "{keep}-q -r -n {} -c {} {url}",
        load.requests, load.connections
    ))
}

fn read_ab(text: &str) -> Option<Said> {
    let after = |name: &str| {
        let line = text.lines().find(|line| line.trim().starts_with(name))?;
        let rest = line.trim().strip_prefix(name)?;
        rest.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some(Said {
        answers: after("Complete requests:")?,
        rate: after("Requests per second:")?,
        p50_us: after("50%")? * 1e3,
        p99_us: after("99%")? * 1e3,
        failed: whole(after("Failed requests:")? + after("Non-2xx responses:").unwrap_or(0.0)),
    })
}

fn for_wrk(load: &Load, url: &str) -> Vec<String> {
    words(&format!(
        "-t1 --latency -d{}s -c{} {url}",
        load.seconds, load.connections
    ))
}

fn read_wrk(text: &str) -> Option<Said> {
    let load = crate::wrk::parse(text)?;
    Some(Said {
        answers: f64::from(load.requests),
        rate: f64::from(load.requests) / load.seconds,
        p50_us: load.p50_us,
        p99_us: load.p99_us,
        failed: u64::from(load.errors) + u64::from(load.bad_status),
    })
}

/// h2load does not open a new connection for each request.
fn for_h2load(load: &Load, url: &str) -> Vec<String> {
    words(&format!(
        "--h1 -t1 -n {} -c {} {url}",
        load.requests, load.connections
    ))
}

fn for_oha(load: &Load, url: &str) -> Vec<String> {
    let close = if load.reuse == Reuse::Close {
        "--disable-keepalive "
    } else {
        ""
    };
    words(&format!(
        "--no-tui --output-format json -z {}s -c {} {close}{url}",
        load.seconds, load.connections
    ))
}

/// The JSON of oha; its times are seconds. What was under way when time was up is told as an error, and is none.
fn read_oha(text: &str) -> Option<Said> {
    let run: serde_json::Value = serde_json::from_str(text).ok()?;
    let number = |pointer: &str| run.pointer(pointer).and_then(serde_json::Value::as_f64);
    let counts = |pointer: &str| run.pointer(pointer).and_then(serde_json::Value::as_object);
    let statuses = counts("/statusCodeDistribution")?.values();
    let failed = counts("/errorDistribution")?
        .iter()
        .filter(|(what, _)| !what.contains("deadline"))
        .filter_map(|(_, count)| count.as_u64())
        .sum();
    Some(Said {
        answers: statuses.filter_map(serde_json::Value::as_f64).sum(),
        rate: number("/summary/requestsPerSec")?,
        p50_us: number("/latencyPercentiles/p50")? * 1e6,
        p99_us: number("/latencyPercentiles/p99")? * 1e6,
        failed,
    })
}

/// The number that stands before `unit` in a line of words.
fn before(line: &str, unit: &str) -> Option<f64> {
    let mut last = None;
    for word in line.split_whitespace() {
        if word.trim_end_matches([',', ':']) == unit {
            return last;
        }
        last = word.trim_end_matches(',').parse().ok();
    }
    None
}

/// A count that a report gives as a number like any other.
fn whole(count: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of requests of a bounded run"
    )]
    let count = count as u64;
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expected: Option<(f64, f64, f64, f64, u64)>) {
        let generator = GENERATORS.iter().find(|row| row.name == name);
        let said = (generator.expect("a generator").read)(text);
        let said = said.map(|said| {
            let times = (said.p50_us, said.p99_us);
            (said.answers, said.rate, times.0, times.1, said.failed)
        });
        assert_eq!(said, expected, "{name}: {text}");
    }

    #[test]
    fn refuses_what_is_not_a_report() {
        for generator in &GENERATORS {
            check(generator.name, "", None);
            check(generator.name, "connection refused\n{\n", None);
        }
    }

    #[test]
    fn reads_ours() {
        let text = include_str!("../../../report/tests/data/run.json");
        check("vervet", text, Some((9985.0, 998.5, 242.175, 773.631, 15)));
    }

    #[test]
    fn reads_ab() {
        let text = "Complete requests:      100\nFailed requests:        2\n   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)\n\
            Non-2xx responses:      1\nRequests per second:    25000.10 [#/sec] (mean)\n\
            Percentage of the requests served within a certain time (ms)\n  50%      2\n  99%      7\n";
        check("ab", text, Some((100.0, 25_000.1, 2000.0, 7000.0, 3)));
    }

    #[test]
    fn reads_weighttp_and_h2load() {
        let text = "finished in 1 sec, 20 millisec and 3 microsec, 294000 req/s, 77000 kbyte/s\n\
            requests: 300000 total, 300000 started, 300000 done, 299998 succeeded, 1 failed, 1 errored\n";
        check("weighttp", text, Some((299_998.0, 294_000.0, 0.0, 0.0, 2)));
        let text =
            r#"{"reqs_per_sec": 294000, "response_counts": {"pass": 7, "fail": 1, "errs": 2}}"#;
        check("weighttp", text, Some((7.0, 294_000.0, 0.0, 0.0, 3)));
        let text = "finished in 1.50s, 195000.25 req/s, 30.10MB/s\n\
            requests: 300000 total, 300000 started, 300000 done, 300000 succeeded, 0 failed, 0 errored, 0 timeout\n";
        check("h2load", text, Some((300_000.0, 195_000.25, 0.0, 0.0, 0)));
    }

    #[test]
    fn reads_oha() {
        let text = r#"{"summary":{"requestsPerSec":1000.5},"latencyPercentiles":{"p50":0.001,"p99":0.002},
            "statusCodeDistribution":{"200":9,"404":1},"errorDistribution":{"aborted due to deadline":64,"connection refused":3}}"#;
        check("oha", text, Some((10.0, 1000.5, 1000.0, 2000.0, 3)));
    }
}
