//! The top level of a lab file: `cores` and `[quick]` with it.

use vervet_config::{Named, Size, Text, Time, section, words};

use super::{Load, Operations, Subject, Task, Tree, Workload};

section! {
    /// What is compared, under which load, and how often.
    pub struct Lab {
        /// Title of the report.
        pub title: Text,
        /// The question that the lab answers, in sentences.
        pub about: Option<Text>,
        /// Random seed for the order of subjects and the content of generated files: the same seed
        /// gives the same order and the same bytes.
        pub seed: u64 = 1,
        /// How often each step is measured for every subject.
        pub repeats: u32 = 5 in 1..=100,
        /// Time limit of the whole lab. Steps that would start later are left out, and the record
        /// says so.
        pub time_limit: Time = "12h" in "1s"..="30d",
        /// CPU cores of the server and of the generator.
        pub cores: Cores,
        /// The servers, by name.
        pub subject: Named<Subject>,
        /// Sets of generated files, by name.
        pub tree: Named<Tree>,
        /// Requests and expected responses, by name.
        pub workload: Named<Workload>,
        /// Numbers of connections or rates, by name.
        pub load: Named<Load>,
        /// Programs that measure their own time, by name. A lab has either subjects or tasks.
        pub task: Named<Task>,
        /// Operations of each task that fills a data store.
        pub operations: Operations,
        /// Settings of `--quick`, so that the lab ends within two minutes.
        pub quick: Quick,
        /// Also measure a canned-response server, as the upper bound of this machine.
        pub ceiling: bool = true,
        /// Permitted differences between the responses of the subjects. They are recorded; any
        /// other difference stops the lab before its first step.
        pub allow: Vec<Difference>,
        /// Record the hostname of the machine.
        pub host_name: bool = false,
        /// Congestion controls under which each workload is measured, such as `["cubic", "bbr"]`.
        /// They are set for the network namespace that the lab runs in, which must not be that of
        /// the system (`bench/lab` makes one). Ones that the kernel does not allow are left out. If
        /// not set, the namespace keeps its own.
        pub congestion: Vec<Text>,
        /// Goals: bounds that figures must reach.
        pub rule: Vec<Rule>,
        /// Published figures of others for the same experiment.
        pub history: Option<History>,
    }
}

section! {
    /// CPU cores of the server and of the generator. Give them different cores, so that neither
    /// slows the other.
    pub struct Cores {
        /// Cores of every subject, by their number in /proc/cpuinfo.
        pub server: Vec<u32> = [0],
        /// Cores of the generator.
        pub generator: Vec<u32> = [1],
    }
}

section! {
    /// Settings of `--quick`. Its figures only show that the lab works.
    pub struct Quick {
        /// Maximum number of steps of a sweep: the first, the last and some between.
        pub steps: u32 = 2 in 1..=100,
        /// How often each step is measured.
        pub repeats: u32 = 2 in 1..=100,
        /// Duration of each measurement.
        pub duration: Time = "1s" in "50ms"..="1h",
        /// Load before each measurement.
        pub warm_up: Time = "200ms" in "0s"..="10m",
        /// Maximum number of files of a tree.
        pub files: u32 = 1000 in 1..=1_000_000,
        /// Maximum number of values that are put into a store.
        pub count: u32 = 1000 in 1..=10_000_000,
        /// The workloads to measure [default: all].
        pub workloads: Vec<Text>,
    }
}

words! {
    /// What responses of subjects can differ in.
    pub enum Difference {
        /// The status code.
        Status = "status",
        /// The body, by its hash.
        Content = "content",
        /// The names of the headers.
        Fields = "fields",
        /// The length of the head in bytes.
        HeadBytes = "head-bytes",
        /// The Content-Encoding, if the request accepts gzip.
        Compression = "compression",
        /// Whether an access log is written.
        Logging = "logging",
        /// Whether the connection is kept alive, and the Connection header.
        KeepAlive = "keep-alive",
    }
}

section! {
    /// Published figures of others for the same experiment, and what is wrong with them.
    pub struct History {
        /// Where the figures were published, and how they were measured.
        pub source: Text,
        /// Mistakes of the experiment as a whole, one sentence each.
        pub mistakes: Vec<Text>,
        /// The figures that were published.
        pub figure: Vec<OldFigure>,
    }
}

section! {
    /// One figure of the publication.
    pub struct OldFigure {
        /// Name that the figure was published under.
        pub what: Text,
        /// Subject of this lab whose figure is shown next to it.
        pub subject: Option<Text>,
        /// Workload of this lab whose figure is shown next to it [default: the first].
        pub workload: Option<Text>,
        /// Number of connections, if the figure was measured at one number.
        pub connections: Option<u32>,
        /// Phase that the figure belongs to, in a lab of tasks [default: all together].
        pub phase: Option<Text>,
        /// Which figure it is.
        pub figure: Figure,
        /// The published value, with its unit.
        pub said: Text,
        /// What is wrong with the figure, in a sentence.
        pub wrong: Text = "",
    }
}

words! {
    /// A figure of the lab that a published figure is compared with.
    pub enum Figure {
        /// Successful responses per second.
        Goodput = "goodput",
        /// Mean response time.
        ResponseMean = "response_mean_ms",
        /// Median of the response times.
        ResponseP50 = "response_p50_ms",
        /// 90th percentile of the response times.
        ResponseP90 = "response_p90_ms",
        /// 99th percentile of the response times.
        ResponseP99 = "response_p99_ms",
        /// Longest response time.
        ResponseMax = "response_max_ms",
        /// Share of requests that failed.
        ErrorShare = "error_share",
        /// CPU time of the server per request.
        CpuPerRequest = "cpu_us_per_request",
        /// Requests per second of the server's CPU time.
        RequestsPerCpuSecond = "requests_per_cpu_second",
        /// Peak memory.
        MemoryPeak = "memory_peak_bytes",
        /// Resident memory before the first request.
        MemoryIdle = "memory_idle_bytes",
        /// Duration of a phase.
        Seconds = "seconds",
        /// Operations per second of a phase.
        OperationsPerSecond = "operations_per_second",
    }
}

section! {
    /// A goal: the ratio of two figures must reach a bound. The ratio is computed for each repeat.
    /// The rule is met if the median of these ratios reaches the bound, not met if their whole 95 %
    /// interval misses it, and inconclusive otherwise. A rule that is not met is shown in the
    /// report, and does not fail the lab.
    pub struct Rule {
        /// The workload. With several values of `congestion` the rule is checked for each.
        pub workload: Text,
        /// The subject that must meet the rule.
        pub subject: Text,
        /// The figure that is judged.
        pub figure: Figure,
        /// Minimum ratio to meet the rule.
        pub at_least: Option<f64>,
        /// Maximum ratio to meet the rule.
        pub at_most: Option<f64>,
        /// The subjects to compare with; of several, the one with the most requests per CPU-second.
        /// `ceiling` is the canned-response server.
        pub against: Vec<Text>,
        /// Compare with the same subject under this workload.
        pub against_workload: Option<Text>,
        /// Compare with this number of bytes.
        pub against_size: Option<Size>,
    }
}
