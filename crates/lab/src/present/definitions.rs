//! Definitions of terms, for the end of each report.

use super::page::{Block, Section};

/// Each term with its definition, in the order of a page.
pub(crate) const DEFINITIONS: &[(&str, &str)] = &[
    ("subject", "A server under test."),
    ("workload", "A request and the expected response."),
    (
        "load",
        "Closed: a number of connections, each of which sends its next request when it has the response. Open: a rate \
         of requests, sent when they are due whether or not earlier ones have responses.",
    ),
    (
        "step",
        "One run of one subject under one load. The subjects alternate in shuffled order, so that changes of the \
         machine affect all of them.",
    ),
    (
        "successful response",
        "A complete response that is as the workload expects. Refused connections, resets, timeouts, wrong status and \
         wrong body are failures, excluded from rates and times.",
    ),
    ("goodput", "Successful responses per second. It determines the rank."),
    (
        "median and interval",
        "The median of the repeats, and its 95 % confidence interval by bootstrap (2,000 resamples, fixed seed). With \
         fewer than six repeats the interval spans minimum and maximum, and covers the true median less often: 50 % \
         with two, 75 % with three, 88 % with four, 94 % with five. With more repeats it excludes the extremes: 88 % \
         with seven.",
    ),
    (
        "rank",
        "By the load with the highest goodput among those with enough valid repeats. Subjects whose intervals overlap \
         have no significant difference and share a rank, marked =. A single repeat has no interval and no rank: \
         marked ?.",
    ),
    (
        "not ranked",
        "A step whose audit failed is shown but not ranked. A subject that crashes, does not become ready or responds \
         wrongly in one repeat is not ranked under that load.",
    ),
    (
        "valid repeats",
        "Repeats that no rule excluded. A load is ranked, and may be the best step or the knee, with at least three \
         of them, or with all if fewer were requested; a subject without such a load is not ranked.",
    ),
    (
        "lower bound",
        "The audit excluded repeats because the generator was the bottleneck (generator_cpu, generator_lag, \
         generator_starved), under the ranked load or under one with too few repeats left. The server may be capable \
         of more, and its rank may be better. Marked ≥.",
    ),
    (
        "ceiling",
        "The goodput of a built-in canned-response server, measured in the same lab under the same load: the upper \
         bound of this kernel and this generator. A subject that reaches 95 % of it was not measured: they were. \
         Under open load the ceiling is known only if the canned-response server could not keep up. If it failed its \
         own audit, other than by a generator at its limit, there is no share of it.",
    ),
    (
        "ceiling_exceeded",
        "The goodput is above the ceiling by more than the interval of both: the canned-response server is not an upper \
         bound for this workload, and there is no share of it.",
    ),
    (
        "response time",
        "From the due time of a request to the end of its response. In open load a request is due whether or not the \
         previous one has a response, so waiting counts.",
    ),
    (
        "p50, p90, p99",
        "The response time that 50, 90, 99 % of successful responses did not exceed.",
    ),
    (
        "CPU per request",
        "CPU time of the server's process tree, user and system, divided by successful responses.",
    ),
    (
        "requests per CPU-second",
        "Successful responses divided by the CPU time of the server: its efficiency, whatever the number of cores.",
    ),
    (
        "memory",
        "Peak memory of the process tree during the step; shared pages count once (PSS) if the kernel provides it.",
    ),
    (
        "spread",
        "The difference between the highest and the lowest repeat, divided by the median. Above 10 % is a warning.",
    ),
    (
        "Apdex",
        "Satisfaction of users, from 0 to 1: successful responses within T count 1, within 4 T one half, all others \
         and failures 0. T is set by the workload, 500 ms by default. Rounded to two decimals: below 0.5 \
         unacceptable, from 0.5 poor, from 0.7 fair, from 0.85 good, from 0.94 excellent. Requests without a response \
         at the end are not counted.",
    ),
    (
        "best step",
        "The load with the highest product of goodput and Apdex, among those with an Apdex of at least 0.85 and \
         enough valid repeats.",
    ),
    ("knee", "The lowest load with enough valid repeats that reaches 95 % of the highest goodput."),
    (
        "saturated",
        "From this load on, more load gives no more responses: goodput grows by less than the factor of the load to \
         the power of 0.2. In closed load the mean response time is then connections divided by goodput (Little's \
         law), whatever the server does. In open load: less than 95 % of due requests got a response. Loads under \
         which the generator was the bottleneck are left out.",
    ),
    (
        "queue_overflow",
        "Many waits of one or three seconds, when TCP retransmits the SYN after a full accept queue dropped it. The \
         counters of the kernel are shown with it.",
    ),
    (
        "refused_is_fast",
        "More than 1 % of requests were refused or reset. Refusals are fast: counted as responses, they would raise \
         the rate and lower the times.",
    ),
    (
        "client_limited",
        "A thread of the generator used more than 90 % of a core, or the goodput is above 95 % of the ceiling: the \
         server may be capable of more.",
    ),
    (
        "censored",
        "More than 1 % of requests had no response when the step ended. The slowest are missing, so high percentiles \
         are too low.",
    ),
    (
        "littles_law",
        "Goodput times mean response time differs by more than 10 % from the connections: connections were idle, or \
         times were cut off.",
    ),
    ("errors", "More than 1 % of requests failed."),
];

/// The section at the end of a page.
pub(super) fn definitions_section() -> Section {
    let mut section = Section::new("Definitions");
    let words =
        DEFINITIONS.iter().map(|(word, meaning)| ((*word).to_owned(), (*meaning).to_owned()));
    section.blocks.push(Block::Definitions(words.collect()));
    section
}
