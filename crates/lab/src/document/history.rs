//! `[history]`: published figures, as data. They stand beside the new ones and are never compared with them by the lab.

use vervet_config::{Text, section, words};

section! {
    /// Figures that others have published of the same experiment, and what is wrong in them.
    pub struct History {
        /// Where they were published, and how they came about.
        pub source: Text,
        /// What was wrong with the experiment as a whole, one sentence each.
        pub mistakes: Vec<Text>,
        /// The figures.
        pub figure: Vec<OldFigure>,
    }
}

section! {
    /// One published figure.
    pub struct OldFigure {
        /// What it was measured of, by the name it was published under.
        pub what: Text,
        /// The subject of this lab whose figure stands beside it.
        pub subject: Option<Text>,
        /// The workload of this lab whose figure stands beside it; without it the first.
        pub workload: Option<Text>,
        /// Of how many connections it was, where it was of one number of them.
        pub connections: Option<u32>,
        /// The phase that it is of, in a lab of tasks; without it all of them together.
        pub phase: Option<Text>,
        /// Which figure it is.
        pub figure: Figure,
        /// The value as it was published, with its unit.
        pub said: Text,
        /// What is wrong in it, in a sentence.
        pub wrong: Text = "",
    }
}

words! {
    /// Which figure a published one is.
    pub enum Figure {
        /// Answers a second.
        Goodput = "goodput",
        /// The mean time of an answer.
        ResponseMean = "response_mean_ms",
        /// The time that half of the answers took at most.
        ResponseP50 = "response_p50_ms",
        /// The time that 90 of 100 answers took at most.
        ResponseP90 = "response_p90_ms",
        /// The time that 99 of 100 answers took at most.
        ResponseP99 = "response_p99_ms",
        /// The time that the slowest answer took.
        ResponseMax = "response_max_ms",
        /// The share of requests that failed.
        ErrorShare = "error_share",
        /// Processor time of the server for a request.
        CpuPerRequest = "cpu_us_per_request",
        /// Requests for a second of the server's processor time.
        RequestsPerCpuSecond = "requests_per_cpu_second",
        /// The most memory.
        MemoryPeak = "memory_peak_bytes",
        /// Resident memory before the first request.
        MemoryIdle = "memory_idle_bytes",
        /// How long a phase took.
        Seconds = "seconds",
        /// Operations a second of a phase.
        OperationsPerSecond = "operations_per_second",
    }
}
