//! The comparison: every subject under every workload, round by round.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use vervet_lab::subject::find;

use crate::CompareArgs;
use crate::report::{self, Report};
use crate::run::{Run, runs};
use crate::subject::{SUBJECTS, Setup, Subject};
use crate::workload::{WORKLOADS, Workload, create_site};

/// Each run has a port of its own, so that connections in TIME-WAIT never meet the next server.
const PORTS: u16 = 1000;
/// The order of subjects is shuffled, and the same whenever the same is asked for.
const ORDER_SEED: u64 = 1;

/// Measures what `args` names and writes the result; slowness is reported, never an error.
pub(crate) fn compare(args: &CompareArgs) -> Result<()> {
    ensure!(
        find("wrk").is_some(),
        "cannot find wrk (install the package wrk)"
    );
    let workloads = chosen(&WORKLOADS, &args.only, |row| row.name, Workload::by_default)?;
    let mut subjects = chosen(&SUBJECTS, &args.subjects, |row| row.name, |_| true)?;
    let mut skipped = Vec::new();
    subjects.retain(|subject| {
        let there = subject.program(&args.bench.vervet).is_some();
        if !there {
            skipped.push(format!("{}, whose program is missing", subject.name));
        }
        there
    });
    for skipped in &skipped {
        eprintln!("skipped: {skipped}");
    }
    create_site(&args.bench.work, &workloads).context("cannot create the site")?;

    let (rounds, seconds) = if args.quick {
        (1, 1)
    } else {
        (args.bench.rounds, args.bench.seconds)
    };
    let environment = fs::read_to_string(args.bench.work.join("environment")).unwrap_or_default();
    let runs = rounds_of(args, (rounds, seconds), &workloads, &subjects);
    let report = Report::new(environment, (rounds, seconds), skipped, runs);
    report.write(&args.bench.out)?;
    let text = report.markdown()?;
    println!("{text}");
    if let Some(path) = &args.bench.markdown {
        let document =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(path, report::replace(&document, &text)?)?;
    }
    Ok(())
}

/// The rows named, or those that run by default; an unknown name is an error.
fn chosen<'a, Row>(
    rows: &'a [Row],
    named: &[String],
    name: fn(&Row) -> &'static str,
    by_default: fn(&Row) -> bool,
) -> Result<Vec<&'a Row>> {
    if named.is_empty() {
        return Ok(rows.iter().filter(|row| by_default(row)).collect());
    }
    let known: Vec<&str> = rows.iter().map(name).collect();
    for wanted in named {
        ensure!(
            known.contains(&wanted.as_str()),
            "unknown name {wanted} (there are {})",
            known.join(", ")
        );
    }
    Ok(rows
        .iter()
        .filter(|row| named.iter().any(|wanted| wanted == name(row)))
        .collect())
}

/// All runs. Subjects of one workload are loaded in turn, so that they meet the same machine; rounds lie far apart, so that
/// a disturbance spoils one of them only.
fn rounds_of(
    args: &CompareArgs,
    (rounds, seconds): (u32, u32),
    workloads: &[&Workload],
    subjects: &[&Subject],
) -> Vec<Run> {
    let mut random = fastrand::Rng::with_seed(ORDER_SEED);
    let mut ports = (0..PORTS)
        .map(|offset| args.port.saturating_add(offset))
        .cycle();
    let mut all = Vec::new();
    for round in 1..=rounds {
        for &workload in workloads {
            let mut order: Vec<_> = subjects
                .iter()
                .filter(|subject| subject.takes_part(workload, &args.subjects))
                .collect();
            random.shuffle(&mut order);
            for group in order.chunks(workload.at_once()) {
                let entrants = group.iter().zip(&mut ports).map(|(subject, port)| {
                    let setup = Setup {
                        work: &args.bench.work,
                        port,
                        workload,
                        vervet: &args.bench.vervet,
                    };
                    (**subject, setup)
                });
                let length = Duration::from_secs(seconds.into());
                for mut run in runs(entrants.collect(), length) {
                    run.round = round;
                    progress(&run);
                    all.push(run);
                }
            }
        }
    }
    all
}

fn progress(run: &Run) {
    let remarks: Vec<&str> = run
        .faults
        .iter()
        .chain(&run.disturbances)
        .map(String::as_str)
        .collect();
    eprintln!(
        "round {} {:10} {:16} {:8.0} requests per CPU-second {:8.0} requests/s p99 {:7.2} ms {}",
        run.round,
        run.workload,
        run.subject,
        run.requests_per_cpu_second,
        run.requests_per_second,
        run.p99_us / 1e3,
        remarks.join("; ").replace('\n', " "),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: &[&str], expected: Option<usize>) {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let rows = chosen(&WORKLOADS, &named, |row| row.name, Workload::by_default);
        assert_eq!(rows.ok().map(|rows| rows.len()), expected, "{named:?}");
    }

    #[test]
    fn chooses_by_name() {
        check(&["tiny46"], None);
        check(&["tiny64", "nothing"], None);
        check(&["pipelined"], Some(1));
        check(&[], Some(WORKLOADS.len() - 1));
    }
}
