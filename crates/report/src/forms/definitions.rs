//! Definitions of the figures of a load report, with unit and formula: the page
//! `docs/load-report.md`, and the end of each HTML report.

use std::fmt::Write as _;

/// One figure of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name of the figure.
    pub name: &'static str,
    /// Its unit in documents.
    pub unit: &'static str,
    /// How it is calculated.
    pub formula: &'static str,
    /// What the figure tells a reader.
    pub meaning: &'static str,
}

const fn define(
    name: &'static str,
    unit: &'static str,
    formula: &'static str,
    meaning: &'static str,
) -> Definition {
    Definition { name, unit, formula, meaning }
}

/// All figures, in the order of a report.
pub const DEFINITIONS: &[Definition] = &[
    define(
        "closed load",
        "",
        "next due time = end of the last response",
        "Each connection sends its next request when it has the response. A slow target gets fewer requests, so stalls hardly show in percentiles.",
    ),
    define(
        "open load",
        "",
        "due times by the pacer",
        "Requests are due at fixed times, like those of independent visitors, whether or not earlier ones have responses. Stalls show.",
    ),
    define(
        "window",
        "us",
        "end of the run - end of the warm-up",
        "The measured time. Requests that end outside of it are not counted.",
    ),
    define(
        "successful response",
        "requests",
        "finished - failed",
        "A complete response that passed all checks. Only these count in rates and times.",
    ),
    define(
        "rate",
        "per second",
        "successful responses / window",
        "The achieved rate. Failed requests do not count, however fast they failed.",
    ),
    define(
        "requested rate",
        "per second",
        "requests due / window",
        "The target rate of open load; none in closed load. If the achieved rate is lower, the target or the generator did not keep up.",
    ),
    define(
        "goodput",
        "bytes per second",
        "body bytes of successful responses / window",
        "Useful bytes: without heads, without failed responses.",
    ),
    define(
        "throughput",
        "bytes per second",
        "bytes received / window",
        "All bytes received, including heads and failed responses.",
    ),
    define(
        "response time",
        "ns",
        "end of the response - due time",
        "The time that a visitor waits, including the wait for a free connection. The figure to compare in open load.",
    ),
    define(
        "service time",
        "ns",
        "end of the response - sent time",
        "The time of the target, from sending the request. Far below the response time, requests waited for a free connection.",
    ),
    define(
        "first byte",
        "ns",
        "first byte of the response - sent time",
        "Time to first byte: how long the target took to begin the response.",
    ),
    define(
        "connect",
        "ns",
        "connected - connect called",
        "Counted per opened connection, not per request.",
    ),
    define(
        "percentile (p50, p99, ...)",
        "ns",
        "the time that this percentage of responses did not exceed",
        "p99 = 20 ms: one response in a hundred took longer than 20 ms. Precise to three digits; several machines merge without loss.",
    ),
    define(
        "mean, sd",
        "ns",
        "arithmetic mean, standard deviation",
        "If mean and p50 are far apart, a few slow responses dominate the mean: look at the percentiles.",
    ),
    define(
        "failed",
        "requests",
        "sum over all classes",
        "Each failed request has one class, the first that applies: unreachable, refused, reset, timeout, closed_early, \
         malformed, wrong_status, wrong_content, local.",
    ),
    define(
        "share of failed requests",
        "%",
        "failed / (successful + failed)",
        "Requests in flight at the end are not counted.",
    ),
    define(
        "in flight at the end",
        "requests",
        "sent or due, without a response",
        "Also called censored. Their response times are missing: many or old ones mean that percentiles are too low.",
    ),
    define(
        "lag",
        "ns",
        "sent - due, or sent - connection free if that was later; handled - reported by the kernel",
        "How late the generator itself was. It is part of the measured times; if it is not much smaller than these, they are too long. \
         Waiting for a free connection is not lag: the target holds the connections.",
    ),
    define(
        "generator: busiest thread",
        "1/1000 of a core",
        "CPU time of the thread / window",
        "Near 1000, the generator was the bottleneck, not the target.",
    ),
    define(
        "generator: most occupied thread",
        "1/1000 of the window",
        "(CPU time + time waiting for a CPU) / window, of one thread",
        "Near 1000, the generator had no idle time: other processes used its core, which makes the measured times too long.",
    ),
    define(
        "ListenOverflows, ListenDrops",
        "connections",
        "difference of the kernel's counters over the run",
        "Connections dropped because the accept queue of a listener was full. TCP retries after a second or more: such times are not the server's.",
    ),
    define(
        "TCPLossProbes",
        "segments",
        "difference of the kernel's counters over the run",
        "Tail loss probes: segments sent again because a busy peer acknowledged late. Nothing was lost.",
    ),
    define(
        "RetransSegs, TCPSynRetrans",
        "segments",
        "difference of the kernel's counters over the run",
        "Retransmitted segments. Apart from the probes, the measured times include a retransmission timeout of the kernel.",
    ),
    define(
        "audit",
        "",
        "one verdict per rule",
        "passed: the figures are reliable. warning: interpret them with care. failed: do not compare servers by them.",
    ),
];

/// The text of the page `docs/load-report.md`.
pub fn definitions_markdown() -> String {
    let mut page = String::from(
        "# Load reports\n\n\
         A report is available as text, as JSON ([schema](schema/load-report.json)), as a stream of JSON lines during the\n\
         run ([schema](schema/load-stream.json)), as CSV by interval and by step, as percentiles for HdrHistogram plotters\n\
         (`.hgrm`, in milliseconds), as OpenMetrics, and as one self-contained HTML page. All have the same figures.\n\n\
         Times in documents are nanoseconds; 1 KiB is 1,024 bytes; all other units are decimal.\n\n\
         | figure | unit | formula | meaning |\n|---|---|---|---|\n",
    );
    for Definition { name, unit, formula, meaning } in DEFINITIONS {
        let _ = writeln!(page, "| {name} | {unit} | {formula} | {meaning} |");
    }
    page.push_str(CONDITIONS);
    page
}

const CONDITIONS: &str = "
## Conditions

A condition is a figure, a comparison (`>`, `>=`, `<`, `<=`) and a bound: `p99>20ms`, `errors>0.1%`, `rate<5k`.

| figure | bound |
|---|---|
| `p50` to `p100` with any decimals (`p99.9`), `min`, `mean`, `sd`, `max`: of the response time | a time: `ns`, `us`, `ms`, `s`, `m` |
| the same with the prefix `service.`, `first_byte.`, `connect.` or `response.` | a time |
| `rate` | a number, with `k` or `m` if needed; `/s` is optional |
| `throughput`, `goodput` | a number, with `k`, `m` or `g` (powers of 1,024) if needed; `/s` is optional |
| `errors`, `errors.refused` and the other classes | `%` of finished requests, or a number, with `k` or `m` if needed |
| `done`, `censored` | a number, with `k` or `m` if needed |
| `audit` | none: true if a rule of the audit failed |

If nothing was measured for a figure, such as `p99` without successful responses, its condition is neither true nor
false. In `--fail-if` it counts as true: the run fails.

## CSV columns

The CSV of intervals only gains columns at the end; existing columns keep their position. It begins with `start_ms`, `length_ms`,
`asked` (requests due; empty in closed load), `done` (successful responses), `rate_per_s`, `failed` and one column per error class,
followed by

| column | unit | meaning |
|---|---|---|
| `p50_ns`, `p99_ns`, `max_ns` | ns | response times in the interval; empty without successful responses |
| `bytes` | bytes | bytes received, including heads |
| `generator_cpu_permille` | 1/1000 of a core | CPU use of the generator's busiest thread |
| `generator_lag_ns` | ns | maximum lag of the generator |
| `connections` | connections | open at the end of the interval |

## OpenMetrics

All names begin with `vervet_load_`, times are in seconds, counters end in `_total`. Response, service, first-byte and connect times
are histograms with three buckets per decade. As these are too coarse to compare runs, there are also quantiles
(`..._quantile_seconds{quantile=\"0.99\"}`). `vervet_load_audit{rule=...}` is 0 if a rule passed, 1 for a warning, 2 if it failed;
`vervet_load_condition{condition=...}` is 1 if a condition is true.

## Several agents

The results of agents are merged without loss: counts and histograms are summed, the window is the longest, and the audit keeps the
worst verdict per rule. If agents were lost, the rule `agents` fails and names them, and all of their figures are left out.
";
