//! The top level of a lab file: `cores` and `[quick]` with it.

use vervet_config::{Named, Size, Text, Time, section, words};

use super::{Load, Operations, Subject, Task, Tree, Workload};

section! {
    /// What is compared, under which load, and how often.
    pub struct Lab {
        /// What the lab is about, in a few words; the title of its report.
        pub title: Text,
        /// What the lab asks, in sentences.
        pub about: Option<Text>,
        /// What the order of the subjects, and the content of generated files, are drawn from: the
        /// same seed, the same order and the same bytes.
        pub seed: u64 = 1,
        /// How often each step is measured, with every subject.
        pub repeats: u32 = 5 in 1..=100,
        /// The most that the whole lab may take. What would begin later is left out and the record
        /// says so.
        pub time_limit: Time = "12h" in "1s"..="30d",
        /// Which cores the server has, and which the generator.
        pub cores: Cores,
        /// The servers, each under a name of its own.
        pub subject: Named<Subject>,
        /// Files that are made for the lab, each set under a name of its own.
        pub tree: Named<Tree>,
        /// What is asked for, each under a name of its own.
        pub workload: Named<Workload>,
        /// How it is asked for, each under a name of its own.
        pub load: Named<Load>,
        /// Programs that say how long each of their phases took, each under a name of its own. A
        /// lab has either servers or these.
        pub task: Named<Task>,
        /// What each task that fills a store does.
        pub operations: Operations,
        /// What `--quick` replaces, so that the lab ends within two minutes.
        pub quick: Quick,
        /// Whether a canned-response server is measured like the subjects, as the upper bound of
        /// what this machine can do.
        pub ceiling: bool = true,
        /// Differences between the answers of the subjects that may be. Each stands in the record;
        /// any other stops the lab before its first step.
        pub allow: Vec<Difference>,
        /// Whether the record has the name of the machine.
        pub host_name: bool = false,
        /// Congestion controls that each workload is measured under, such as `["cubic", "bbr"]`. It
        /// is set for the network namespace that the lab runs in, which must not be that of the
        /// system (`bench/lab` makes one); what the kernel does not allow is left out. Without it
        /// the namespace stays as it is.
        pub congestion: Vec<Text>,
        /// What figures must reach.
        pub rule: Vec<Rule>,
        /// Figures that others have published of the same experiment.
        pub history: Option<History>,
    }
}

section! {
    /// Which cores the server has, and which the generator. Neither takes from the other when they
    /// are apart.
    pub struct Cores {
        /// The cores of every subject, by their number in /proc/cpuinfo.
        pub server: Vec<u32> = [0],
        /// The cores of the generator.
        pub generator: Vec<u32> = [1],
    }
}

section! {
    /// What `--quick` replaces. Its figures show that the lab works, and little more.
    pub struct Quick {
        /// The most steps of a sweep: the first, the last and some between.
        pub steps: u32 = 2 in 1..=100,
        /// How often each step is measured.
        pub repeats: u32 = 2 in 1..=100,
        /// How long a step is measured.
        pub duration: Time = "1s" in "50ms"..="1h",
        /// How long it is loaded before.
        pub warm_up: Time = "200ms" in "0s"..="10m",
        /// The most files of a tree.
        pub files: u32 = 1000 in 1..=1_000_000,
        /// The most values that are put into a store.
        pub count: u32 = 1000 in 1..=10_000_000,
        /// The workloads that take part; none for all.
        pub workloads: Vec<Text>,
    }
}

words! {
    /// What answers of subjects can differ in.
    pub enum Difference {
        /// The status code.
        Status = "status",
        /// The content, by its hash.
        Content = "content",
        /// Which fields there are.
        Fields = "fields",
        /// How many bytes the head has.
        HeadBytes = "head-bytes",
        /// The content coding, when the request offers gzip.
        Compression = "compression",
        /// Whether a log is written for each request.
        Logging = "logging",
        /// Whether the connection is kept, and what `Connection` says.
        KeepAlive = "keep-alive",
    }
}

section! {
    /// Figures that others have published of the same experiment, and what is wrong in them.
    pub struct History {
        /// Where they were published, and how they came about.
        pub source: Text,
        /// What was wrong with the experiment as a whole, one sentence each.
        pub mistakes: Vec<Text>,
        /// The figures that were published.
        pub figure: Vec<OldFigure>,
    }
}

section! {
    /// One figure of the publication.
    pub struct OldFigure {
        /// What it was measured of, by the name it was published under.
        pub what: Text,
        /// The subject of this lab whose figure is shown next to it.
        pub subject: Option<Text>,
        /// The workload of this lab whose figure is shown next to it [default: the first].
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

section! {
    /// What a figure of a subject must reach. Figures are divided repeat by repeat; the rule is met
    /// by the median of these ratios, not met if their whole 95 % interval misses the bound, and
    /// inconclusive otherwise. A rule that is not met fails nothing: the report says so.
    pub struct Rule {
        /// The workload. With several values of `congestion` the rule is checked for each.
        pub workload: Text,
        /// The subject whose figure is judged.
        pub subject: Text,
        /// The figure that is judged.
        pub figure: Figure,
        /// The smallest ratio that meets the rule.
        pub at_least: Option<f64>,
        /// The largest ratio that meets the rule.
        pub at_most: Option<f64>,
        /// The subjects that it is compared with; of several the one with the most requests per
        /// CPU-second. `ceiling` is the canned-response server.
        pub against: Vec<Text>,
        /// Compare with the same subject under this workload.
        pub against_workload: Option<Text>,
        /// Compare with this number of bytes.
        pub against_size: Option<Size>,
    }
}
