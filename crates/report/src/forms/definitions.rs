//! What each figure of a report means, how it is calculated and in what unit: the page
//! `docs/load-report.md`, and the end of every page of a run.

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
        "next due time = end of the last answer",
        "Each connection asks again when its answer has come. A slow target is asked less, so its stalls hardly show.",
    ),
    define(
        "open load",
        "",
        "due times by the pacer",
        "Requests are due at given times, as visitors come: nobody waits for somebody else's answer. Stalls show.",
    ),
    define(
        "window",
        "us",
        "end of the run - end of the warm-up",
        "The time that is counted. What ends outside of it is in no figure.",
    ),
    define(
        "good answer",
        "requests",
        "finished - failed",
        "An answer that came whole and passed every check. Only these are in rates and times.",
    ),
    define(
        "rate",
        "per second",
        "good answers / window",
        "What was achieved. A failed request does not count, however fast it failed.",
    ),
    define(
        "rate asked",
        "per second",
        "requests due / window",
        "What the pacer asked for; there is none in closed load. Where the rate is lower, something could not keep up.",
    ),
    define(
        "goodput",
        "bytes per second",
        "content of good answers / window",
        "What was of use to somebody: without heads, without failed answers.",
    ),
    define(
        "throughput",
        "bytes per second",
        "bytes received / window",
        "What came over the connections, heads and failed answers too.",
    ),
    define(
        "response time",
        "ns",
        "end of the answer - due time",
        "What a visitor waits, the time in line included. In open load this is the figure to judge by.",
    ),
    define(
        "service time",
        "ns",
        "end of the answer - sent time",
        "What the target took once it was asked. Far below the response time, it says that requests stood in line.",
    ),
    define(
        "first byte",
        "ns",
        "first byte of the answer - sent time",
        "How long the target thought before it spoke.",
    ),
    define(
        "connect",
        "ns",
        "connection there - connection asked for",
        "One for each connection that was opened, not for each request.",
    ),
    define(
        "percentile (p50, p99, ...)",
        "ns",
        "the time that so many of a hundred did not exceed",
        "p99 = 20 ms: one of a hundred took longer than 20 ms. Kept to three digits, and added up over machines without loss.",
    ),
    define(
        "mean, sd",
        "ns",
        "arithmetic mean, standard deviation of all",
        "Where mean and p50 lie far apart, a few slow answers weigh more than all others: look at the percentiles.",
    ),
    define(
        "failed",
        "requests",
        "sum over classes",
        "Each failed request has one class, the first that applies: unreachable, refused, reset, timeout, closed_early, \
         malformed, wrong_status, wrong_content, local.",
    ),
    define(
        "share of failed",
        "%",
        "failed / (good + failed)",
        "Requests in flight at the end are on neither side.",
    ),
    define(
        "in flight at the end",
        "requests",
        "sent or due, not ended",
        "They took at least as long as they had been due, so many or old ones mean that percentiles are too good. \
         Also called censored.",
    ),
    define(
        "lag",
        "ns",
        "handled - due, or - reported by the kernel",
        "How late the generator itself was. Where it is not small against the times, it is in them.",
    ),
    define(
        "generator: busiest thread",
        "1/1000 of a core",
        "processor time of the thread / window",
        "Near a whole core, the generator was the limit and not the target.",
    ),
    define(
        "generator: most occupied thread",
        "1/1000 of the window",
        "(processor time + waits for a processor) / window, of one thread",
        "Near the whole, the generator had no time to spare: others took its core, and their turns are in the times.",
    ),
    define(
        "ListenOverflows, ListenDrops",
        "connections",
        "difference of the kernel's counters over the run",
        "Connections that found the queue of a listener full: they wait for a second or more and are not slow answers.",
    ),
    define(
        "TCPLossProbes",
        "segments",
        "difference of the kernel's counters over the run",
        "Sent again to learn whether the first had come: a busy peer acknowledges late, and nothing was lost.",
    ),
    define(
        "RetransSegs, TCPSynRetrans",
        "segments",
        "difference of the kernel's counters over the run",
        "Sent again because nothing came back: but for the probes, a time limit of the kernel is in those times.",
    ),
    define(
        "audit",
        "",
        "one verdict a rule",
        "passed: nothing against the figures. warning: they hold with a reservation. failed: do not compare servers by them.",
    ),
];

/// The text of the page `docs/load-report.md`.
pub fn definitions_markdown() -> String {
    let mut page = String::from(
        "# What a report of a load run says\n\n\
         A report is written as text, as JSON ([schema](schema/load-report.json)), as a stream of JSON lines while the run \
         goes on\n([schema](schema/load-stream.json)), as CSV by interval and by step, as percentiles for the plotters of\n\
         HdrHistogram (`.hgrm`, in milliseconds), as OpenMetrics, and as one page of HTML that needs no network. All say the\n\
         same figures.\n\n\
         Times in documents are nanoseconds, sizes are binary (1 KiB is 1,024 bytes), everything else is decimal.\n\n\
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
| `p50` to `p100` with any digits (`p99.9`), `min`, `mean`, `sd`, `max`: of the response time | `ns`, `us`, `ms`, `s`, `m` |
| the same after `service.`, `first_byte.`, `connect.` or `response.` | `ns`, `us`, `ms`, `s`, `m` |
| `rate` | nothing, `k` or `m`, perhaps `/s` |
| `throughput`, `goodput` | nothing, `k`, `m` or `g` (of 1,024), perhaps `/s` |
| `errors`, `errors.refused` and the other classes | `%` of finished requests, or a number with nothing, `k` or `m` |
| `done`, `censored` | a number with nothing, `k` or `m` |

A condition on a figure of which nothing was measured, as `p99` where no answer was good, neither holds nor fails to hold.
Where a run fails by a condition, such a one fails it too.

## Columns of the series

Programs may read the CSV of intervals by place: columns are added at the end, and none changes its place. It begins with `start_ms`,
`length_ms`, `asked` (empty in closed load), `done`, `rate_per_s`, `failed` and a column for each class of error. Then come

| column | unit | meaning |
|---|---|---|
| `p50_ns`, `p99_ns`, `max_ns` | ns | response times of the interval |
| `bytes` | bytes | received, heads and all |
| `generator_cpu_permille` | 1/1000 of a core | how busy the generator's busiest thread was |
| `generator_lag_ns` | ns | how late the generator looked at what was due or had come, at most |
| `connections` | connections | open at the end of the interval |

## OpenMetrics

All names begin with `vervet_load_`, times are in seconds, counters end in `_total`. Response, service, first-byte and connect times
are histograms with three buckets per decade, and also `..._quantile_seconds{quantile=\"0.99\"}`, since buckets are too coarse to
compare runs by. `vervet_load_audit{rule=...}` is 0 where a rule passed, 1 for a warning, 2 where it failed;
`vervet_load_condition{condition=...}` is 1 where a condition holds.

## Several agents

Runs that several agents made at the same time add up without loss: counts and histograms are summed, the window is the
longest, the audit keeps the worst verdict of each rule. Where agents were lost, the rule `agents` fails and names them; nothing of
what they told is in the figures.
";
