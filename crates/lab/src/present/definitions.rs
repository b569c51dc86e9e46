//! What the words of a report mean: the end of each page, and the table of `docs/lab-report.md`.

use super::page::{Block, Section};

/// Each word with what it means, in the order of a page.
pub(crate) const DEFINITIONS: &[(&str, &str)] = &[
    ("subject", "A server under test."),
    ("workload", "What is asked, and what each answer has to be."),
    (
        "load",
        "How much is asked. Closed: so many connections, each of which asks again once it is answered. Open: so \
         many requests a second, whether they are answered or not.",
    ),
    (
        "step",
        "One run of one subject under one load. Steps of all subjects alternate in shuffled order, so that what \
         changes on the machine meets all of them.",
    ),
    (
        "good answer",
        "An answer that came whole and was what the workload expects. Refusals, resets, timeouts, wrong status and \
         wrong content are failures: they are in no rate and in no time.",
    ),
    ("goodput", "Good answers per second. It decides places."),
    (
        "median and interval",
        "The middle repeat, and the middle 95 % of the medians of repeats drawn from the repeats (bootstrap, 2,000 \
         times, always the same draws). With fewer than six repeats the interval is from the least to the greatest \
         and covers the true median less often: 50 % with two, 75 % with three, 88 % with four, 94 % with five. \
         With more it leaves the outermost out, and covers it in 88 % with seven.",
    ),
    (
        "place",
        "By the load with the greatest goodput among those with enough valid repeats. Subjects whose intervals overlap \
         have no significant difference and share a place, marked =. A single repeat has no interval, so there are no places: \
         marked ?.",
    ),
    (
        "not ranked",
        "A step whose audit failed is shown and has no place. A subject that crashes, does not become ready or \
         answers wrongly in one repeat has no place under that load.",
    ),
    (
        "valid repeats",
        "Repeats that no rule took out. A load ranks, and may be the best step or the knee, with at least three of them, \
         or with all where fewer were asked for; a subject without such a load has no place.",
    ),
    (
        "lower bound",
        "The audit took repeats out because the generator was the limit (generator_cpu, generator_lag, \
         generator_starved), under the load that ranks or so many that a load does not rank. The server may be able to do \
         more, and its place may be better. Marked ≥.",
    ),
    (
        "ceiling",
        "The goodput of a built-in server that sends a canned answer without looking at the request, measured in \
         the same run under the same load: what this kernel and this generator can do. Who reaches 95 % of it was \
         not measured, they were. An open load asks for a rate: \
         what the ceiling can do is known there only when it could not keep up.",
    ),
    (
        "response time",
        "From the due time of a request to the end of its answer. In open load a request is due whether the one \
         before was answered or not, so waiting counts.",
    ),
    ("p50, p90, p99", "The response time that 50, 90, 99 % of good answers did not exceed."),
    (
        "CPU per request",
        "Processor time of the server's process tree, user and system, divided by its good answers.",
    ),
    (
        "requests per CPU-second",
        "Good answers divided by the processor time of the server: its efficiency, whatever the number of cores.",
    ),
    (
        "memory",
        "The greatest memory of the process tree during the step, shared pages counted once (PSS) where the kernel \
         tells.",
    ),
    (
        "spread",
        "The difference of the greatest and the least repeat, divided by the median. Above 10 % there is a warning.",
    ),
    (
        "Apdex",
        "How content users were, from 0 to 1: who was answered within T counts whole, within 4 T half, everybody \
         else and every failure nothing. T is the workload's, 500 ms unless it says otherwise. Rounded to two places: \
         below 0.5 unacceptable, from 0.5 poor, from 0.7 fair, from 0.85 good, from 0.94 excellent. Requests \
         without an answer at the end are not in it: nobody knows how long they would have waited.",
    ),
    (
        "best step",
        "The load with the greatest goodput times Apdex among those with an Apdex of at least 0.85 and enough valid \
         repeats.",
    ),
    ("knee", "The least load with enough valid repeats that reaches 95 % of the greatest goodput."),
    (
        "saturated",
        "From here on a greater load gives no more answers: where the load grows by a factor, the goodput grows by \
         less than its power of 0.2. In closed load the mean response time is then connections divided by goodput \
         (Little's law), whatever the server does. In open load: less than 95 % of what was due was answered. Loads \
         under which the generator was the limit are left out.",
    ),
    (
        "queue_overflow",
        "Waits gather at one second and at three, where TCP asks for a connection again after the queue of the \
         listener was full. The kernel's own counters are shown with it.",
    ),
    (
        "refused_is_fast",
        "More than 1 % of requests were refused or reset. A refusal comes at once; where it counts as an answer, \
         the rate grows and the times shrink.",
    ),
    (
        "client_limited",
        "A thread of the generator kept more than 90 % of a core busy, or the goodput is above 95 % of the \
         ceiling: the server may be able to do more.",
    ),
    (
        "censored",
        "More than 1 % of requests had no answer when the step ended. The slowest are missing, so high quantiles \
         are too low.",
    ),
    (
        "littles_law",
        "Goodput times mean response time is not within 10 % of the connections: connections stood idle, or times \
         were cut.",
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
