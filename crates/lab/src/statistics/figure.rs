//! The figures of a lab: name, label, unit, which direction is better, and their value in a step.
//! Used by tables, charts, comparisons and published figures.

use vervet_report::units;

use super::Figures;

/// One figure of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Successful responses per second.
    Goodput,
    /// The share of finished requests that failed.
    ErrorShare,
    /// The shortest response time.
    ResponseMin,
    /// The response time that a tenth did not exceed.
    ResponseP10,
    /// The response time that half did not exceed.
    ResponseP50,
    /// The response time that 90 % did not exceed.
    ResponseP90,
    /// The response time that 95 % did not exceed.
    ResponseP95,
    /// The response time that 99 % did not exceed.
    ResponseP99,
    /// The longest response time.
    ResponseMax,
    /// The mean response time.
    ResponseMean,
    /// The longest time until a connection was there.
    ConnectMax,
    /// CPU time of the server per successful response.
    CpuPerRequest,
    /// Successful responses per second of the server's CPU time.
    RequestsPerCpuSecond,
    /// Cores that the server kept busy.
    CoresBusy,
    /// Resident memory of the server before the first request.
    MemoryIdle,
    /// The greatest memory of the server.
    MemoryPeak,
    /// The mean memory of the server.
    MemoryMean,
    /// Satisfaction of users as Apdex.
    Apdex,
    /// The share of requests without a response at the end of the step.
    CensoredShare,
}

/// Which direction is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A larger value is better.
    Higher,
    /// A smaller value is better.
    Lower,
}

/// What a value is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A rate per second.
    PerSecond,
    /// A share, 0 to 1, shown in percent.
    Share,
    /// A time in milliseconds.
    Milliseconds,
    /// A time in microseconds.
    Microseconds,
    /// A size in bytes.
    Bytes,
    /// A number of CPU cores.
    Cores,
    /// A number without a unit.
    Number,
}

impl Unit {
    /// Formats a value with three digits and its unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::PerSecond => units::rate(value),
            Self::Share => units::percent(value),
            Self::Milliseconds => units::time(value * 1e6),
            Self::Microseconds => units::time(value * 1e3),
            Self::Bytes => units::bytes(value),
            Self::Cores | Self::Number => format!("{value:.2}"),
        }
    }
}

impl Figure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 19] = [
        Self::Goodput,
        Self::ErrorShare,
        Self::ResponseMin,
        Self::ResponseP10,
        Self::ResponseP50,
        Self::ResponseP90,
        Self::ResponseP95,
        Self::ResponseP99,
        Self::ResponseMax,
        Self::ResponseMean,
        Self::ConnectMax,
        Self::CpuPerRequest,
        Self::RequestsPerCpuSecond,
        Self::CoresBusy,
        Self::MemoryIdle,
        Self::MemoryPeak,
        Self::MemoryMean,
        Self::Apdex,
        Self::CensoredShare,
    ];

    /// The figure of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.name() == name)
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// The label in reports.
    pub fn label(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Goodput => ("goodput", "successful responses per second"),
            Self::ErrorShare => ("error_share", "failed requests"),
            Self::ResponseMin => ("response_min_ms", "response time, shortest"),
            Self::ResponseP10 => ("response_p10_ms", "response time, p10"),
            Self::ResponseP50 => ("response_p50_ms", "response time, median"),
            Self::ResponseP90 => ("response_p90_ms", "response time, p90"),
            Self::ResponseP95 => ("response_p95_ms", "response time, p95"),
            Self::ResponseP99 => ("response_p99_ms", "response time, p99"),
            Self::ResponseMax => ("response_max_ms", "response time, longest"),
            Self::ResponseMean => ("response_mean_ms", "response time, mean"),
            Self::ConnectMax => ("connect_max_ms", "time to connect, longest"),
            Self::CpuPerRequest => ("cpu_us_per_request", "server CPU per request"),
            Self::RequestsPerCpuSecond => ("requests_per_cpu_second", "requests per CPU-second"),
            Self::CoresBusy => ("cores_busy", "busy cores of the server"),
            Self::MemoryIdle => ("memory_idle_bytes", "idle memory of the server"),
            Self::MemoryPeak => ("memory_peak_bytes", "peak memory of the server"),
            Self::MemoryMean => ("memory_mean_bytes", "mean memory of the server"),
            Self::Apdex => ("apdex", "Apdex"),
            Self::CensoredShare => ("censored_share", "requests without a response at the end"),
        }
    }

    /// What it is counted in.
    pub fn unit(self) -> Unit {
        match self {
            Self::Goodput | Self::RequestsPerCpuSecond => Unit::PerSecond,
            Self::ErrorShare | Self::CensoredShare => Unit::Share,
            Self::CpuPerRequest => Unit::Microseconds,
            Self::CoresBusy => Unit::Cores,
            Self::MemoryIdle | Self::MemoryPeak | Self::MemoryMean => Unit::Bytes,
            Self::Apdex => Unit::Number,
            _ => Unit::Milliseconds,
        }
    }

    /// Which direction is better.
    pub fn better(self) -> Better {
        match self {
            Self::Goodput | Self::RequestsPerCpuSecond | Self::Apdex => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// The value in one step; `None` if not measured.
    pub fn value(self, figures: &Figures) -> Option<f64> {
        let response = figures.response.as_ref();
        let server = figures.server.as_ref();
        match self {
            Self::Goodput => Some(figures.goodput),
            Self::ErrorShare => Some(figures.error_share),
            Self::ResponseMin => response.map(|times| times.min_ms),
            Self::ResponseP10 => response.map(|times| times.p10_ms),
            Self::ResponseP50 => response.map(|times| times.p50_ms),
            Self::ResponseP90 => response.map(|times| times.p90_ms),
            Self::ResponseP95 => response.map(|times| times.p95_ms),
            Self::ResponseP99 => response.map(|times| times.p99_ms),
            Self::ResponseMax => response.map(|times| times.max_ms),
            Self::ResponseMean => response.map(|times| times.mean_ms),
            Self::ConnectMax => figures.connect_max_ms,
            Self::CpuPerRequest => server.and_then(|server| server.cpu_us_per_request),
            Self::RequestsPerCpuSecond => server.and_then(|server| server.requests_per_cpu_second),
            Self::CoresBusy => server.map(|server| server.cores_busy),
            Self::MemoryIdle => server.and_then(|server| server.memory_idle_bytes),
            Self::MemoryPeak => server.map(|server| server.memory_peak_bytes),
            Self::MemoryMean => server.map(|server| server.memory_mean_bytes),
            Self::Apdex => figures.apdex.map(super::Apdex::score),
            Self::CensoredShare => Some(figures.censored_share),
        }
    }
}
