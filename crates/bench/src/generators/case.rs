//! The loads of the comparison, and what one run gave.

use serde::Serialize;

use super::program::Reuse;

/// The small answer, and the large one of the old posts.
pub(super) const SMALL_BYTES: u32 = 13;
const LARGE_BYTES: u32 = 200 * 1024;

/// One load on one canned answer.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) bytes: u32,
    pub(super) connections: u32,
    pub(super) reuse: Reuse,
    /// What a generator that takes a number is given for each second asked.
    pub(super) per_second: u32,
    /// Which other one ours has to beat, and by how much; `None` is each of the others.
    pub(super) goal: (Option<&'static str>, f64),
}

/// The loads, in the order of the tables.
pub(super) const CASES: [Case; 4] = [
    Case {
        name: "small64",
        title: "13 bytes, 64 connections, kept",
        bytes: SMALL_BYTES,
        connections: 64,
        reuse: Reuse::Keep,
        per_second: 200_000,
        goal: (None, 1.0),
    },
    Case {
        name: "small1000",
        title: "13 bytes, 1000 connections, kept",
        bytes: SMALL_BYTES,
        connections: 1000,
        reuse: Reuse::Keep,
        per_second: 200_000,
        goal: (None, 1.0),
    },
    Case {
        name: "close64",
        title: "13 bytes, 64 connections at a time, a new one for each request",
        bytes: SMALL_BYTES,
        connections: 64,
        reuse: Reuse::Close,
        per_second: 30_000,
        goal: (None, 1.0),
    },
    Case {
        name: "large64",
        title: "200 KB, 64 connections, kept",
        bytes: LARGE_BYTES,
        connections: 64,
        reuse: Reuse::Keep,
        per_second: 25_000,
        goal: (Some("wrk"), 1.2),
    },
];

/// What one run of one generator gave.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Row {
    pub(super) case: &'static str,
    pub(super) generator: &'static str,
    pub(super) round: u32,
    pub(super) rate: f64,
    /// Answers by processor time of the generator, its start and its end included.
    pub(super) requests_per_cpu_second: f64,
    /// How much of its core the server had while it was loaded, 0 to 1.
    pub(super) server_share: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    pub(super) fault: Option<String>,
}
