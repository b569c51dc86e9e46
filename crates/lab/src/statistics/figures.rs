//! The figures of one step: everything that tables and rules need of a run, taken from it once, so
//! that its histograms can be let go.

use vervet_report::{Errors, Histogram, Run, SlowRequest};

use super::Apdex;
use super::apdex::TOLERATED_T;
use super::number::number;
use super::series::{Moment, series};
use crate::record::{ServerFigures, Step, Workload};

/// The figures of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// How long the window was, in seconds.
    pub window_seconds: f64,
    /// The number of successful responses.
    pub done: u64,
    /// Requests that failed, by class.
    pub errors: Errors,
    /// Successful responses per second.
    pub goodput: f64,
    /// The share of finished requests that failed.
    pub error_share: f64,
    /// The share of all requests without a response at the end of the step.
    pub censored_share: f64,
    /// How long the oldest of them had been due, in milliseconds.
    pub censored_longest_ms: f64,
    /// Response times of successful responses; `None` if there were none.
    pub response: Option<Times>,
    /// The longest time until a connection was there, in milliseconds.
    pub connect_max_ms: Option<f64>,
    /// Satisfaction of users as Apdex.
    pub apdex: Option<Apdex>,
    /// Response times by how many successful responses took that long, for the rule about full
    /// queues.
    pub waits: Waits,
    /// How busy the busiest thread of the generator was, as a share of a core.
    pub generator_busy: f64,
    /// Resource use of the server; `None` if unknown or invalid.
    pub server: Option<Spent>,
    /// Figures by step of a scenario.
    pub parts: Vec<ScenarioStep>,
    /// The slowest requests of the run.
    pub slowest: Vec<SlowRequest>,
    /// Rate, response time and what the server spent over time.
    pub series: Vec<Moment>,
}

/// Response times, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The shortest response time.
    pub min_ms: f64,
    /// A tenth took at most this.
    pub p10_ms: f64,
    /// Half took at most this.
    pub p50_ms: f64,
    /// 90 % took at most this.
    pub p90_ms: f64,
    /// 95 % took at most this.
    pub p95_ms: f64,
    /// 99 % took at most this.
    pub p99_ms: f64,
    /// The longest response time.
    pub max_ms: f64,
    /// The mean response time.
    pub mean_ms: f64,
}

/// What a server spent on a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// CPU time in seconds, by the scheduler's clock if available.
    pub cpu_seconds: f64,
    /// CPU time in user mode, in seconds.
    pub cpu_user_seconds: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_system_seconds: f64,
    /// CPU time per successful response, in microseconds; `None` if there was none.
    pub cpu_us_per_request: Option<f64>,
    /// Successful responses per second of CPU time; `None` if no time was used.
    pub requests_per_cpu_second: Option<f64>,
    /// Cores that the server kept busy.
    pub cores_busy: f64,
    /// Resident memory before the first request, in bytes; `None` if not read.
    pub memory_idle_bytes: Option<f64>,
    /// The greatest memory, in bytes.
    pub memory_peak_bytes: f64,
    /// The mean memory, in bytes.
    pub memory_mean_bytes: f64,
}

/// Numbers of waits about as long as a SYN retransmission takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// About one second: 1.0 to 1.3.
    pub near_1_s: u64,
    /// About three seconds, 3.0 to 3.4: two waits, of one second and of two; on kernels before 3.1,
    /// one wait.
    pub near_3_s: u64,
    /// Between 0.5 and 0.95 seconds: as of a slow server, but not of a lost SYN.
    pub before_1_s: u64,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioStep {
    /// The name of the step.
    pub name: String,
    /// The number of successful responses.
    pub done: u64,
    /// The number of failed requests.
    pub failed: u64,
    /// Response times of successful responses.
    pub response: Option<Times>,
    /// Satisfaction of users as Apdex.
    pub apdex: Option<Apdex>,
}

impl Figures {
    /// The figures of a step that sent requests.
    pub fn new(step: &Step, run: &Run, workload: &Workload) -> Self {
        let seconds = number(run.achieved.window_us) / 1e6;
        let goodput = run.achieved.rate();
        let censored = number(run.censored.count);
        let all = number(run.finished()) + censored;
        Self {
            window_seconds: seconds,
            done: run.achieved.done,
            errors: run.errors,
            goodput,
            error_share: run.error_share(),
            censored_share: if all > 0.0 { censored / all } else { 0.0 },
            censored_longest_ms: number(run.censored.longest_ns) / 1e6,
            response: Times::from_histogram(&run.timings.response),
            connect_max_ms: Times::from_histogram(&run.timings.connect).map(|times| times.max_ms),
            apdex: apdex(&run.timings.response, run.finished(), workload.apdex_seconds),
            waits: Waits::new(run),
            generator_busy: f64::from(run.generator.busiest_thread_permille) / 1e3,
            server: step
                .server
                .figures()
                .map(|server| Spent::new(server, run.achieved.done, seconds)),
            parts: run
                .steps
                .iter()
                .map(|part| ScenarioStep::new(part, workload.apdex_seconds))
                .collect(),
            slowest: run.slowest.requests().to_vec(),
            series: series(run, step.server.figures()),
        }
    }

    /// Successful responses and failures per second.
    pub fn finished_per_second(&self) -> f64 {
        if self.window_seconds > 0.0 {
            (number(self.done) + number(self.errors.total())) / self.window_seconds
        } else {
            0.0
        }
    }
}

impl Times {
    /// The times of a histogram; `None` if it is empty.
    pub fn from_histogram(histogram: &Histogram) -> Option<Self> {
        let at = |quantile| number(histogram.quantile_ns(quantile)) / 1e6;
        (!histogram.is_empty()).then(|| Self {
            min_ms: number(histogram.min_ns()) / 1e6,
            p10_ms: at(0.10),
            p50_ms: at(0.50),
            p90_ms: at(0.90),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: number(histogram.max_ns()) / 1e6,
            mean_ms: histogram.mean_ns() / 1e6,
        })
    }
}

impl Spent {
    fn new(server: &ServerFigures, done: u64, seconds: f64) -> Self {
        let cpu_us = number(server.cpu_us());
        let over = |above: f64, below: f64| (below > 0.0).then(|| above / below);
        Self {
            cpu_seconds: cpu_us / 1e6,
            memory_idle_bytes: server.rss_idle_bytes.map(number),
            cpu_user_seconds: number(server.cpu_user_us) / 1e6,
            cpu_system_seconds: number(server.cpu_system_us) / 1e6,
            cpu_us_per_request: over(cpu_us, number(done)),
            requests_per_cpu_second: over(number(done) * 1e6, cpu_us),
            cores_busy: over(cpu_us / 1e6, seconds).unwrap_or_default(),
            memory_peak_bytes: number(server.memory_peak_bytes()),
            memory_mean_bytes: number(server.pss_mean_bytes.unwrap_or(server.rss_mean_bytes)),
        }
    }
}

impl Waits {
    fn new(run: &Run) -> Self {
        let between = |from_ms: u64, to_ms: u64| {
            let within = |histogram: &Histogram| -> u64 {
                let recorded = histogram.recorded();
                let near = recorded.filter(|(time_ns, _)| {
                    (from_ms * 1_000_000..to_ms * 1_000_000).contains(time_ns)
                });
                near.map(|(_, count)| count).sum()
            };
            // A request that was connected late is answered late: the same wait is in both.
            within(&run.timings.response).max(within(&run.timings.connect))
        };
        Self {
            near_1_s: between(1_000, 1_300),
            near_3_s: between(3_000, 3_400),
            before_1_s: between(500, 950),
        }
    }
}

impl ScenarioStep {
    fn new(part: &vervet_report::StepFigures, apdex_seconds: f64) -> Self {
        let failed = part.errors.total();
        Self {
            name: part.name.clone(),
            done: part.done,
            failed,
            response: Times::from_histogram(&part.response),
            apdex: apdex(&part.response, part.done.saturating_add(failed), apdex_seconds),
        }
    }
}

/// Apdex of all finished requests: failures count 0, however fast they were.
fn apdex(response: &Histogram, finished: u64, seconds: f64) -> Option<Apdex> {
    let within = |seconds: f64| {
        let limit_ms = seconds * 1e3;
        let recorded = response.recorded();
        let fast = recorded.filter(|(time_ns, _)| number(*time_ns) / 1e6 <= limit_ms);
        number(fast.map(|(_, count)| count).sum())
    };
    let satisfied = within(seconds);
    Apdex::from_counts(satisfied, within(seconds * TOLERATED_T) - satisfied, number(finished))
}
