//! The comparison of load generators: all of them against one canned answer, in interleaved rounds, the server on a
//! core of its own and the generator on another.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::case::{CASES, Row, SMALL_BYTES};
use super::goals::{Finding, OPEN_RATE, adds_little, beats, keeps_its_rate, median_of};
use super::program::{GENERATORS, Generator, Load, Reuse, Said};
use super::text::markdown;

use crate::GeneratorsArgs;
use crate::process::{Server, is_free};
use crate::report;
use crate::run::{GENERATOR_CORE, SERVER_CORE};

/// Each run has a port of its own, so that connections in TIME-WAIT never meet the next server.
const PORTS: u16 = 1000;
const ORDER_SEED: u64 = 1;
/// A pause of the machine of one millisecond at the end of a run is already a tenth of a percent of one second.
const OPEN_SECONDS_MIN: u32 = 5;

/// How long each run of the open load is.
pub(super) fn open_seconds(args: &GeneratorsArgs) -> u32 {
    args.bench.seconds.max(OPEN_SECONDS_MIN)
}

/// Everything that a run of the comparison needs.
struct Bench<'a> {
    args: &'a GeneratorsArgs,
    vervet: String,
    there: Vec<(&'static Generator, String)>,
    port: u16,
}

/// Measures all generators that are installed and writes the result.
pub(crate) fn compare(args: &GeneratorsArgs) -> Result<()> {
    let vervet = args.bench.vervet.display().to_string();
    let with_program = |row: &'static Generator| Some((row, row.program(&vervet)?));
    let there: Vec<_> = GENERATORS.iter().filter_map(with_program).collect();
    let missing: Vec<&str> = GENERATORS
        .iter()
        .map(|row| row.name)
        .filter(|name| there.iter().all(|(row, _)| row.name != *name))
        .collect();
    let mut bench = Bench {
        args,
        vervet: vervet.clone(),
        there,
        port: args.port,
    };
    let mut rows = bench.rounds();
    let few = bench.half_rate(&mut rows);
    let open = bench.open();

    let environment = fs::read_to_string(args.bench.work.join("environment")).unwrap_or_default();
    let mut findings: Vec<Finding> = CASES.iter().map(|case| beats(case, &rows)).collect();
    findings.extend(adds_little(&rows, few));
    findings.push(keeps_its_rate(&open));
    let text = markdown(args, (&findings, &rows, &missing), &environment)?;
    println!("{text}");
    fs::create_dir_all(&args.bench.out)?;
    fs::write(
        args.bench.out.join("generators.json"),
        serde_json::to_string_pretty(&rows)?,
    )?;
    if let Some(path) = &args.bench.markdown {
        let document =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(path, report::replace(&document, &text)?)?;
    }
    Ok(())
}

impl Bench<'_> {
    fn rounds(&mut self) -> Vec<Row> {
        let mut random = fastrand::Rng::with_seed(ORDER_SEED);
        let mut rows = Vec::new();
        for round in 1..=self.args.bench.rounds {
            for case in &CASES {
                let load = Load {
                    connections: case.connections,
                    reuse: case.reuse,
                    seconds: self.args.bench.seconds,
                    requests: case.per_second * self.args.bench.seconds,
                };
                let mut order: Vec<usize> = (0..self.there.len()).collect();
                random.shuffle(&mut order);
                for index in order {
                    rows.extend(self.measure((case.name, case.bytes), round, index, &load));
                }
            }
        }
        rows
    }

    /// Few connections at which ours comes to half of its rate, and what ours and wrk's then say of times.
    fn half_rate(&mut self, rows: &mut Vec<Row>) -> u32 {
        let most = median_of(rows, "small64", "vervet", |row| row.rate);
        let load = |connections| Load {
            connections,
            reuse: Reuse::Keep,
            seconds: self.args.bench.seconds,
            requests: 200_000 * self.args.bench.seconds,
        };
        let ours = self.there.iter().position(|(row, _)| row.name == "vervet");
        let wrk = self.there.iter().position(|(row, _)| row.name == "wrk");
        let (Some(ours), Some(wrk)) = (ours, wrk) else {
            return 0;
        };
        let loads: Vec<Load> = (1..=16).map(load).collect();
        let mut few = 1;
        for tried in &loads {
            few = tried.connections;
            let row = self.measure(("search", SMALL_BYTES), 0, ours, tried);
            if row.is_some_and(|row| row.rate >= most / 2.0) {
                break;
            }
        }
        for round in 1..=self.args.bench.rounds {
            for index in [ours, wrk] {
                let load = &loads[few as usize - 1];
                rows.extend(self.measure(("half", SMALL_BYTES), round, index, load));
            }
        }
        few
    }

    /// What ours achieved of a constant rate, run by run.
    fn open(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        let (ours, program) = (&GENERATORS[0], self.vervet.clone());
        for round in 1..=self.args.bench.rounds {
            let seconds = open_seconds(self.args);
            let said = self.with_server(SMALL_BYTES, |server, url| {
                let line = format!(
                    "load {url} -c 64 -d {seconds}s --rate {OPEN_RATE} --format json --warm-up 0s"
                );
                let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
                observe(server, || {
                    let run = ours.run_with(&program, GENERATOR_CORE, seconds, &words);
                    run.map(Some)
                })
            });
            rows.extend(row(("open", "vervet"), round, said));
        }
        rows
    }

    fn measure(
        &mut self,
        (case, bytes): (&'static str, u32),
        round: u32,
        index: usize,
        load: &Load,
    ) -> Option<Row> {
        let (generator, program) = self.there[index].clone();
        let said = self.with_server(bytes, |server, url| {
            let warm_up = Load {
                seconds: 1,
                requests: load.requests / load.seconds.max(1),
                ..*load
            };
            if generator
                .run(&program, GENERATOR_CORE, &warm_up, url)?
                .is_none()
            {
                return Ok(None);
            }
            observe(server, || {
                generator.run(&program, GENERATOR_CORE, load, url)
            })
        });
        let row = row((case, generator.name), round, said)?;
        eprintln!(
            "round {round} {case:10} {:10} {:8.0} requests/s {:8.0} requests per CPU-second, server's core {:3.0} % \
             p50 {:7.0} us p99 {:7.0} us {}",
            row.generator,
            row.rate,
            row.requests_per_cpu_second,
            row.server_share * 100.0,
            row.p50_us,
            row.p99_us,
            row.fault.as_deref().unwrap_or_default()
        );
        Some(row)
    }

    /// A fresh canned server on a port of its own, for as long as `run` takes.
    fn with_server<T>(
        &mut self,
        bytes: u32,
        run: impl FnOnce(&Server, &str) -> Result<T>,
    ) -> Result<T> {
        let port = self.port;
        self.port = if port - self.args.port + 1 < PORTS {
            port + 1
        } else {
            self.args.port
        };
        ensure!(is_free(port), "port {port} is taken");
        let line = format!("load --canned 127.0.0.1:{port} --canned-bytes {bytes}");
        let argv: Vec<String> = std::iter::once(self.vervet.clone())
            .chain(line.split_whitespace().map(str::to_owned))
            .collect();
        let log = self.args.bench.work.join("canned.log");
        let mut server = Server::start(&argv, SERVER_CORE, &log)?;
        server.wait_for_listener(port)?;
        run(&server, &format!("http://127.0.0.1:{port}/"))
    }
}

/// What a run gave, and what it took of both cores.
struct Seen {
    said: Said,
    requests_per_cpu_second: f64,
    server_share: f64,
}

/// Makes a run, and looks at what the server has used before and after it.
fn observe(
    server: &Server,
    run: impl FnOnce() -> Result<Option<(Said, Duration)>>,
) -> Result<Option<Seen>> {
    let before = server.cpu()?;
    let Some((said, cpu)) = run()? else {
        return Ok(None);
    };
    let used = server.cpu()?.running.saturating_sub(before.running);
    // The generator's own start and end are not the server's time.
    let loaded_seconds = said.answers / said.rate.max(1e-9);
    Ok(Some(Seen {
        said,
        requests_per_cpu_second: said.answers / cpu.as_secs_f64().max(1e-9),
        server_share: used.as_secs_f64() / loaded_seconds.max(1e-9),
    }))
}

/// The row of one run; none where the generator cannot put such a load.
fn row(
    (case, generator): (&'static str, &'static str),
    round: u32,
    seen: Result<Option<Seen>>,
) -> Option<Row> {
    let row = Row {
        case,
        generator,
        round,
        ..Row::default()
    };
    Some(match seen {
        Ok(None) => return None,
        Ok(Some(seen)) => Row {
            rate: seen.said.rate,
            requests_per_cpu_second: seen.requests_per_cpu_second,
            server_share: seen.server_share,
            p50_us: seen.said.p50_us,
            p99_us: seen.said.p99_us,
            fault: (seen.said.failed > 0).then(|| format!("{} failed", seen.said.failed)),
            ..row
        },
        Err(error) => Row {
            fault: Some(format!("{error:#}")),
            ..row
        },
    })
}
