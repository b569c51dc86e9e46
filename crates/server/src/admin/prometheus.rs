//! `/metrics`: a report as OpenMetrics text. Names and units are those of OpenTelemetry where it
//! defines them.

use std::fmt::Display;

use vervet_engine::counters::Totals;
use vervet_http::openmetrics::{Labels, MetricKind, OpenMetrics, seconds_from_ms};

use super::report::Report;
use crate::caches::CacheReport;
use crate::metrics::{BOUNDS_MS, CLASSES, Durations};

/// The metrics of a report.
pub(super) fn metrics(report: &Report) -> String {
    let mut out = OpenMetrics::new("");
    server(&mut out, report);
    process(&mut out, report);
    connections(&mut out, report);
    requests(&mut out, &report.engine);
    sites(&mut out, report);
    refusals(&mut out, report);
    caches(&mut out, report);
    logs(&mut out, report);
    out.finish()
}

fn server(out: &mut OpenMetrics, report: &Report) {
    out.family("vervet", MetricKind::Info, "The server.");
    out.sample(&[("version", &report.version)], 1);
    let ready = u64::from(report.phase == super::Phase::Ready);
    out.single("vervet_ready", MetricKind::Gauge, "1 while new requests are accepted.", ready);
    let help = "Number of the current plan, from 1.";
    out.single("vervet_plan_generation", MetricKind::Gauge, help, report.generation);
    let reloads = [("done", report.reloads.done), ("refused", report.reloads.refused)];
    let help = "Reloads of the configuration.";
    add_counters(out, "vervet_reloads", help, "result", reloads);
}

fn process(out: &mut OpenMetrics, report: &Report) {
    let process = &report.process;
    let help = "Start time of the process since 1970.";
    out.single("process_start_time_seconds", MetricKind::Gauge, help, report.started_unix);
    let help = "Resident memory.";
    out.single("process_resident_memory_bytes", MetricKind::Gauge, help, process.resident_bytes);
    out.single(
        "process_open_fds",
        MetricKind::Gauge,
        "Open file descriptors.",
        process.descriptors,
    );
    out.family("process_cpu_seconds", MetricKind::Counter, "CPU time of all threads.");
    out.sample(&[], seconds_from_ms(process.cpu_ms));
}

fn connections(out: &mut OpenMetrics, report: &Report) {
    out.family("vervet_connections_open", MetricKind::Gauge, "Open connections.");
    for (reactor, count) in report.reactor_connections.iter().enumerate() {
        out.sample(&[("reactor", &reactor)], *count as u64);
    }
    let engine = &report.engine;
    let help = "Connections accepted from the kernel.";
    out.single("vervet_connections_accepted", MetricKind::Counter, help, engine.accepted);
    let help = "Connections admitted.";
    out.single("vervet_connections_admitted", MetricKind::Counter, help, engine.connections);
    let refused = [
        ("rule", engine.denied),
        ("connections_max", engine.refused),
        ("connections_per_address_max", engine.refused_address),
    ];
    let help = "Connections refused, by reason.";
    add_counters(out, "vervet_connections_refused", help, "reason", refused);
    let timeouts = &engine.timeouts;
    let timed_out = [
        ("proxy_header_timeout_ms", timeouts.proxy_header),
        ("head_timeout_ms", timeouts.head),
        ("content_idle_timeout_ms", timeouts.content_idle),
        ("content_rate_min", timeouts.content_rate),
        ("write_stall_timeout_ms", timeouts.write_stall),
        ("write_rate_min", timeouts.write_rate),
    ];
    let help = "Connections closed by a timeout or minimum rate, by limit.";
    add_counters(out, "vervet_connections_timed_out", help, "limit", timed_out);
}

fn requests(out: &mut OpenMetrics, engine: &Totals) {
    out.single(
        "vervet_requests",
        MetricKind::Counter,
        "Complete request heads received.",
        engine.requests,
    );
    let help = "Requests that violated the protocol.";
    out.single("vervet_violations", MetricKind::Counter, help, engine.violations);
    let help = "Final responses, by class of status.";
    add_counters(out, "vervet_responses", help, "status", CLASSES.iter().zip(engine.responses));
    let help = "Bytes received on the wire.";
    out.single("vervet_received_bytes", MetricKind::Counter, help, engine.received_bytes);
    let help = "Bytes sent on the wire.";
    out.single("vervet_sent_bytes", MetricKind::Counter, help, engine.sent_bytes);
}

fn sites(out: &mut OpenMetrics, report: &Report) {
    let help = "Time from the complete request head to the end of the response, by site and class of \
                status. The site is empty for requests refused before it was known.";
    out.family("http_server_request_duration_seconds", MetricKind::Histogram, help);
    for site in &report.sites {
        for (class, durations) in CLASSES.iter().zip(&site.durations) {
            // Classes without responses are left out: a thousand sites have five thousand classes.
            if durations.count() > 0 {
                add_durations(out, &[("site", &site.site), ("status", class)], durations);
            }
        }
    }
    let help = "Bytes of response bodies sent, as in the access log.";
    let contents = report.sites.iter().map(|site| (&site.site, site.content_bytes));
    add_counters(out, "vervet_site_content_bytes", help, "site", contents);
    let help = "Incomplete responses, and requests refused by the engine.";
    let faults = report.sites.iter().map(|site| (&site.site, site.faults));
    add_counters(out, "vervet_site_faults", help, "site", faults);
}

fn add_durations(out: &mut OpenMetrics, labels: Labels<'_>, durations: &Durations) {
    let bounds = BOUNDS_MS.iter().map(|bound| seconds_from_ms(*bound));
    let [counts @ .., above] = durations.buckets;
    let sum = seconds_from_ms(durations.sum_ms);
    out.histogram(labels, bounds.zip(counts), above, sum);
}

fn refusals(out: &mut OpenMetrics, report: &Report) {
    let help = "Requests refused by a rule or limit of a site.";
    let counts = report.refused.iter().map(|(by, count)| (by, *count));
    add_counters(out, "vervet_refused", help, "by", counts);
}

/// Adds a family of counters that one label distinguishes.
fn add_counters<L: Display>(
    out: &mut OpenMetrics,
    name: &'static str,
    help: &str,
    label: &'static str,
    counts: impl IntoIterator<Item = (L, u64)>,
) {
    out.family(name, MetricKind::Counter, help);
    for (value, count) in counts {
        out.sample(&[(label, &value)], count);
    }
}

fn caches(out: &mut OpenMetrics, report: &Report) {
    type Count = fn(&CacheReport) -> u64;
    let families: [(&'static str, MetricKind, &str, Count); 6] = [
        ("vervet_cache_hits", MetricKind::Counter, "Cache hits.", |cache| cache.hits),
        ("vervet_cache_misses", MetricKind::Counter, "Cache misses.", |cache| cache.misses),
        (
            "vervet_cache_evictions",
            MetricKind::Counter,
            "Cache entries removed to make room for others.",
            |cache| cache.evictions,
        ),
        ("vervet_cache_entries", MetricKind::Gauge, "Cache entries held.", |cache| cache.entries),
        ("vervet_cache_bytes", MetricKind::Gauge, "Memory of cache entries.", |cache| cache.bytes),
        (
            "vervet_cache_fds",
            MetricKind::Gauge,
            "File descriptors that caches keep open.",
            |cache| cache.descriptors,
        ),
    ];
    for (name, kind, help, count) in families {
        out.family(name, kind, help);
        for cache in &report.caches {
            out.sample(&[("cache", &cache.name)], count(cache));
        }
    }
}

fn logs(out: &mut OpenMetrics, report: &Report) {
    let written = report.logs.iter().map(|log| (&log.target, log.written));
    add_counters(out, "vervet_log_lines_written", "Log lines written.", "target", written);
    let dropped = report.logs.iter().map(|log| (&log.target, log.dropped));
    add_counters(out, "vervet_log_lines_dropped", "Log lines dropped.", "target", dropped);
    let events = report.events.iter().map(|(level, count)| (level.as_str(), *count));
    add_counters(out, "vervet_events", "Events of the error log, by level.", "level", events);
}
