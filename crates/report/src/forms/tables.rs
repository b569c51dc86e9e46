//! The tables of a report: the same in a terminal and on a page.

use super::table::Table;
use super::words::{self, of_core, of_ms, of_ns};
use crate::histogram::{Histogram, QUANTILES};
use crate::machine::Watched;
use crate::plan::Mode;
use crate::run::Run;
use crate::search::Search;
use crate::units::{bytes, count, percent, rate, time};

/// What was asked.
pub(super) fn asked(run: &Run) -> Table {
    let asked = &run.asked;
    let mut table = Table::new("What was asked", &["", ""]);
    table.row(["target", &asked.target]);
    table.row(["load", words::mode(&asked.mode)]);
    if let Mode::Open { pacers, .. } = &asked.mode {
        let pacers: Vec<_> = pacers.iter().map(String::as_str).collect();
        table.row(["pacer", &pacers.join("; ")]);
    }
    table.row(["connections", &words::connections(asked)]);
    table.row(["for", &words::stop(asked)]);
    table.row(["time limit", &of_ms(asked.timeout_ms)]);
    let made_by = match run.agents {
        0 | 1 => format!("{} threads", count(asked.threads)),
        agents => {
            format!("{} agents with {} threads together", count(agents), count(asked.threads))
        }
    };
    table.row(["made by", &made_by.replace("1 threads", "1 thread")]);
    for check in &asked.checks {
        table.row(["each answer", check]);
    }
    table
}

/// What was achieved.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(super) fn achieved(run: &Run) -> Table {
    let achieved = &run.achieved;
    let mut table = Table::new("What was achieved", &["", ""]);
    let window = time(achieved.window_us as f64 * 1e3);
    table.row(["rate", &words::rate_achieved(run)]);
    table.row(["good answers", &format!("{} in {window}", count(achieved.done))]);
    let (failed, finished) = (run.errors.total(), run.finished());
    table.row([
        "failed",
        &match failed {
            0 => "none".to_owned(),
            _ => {
                format!("{} of {} ({})", count(failed), count(finished), percent(run.error_share()))
            }
        },
    ]);
    if run.censored.count > 0 {
        let censored = format!(
            "{}, the oldest due for {}: neither good nor failed",
            count(run.censored.count),
            of_ns(run.censored.longest_ns)
        );
        table.row(["in flight at the end", &censored]);
    }
    table.row(["goodput", &format!("{}/s of content", bytes(achieved.goodput()))]);
    let moved = format!(
        "{} received, {} sent, heads and all",
        bytes(achieved.bytes_received as f64),
        bytes(achieved.bytes_sent as f64)
    );
    table.row(["bytes", &moved]);
    table.row(["connections opened", &count(achieved.connections_opened)]);
    let statuses: Vec<_> =
        run.statuses.iter().map(|(status, many)| format!("{status} ({})", count(*many))).collect();
    if !statuses.is_empty() {
        table.row(["answers by status", &statuses.join(", ")]);
    }
    table.row(["ended", words::ended(achieved.ended)]);
    table
}

/// How long things took.
pub(super) fn times(run: &Run) -> Table {
    let mut table = Table::new(
        "Times of good answers",
        &["", "#p50", "#p90", "#p99", "#p99.9", "#max", "#mean", "#sd", "#min"],
    );
    let timings = &run.timings;
    for (name, times) in [
        ("response time", &timings.response),
        ("service time", &timings.service),
        ("first byte", &timings.first_byte),
        ("connect", &timings.connect),
    ] {
        if times.is_empty() {
            table.row([name, "none"]);
            continue;
        }
        let mut row = vec![name.to_owned()];
        row.extend([0.5, 0.9, 0.99, 0.999, 1.0].map(|quantile| at(times, quantile)));
        row.extend([time(times.mean_ns()), time(times.sd_ns()), of_ns(times.min_ns())]);
        table.row(row);
    }
    table
}

/// Response and service time by percentile.
pub(super) fn percentiles(run: &Run) -> Table {
    let mut table =
        Table::new("Times by percentile", &["percentile", "#response time", "#service time"]);
    let (response, service) = (&run.timings.response, &run.timings.service);
    for (name, quantile) in QUANTILES {
        table.row([name.to_owned(), at(response, quantile), at(service, quantile)]);
    }
    table.row(["max".to_owned(), at(response, 1.0), at(service, 1.0)]);
    table
}

/// A quantile of times, where there are any.
pub(super) fn at(times: &Histogram, quantile: f64) -> String {
    if times.is_empty() {
        return "none".to_owned();
    }
    of_ns(times.quantile_ns(quantile))
}

/// The mean of times, where there are any.
pub(super) fn mean(times: &Histogram) -> String {
    if times.is_empty() {
        return "none".to_owned();
    }
    time(times.mean_ns())
}

/// Failed requests by class.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(super) fn errors(run: &Run) -> Table {
    let mut table =
        Table::new("Failed requests by class", &["class", "#requests", "#share", "meaning"]);
    for (class, many) in run.errors.occurred() {
        let share = percent(many as f64 / run.finished().max(1) as f64);
        table.row([class.name().to_owned(), count(many), share, class.meaning().to_owned()]);
    }
    table
}

/// Figures by step of a scenario.
pub(super) fn steps(run: &Run) -> Table {
    let mut table = Table::new(
        "Figures by step",
        &["step", "#good", "#failed", "#p50", "#p95", "#p99", "#max", "#mean"],
    );
    for step in &run.steps {
        let times = &step.response;
        let mut row = vec![step.name.clone(), count(step.done), count(step.errors.total())];
        row.extend([0.5, 0.95, 0.99, 1.0].map(|quantile| at(times, quantile)));
        row.push(mean(times));
        table.row(row);
    }
    table
}

/// Failures of steps: by class, and by broken assertion.
pub(super) fn step_failures(run: &Run) -> Table {
    let mut table = Table::new("Failures by step", &["step", "failed by", "#requests"]);
    for step in &run.steps {
        for (class, many) in step.errors.occurred() {
            table.row([step.name.clone(), class.name().to_owned(), count(many)]);
        }
        for (assertion, many) in &step.assertions {
            table.row([step.name.clone(), format!("assertion: {assertion}"), count(*many)]);
        }
    }
    table
}

/// The slowest requests.
pub(super) fn slowest(run: &Run) -> Table {
    let mut table = Table::new(
        "The slowest requests",
        &["request", "#response time", "#service time", "#due after", "#status"],
    );
    for slow in run.slowest.requests() {
        table.row([
            slow.request.clone(),
            of_ns(slow.response_ns),
            of_ns(slow.service_ns),
            of_ms(slow.due_ms),
            slow.status.to_string(),
        ]);
    }
    table
}

/// What became of the conditions.
pub(super) fn conditions(run: &Run) -> Table {
    let mut table =
        Table::new("Conditions and what was measured", &["condition", "is", "#measured", "#bound"]);
    for outcome in &run.conditions {
        let measured = if outcome.measured.is_empty() { "nothing" } else { &outcome.measured };
        table.row([&outcome.condition, words::answer(outcome.answer), measured, &outcome.bound]);
    }
    table
}

/// The tries of a search, in order.
#[expect(clippy::cast_precision_loss, reason = "rates below 2^53")]
pub(super) fn tries(search: &Search) -> Table {
    let mut table = Table::new(
        "Tries, in their order",
        &[
            "#try",
            "#asked",
            "#reached",
            "condition",
            "outcome",
            "#measured",
            "#p50",
            "#p99",
            "#failed",
            "#generator",
        ],
    );
    for (number, one) in (1..).zip(&search.tries) {
        table.row([
            format!("{number}"),
            rate(one.rate_asked_milli as f64 / 1000.0),
            rate(one.rate_milli as f64 / 1000.0),
            search.condition.clone(),
            words::tried(one.outcome).to_owned(),
            one.measured.clone(),
            of_ns(one.p50_ns),
            of_ns(one.p99_ns),
            count(one.errors.total()),
            percent(f64::from(one.generator_cpu_permille) / 1000.0),
        ]);
    }
    table
}

/// The intervals, the first `rows_max` of them.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(super) fn intervals(run: &Run, rows_max: usize) -> Table {
    let mut table = Table::new(
        "All intervals",
        &[
            "from",
            "#asked",
            "#done",
            "#rate",
            "#failed",
            "#p50",
            "#p99",
            "#max",
            "#received",
            "#generator",
        ],
    );
    for interval in run.intervals.iter().take(rows_max) {
        table.row([
            of_ms(interval.start_ms),
            interval.asked.map_or_else(|| "–".to_owned(), count),
            count(interval.done),
            rate(interval.rate()),
            count(interval.errors.total()),
            of_ns(interval.p50_ns),
            of_ns(interval.p99_ns),
            of_ns(interval.max_ns),
            bytes(interval.bytes as f64),
            percent(f64::from(interval.generator_cpu_permille) / 1000.0),
        ]);
    }
    table
}

/// The generator and what the kernel counted.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub(super) fn machine(run: &Run) -> Table {
    let generator = &run.generator;
    let mut table = Table::new("Generator, kernel and settings", &["", ""]);
    let cpu = format!(
        "{} in user mode, {} in the kernel",
        time(generator.cpu_user_us as f64 * 1e3),
        time(generator.cpu_system_us as f64 * 1e3)
    );
    table.row(["generator: processor", &cpu]);
    table.row(["generator: busiest thread", &of_core(generator.busiest_thread_permille)]);
    if generator.occupied_thread_permille > 0 {
        let occupied = percent(f64::from(generator.occupied_thread_permille) / 1000.0);
        let occupied = format!("{occupied} of the time, waits for a processor with it");
        table.row(["generator: most occupied thread", &occupied]);
    }
    if !generator.lag.is_empty() {
        let lag =
            format!("{} at p99, {} at most", at(&generator.lag, 0.99), at(&generator.lag, 1.0));
        table.row(["generator: lag", &lag]);
    }
    for (name, counted) in run.kernel.named() {
        let counted = counted.map_or_else(|| "not told by this machine".to_owned(), count);
        table.row([&format!("kernel: {name}"), &counted]);
    }
    for (name, values) in &run.environment {
        let values: Vec<_> = values.iter().map(String::as_str).collect();
        table.row([name, &values.join("; ")]);
    }
    table
}

/// What was seen of the server's processes.
#[expect(clippy::cast_precision_loss, reason = "sizes below 2^53")]
pub(super) fn watched(run: &Run) -> Table {
    let mut table = Table::new(
        "Watched processes",
        &["watched", "#user", "#kernel", "#most", "#memory", "#most", "#processes", ""],
    );
    for Watched { name, invalid, samples } in &run.watched {
        let many = samples.len().max(1) as f64;
        let mean = |of: fn(&crate::WatchedSample) -> u64| {
            samples.iter().map(|one| of(one) as f64).sum::<f64>() / many
        };
        let most = |of: fn(&crate::WatchedSample) -> u64| samples.iter().map(of).max().unwrap_or(0);
        let cpu = |one: &crate::WatchedSample| {
            u64::from(one.cpu_user_permille) + u64::from(one.cpu_system_permille)
        };
        table.row([
            name.clone(),
            percent(mean(|one| u64::from(one.cpu_user_permille)) / 1000.0),
            percent(mean(|one| u64::from(one.cpu_system_permille)) / 1000.0),
            percent(most(cpu) as f64 / 1000.0),
            bytes(mean(|one| one.memory_bytes)),
            bytes(most(|one| one.memory_bytes) as f64),
            count(most(|one| u64::from(one.processes))),
            invalid.clone(),
        ]);
    }
    table
}
