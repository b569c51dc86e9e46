//! `/-/status`: a report as JSON, for people with `jq` and for programs.

use serde_json::{Map, Value, json};

use super::report::{LogReport, Report};
use crate::caches::CacheReport;
use crate::metrics::{CLASSES, Durations, SiteTotals};

/// The whole document.
pub(super) fn status(report: &Report) -> String {
    let engine = &report.engine;
    let timeouts = &engine.timeouts;
    let document = json!({
        "version": report.version,
        "phase": report.phase.as_str(),
        "started_unix": report.started_unix,
        "uptime_seconds": report.uptime_seconds,
        "plan_generation": report.generation,
        "reloads": {
            "done": report.reloads.done,
            "refused": report.reloads.refused,
            "last_error": report.reloads.last_error,
        },
        "process": {
            "id": report.process.id,
            "resident_bytes": report.process.resident_bytes,
            "cpu_ms": report.process.cpu_ms,
            "descriptors": report.process.descriptors,
        },
        "connections": {
            "open": report.reactor_connections.iter().sum::<usize>(),
            "open_by_reactor": report.reactor_connections,
            "accepted": engine.accepted,
            "admitted": engine.connections,
            "closed": engine.closed,
        },
        "requests": {
            "received": engine.requests,
            "responses": by_class(engine.responses),
            "received_bytes": engine.received_bytes,
            "sent_bytes": engine.sent_bytes,
            "content_bytes": engine.content_bytes,
        },
        "limits_hit": {
            "connections_max": engine.refused,
            "connections_per_address_max": engine.refused_address,
            "proxy_header_timeout_ms": timeouts.proxy_header,
            "head_timeout_ms": timeouts.head,
            "content_idle_timeout_ms": timeouts.content_idle,
            "content_rate_min": timeouts.content_rate,
            "write_stall_timeout_ms": timeouts.write_stall,
            "write_rate_min": timeouts.write_rate,
        },
        "refused": {
            "connections_by_rule": engine.denied,
            "violations": engine.violations,
            "by": report.refused.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        },
        "listeners": report.listeners.iter().map(|listener| json!({
            "name": listener.name,
            "address": listener.address,
        })).collect::<Vec<_>>(),
        "sites": report.sites.iter().map(site).collect::<Vec<_>>(),
        "caches": report.caches.iter().map(cache).collect::<Vec<_>>(),
        "logs": report.logs.iter().map(log).collect::<Vec<_>>(),
        "events": report.events.iter().map(|(level, count)| (level.as_str().to_owned(), Value::from(*count)))
            .collect::<Map<_, _>>(),
        "recent_events": report.recent_events,
    });
    let mut text = format!("{document:#}");
    text.push('\n');
    text
}

fn by_class(counts: [u64; CLASSES.len()]) -> Value {
    let counts = CLASSES.iter().zip(counts);
    counts
        .map(|(class, count)| ((*class).to_owned(), Value::from(count)))
        .collect::<Map<_, _>>()
        .into()
}

fn site(site: &SiteTotals) -> Value {
    json!({
        "name": site.site,
        "requests": site.requests(),
        "responses": by_class(site.durations.map(|durations| durations.count())),
        "content_bytes": site.content_bytes,
        "faults": site.faults,
        "duration_ms_sum": site.durations.iter().map(|durations: &Durations| durations.sum_ms).sum::<u64>(),
    })
}

fn cache(cache: &CacheReport) -> Value {
    json!({
        "name": cache.name,
        "hits": cache.hits,
        "misses": cache.misses,
        "evictions": cache.evictions,
        "entries": cache.entries,
        "bytes": cache.bytes,
        "descriptors": cache.descriptors,
    })
}

fn log(log: &LogReport) -> Value {
    let mut document = json!({
        "target": log.target,
        "lines_written": log.written,
        "lines_dropped": log.dropped,
        "reason": log.reason,
    });
    if !log.recent.is_empty() {
        document["recent"] = log.recent.clone().into();
    }
    document
}
