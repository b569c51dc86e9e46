//! `/metrics`: a report as numbers. Names and units are those of OpenTelemetry where it has one.

use vervet_engine::counters::Totals;
use vervet_http::openmetrics::{Labels, MetricKind, OpenMetrics, seconds_from_ms};

use super::report::Report;
use crate::caches::CacheReport;
use crate::metrics::{BOUNDS_MS, CLASSES, Durations};

/// The whole text.
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
    out.single(
        "vervet_ready",
        MetricKind::Gauge,
        "1 while new requests are taken.",
        ready,
    );
    let help = "Which plan is in force, from 1.";
    out.single(
        "vervet_plan_generation",
        MetricKind::Gauge,
        help,
        report.generation,
    );
    out.family(
        "vervet_reloads",
        MetricKind::Counter,
        "Reloads of the configuration.",
    );
    out.sample(&[("result", &"done")], report.reloads.done);
    out.sample(&[("result", &"refused")], report.reloads.refused);
}

fn process(out: &mut OpenMetrics, report: &Report) {
    let process = &report.process;
    let help = "When the process began, since 1970.";
    out.single(
        "process_start_time_seconds",
        MetricKind::Gauge,
        help,
        report.started_unix,
    );
    let help = "Memory that is in place.";
    out.single(
        "process_resident_memory_bytes",
        MetricKind::Gauge,
        help,
        process.resident_bytes,
    );
    out.single(
        "process_open_fds",
        MetricKind::Gauge,
        "Open descriptors.",
        process.descriptors,
    );
    out.family(
        "process_cpu_seconds",
        MetricKind::Counter,
        "Processor time of all threads.",
    );
    out.sample(&[], seconds_from_ms(process.cpu_ms));
}

fn connections(out: &mut OpenMetrics, report: &Report) {
    out.family(
        "vervet_connections_open",
        MetricKind::Gauge,
        "Connections open now.",
    );
    for (reactor, count) in report.reactor_connections.iter().enumerate() {
        out.sample(&[("reactor", &reactor)], *count as u64);
    }
    let engine = &report.engine;
    let help = "Connections taken from the kernel.";
    out.single(
        "vervet_connections_accepted",
        MetricKind::Counter,
        help,
        engine.accepted,
    );
    let help = "Connections admitted.";
    out.single(
        "vervet_connections_admitted",
        MetricKind::Counter,
        help,
        engine.connections,
    );
    out.family(
        "vervet_connections_refused",
        MetricKind::Counter,
        "Connections refused, by why.",
    );
    out.sample(&[("reason", &"rule")], engine.denied);
    out.sample(&[("reason", &"connections_max")], engine.refused);
    out.sample(
        &[("reason", &"connections_per_address_max")],
        engine.refused_address,
    );
    out.family(
        "vervet_connections_timed_out",
        MetricKind::Counter,
        "Connections cut, by the limit in time.",
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
        "Complete request heads.",
        engine.requests,
    );
    let help = "Requests that broke the protocol.";
    out.single(
        "vervet_violations",
        MetricKind::Counter,
        help,
        engine.violations,
    );
    out.family(
        "vervet_responses",
        MetricKind::Counter,
        "Final responses, by class.",
    );
    for (class, count) in CLASSES.iter().zip(engine.responses) {
        out.sample(&[("status", class)], count);
    }
    let help = "Bytes received, as on the wire.";
    out.single(
        "vervet_received_bytes",
        MetricKind::Counter,
        help,
        engine.received_bytes,
    );
    let help = "Bytes given to connections, as on the wire.";
    out.single(
        "vervet_sent_bytes",
        MetricKind::Counter,
        help,
        engine.sent_bytes,
    );
}

fn sites(out: &mut OpenMetrics, report: &Report) {
    let help = "From the complete head to the end of the answer, by site and class of status. The site is empty for what was \
                refused before one was known.";
    out.family(
        "http_server_request_duration_seconds",
        MetricKind::Histogram,
        help,
    );
    for site in &report.sites {
        for (class, durations) in CLASSES.iter().zip(&site.durations) {
            // A class that has never been seen is left out: a thousand sites have five thousand.
            if durations.count() > 0 {
                add_durations(out, &[("site", &site.site), ("status", class)], durations);
            }
        }
    }
    let help = "Bytes of content sent, as in the access log.";
    out.family("vervet_site_content_bytes", MetricKind::Counter, help);
    for site in &report.sites {
        out.sample(&[("site", &site.site)], site.content_bytes);
    }
    let help = "Answers that did not reach their end, and requests refused by the engine.";
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
        (
            "vervet_cache_hits",
            MetricKind::Counter,
            "Looks at caches that found something.",
            |cache| cache.hits,
        ),
        (
            "vervet_cache_misses",
            MetricKind::Counter,
            "Looks at caches that found nothing.",
            |cache| cache.misses,
        ),
        (
            "vervet_cache_evictions",
            MetricKind::Counter,
            "Entries of caches given up for others.",
            |cache| cache.evictions,
        ),
        (
            "vervet_cache_entries",
            MetricKind::Gauge,
            "Entries that caches hold.",
            |cache| cache.entries,
        ),
        (
            "vervet_cache_bytes",
            MetricKind::Gauge,
            "Memory that caches take.",
            |cache| cache.bytes,
        ),
        (
            "vervet_cache_fds",
            MetricKind::Gauge,
            "Descriptors that caches keep open.",
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
    out.family(
        "vervet_log_lines_written",
        MetricKind::Counter,
        "Lines of logs written.",
    );
    for log in &report.logs {
        out.sample(&[("target", &log.target)], log.written);
    }
    out.family(
        "vervet_log_lines_dropped",
        MetricKind::Counter,
        "Lines of logs dropped.",
    );
    for log in &report.logs {
        out.sample(&[("target", &log.target)], log.dropped);
    }
    out.family(
        "vervet_events",
        MetricKind::Counter,
        "Events of the error log, by level.",
    );
    for (level, count) in &report.events {
        out.sample(&[("level", &level.as_str())], *count);
    }
}
