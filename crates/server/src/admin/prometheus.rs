//! `/metrics`: a report as OpenMetrics text. Names and units are those of OpenTelemetry where it
//! defines them.

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
    out.family("vervet_reloads", MetricKind::Counter, "Reloads of the configuration.");
    out.sample(&[("result", &"done")], report.reloads.done);
    out.sample(&[("result", &"refused")], report.reloads.refused);
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
    out.family(
        "vervet_connections_refused",
        MetricKind::Counter,
        "Connections refused, by reason.",
    );
    out.sample(&[("reason", &"rule")], engine.denied);
    out.sample(&[("reason", &"connections_max")], engine.refused);
    out.sample(&[("reason", &"connections_per_address_max")], engine.refused_address);
    out.family(
        "vervet_connections_timed_out",
        MetricKind::Counter,
        "Connections closed by a timeout or minimum rate, by limit.",
    );
    let timeouts = &engine.timeouts;
    for (limit, count) in [
        ("proxy_header_timeout_ms", timeouts.proxy_header),
        ("head_timeout_ms", timeouts.head),
        ("content_idle_timeout_ms", timeouts.content_idle),
        ("content_rate_min", timeouts.content_rate),
        ("write_stall_timeout_ms", timeouts.write_stall),
        ("write_rate_min", timeouts.write_rate),
    ] {
        out.sample(&[("limit", &limit)], count);
    }
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
    out.family("vervet_responses", MetricKind::Counter, "Final responses, by class of status.");
    for (class, count) in CLASSES.iter().zip(engine.responses) {
        out.sample(&[("status", class)], count);
    }
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
    out.family("vervet_site_content_bytes", MetricKind::Counter, help);
    for site in &report.sites {
        out.sample(&[("site", &site.site)], site.content_bytes);
    }
    let help = "Incomplete responses, and requests refused by the engine.";
    out.family("vervet_site_faults", MetricKind::Counter, help);
    for site in &report.sites {
        out.sample(&[("site", &site.site)], site.faults);
    }
}

fn add_durations(out: &mut OpenMetrics, labels: Labels<'_>, durations: &Durations) {
    let bounds = BOUNDS_MS.iter().map(|bound| seconds_from_ms(*bound));
    let [counts @ .., above] = durations.buckets;
    let sum = seconds_from_ms(durations.sum_ms);
    out.histogram(labels, bounds.zip(counts), above, sum);
}

fn refusals(out: &mut OpenMetrics, report: &Report) {
    out.family(
        "vervet_refused",
        MetricKind::Counter,
        "Requests refused by a rule or limit of a site.",
    );
    for (by, count) in &report.refused {
        out.sample(&[("by", by)], *count);
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
    out.family("vervet_log_lines_written", MetricKind::Counter, "Log lines written.");
    for log in &report.logs {
        out.sample(&[("target", &log.target)], log.written);
    }
    out.family("vervet_log_lines_dropped", MetricKind::Counter, "Log lines dropped.");
    for log in &report.logs {
        out.sample(&[("target", &log.target)], log.dropped);
    }
    out.family("vervet_events", MetricKind::Counter, "Events of the error log, by level.");
    for (level, count) in &report.events {
        out.sample(&[("level", &level.as_str())], *count);
    }
}
