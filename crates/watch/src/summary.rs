//! Sums up the samples of an interval. No I/O: the same samples give the same summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sample::{
    CgroupSample, Cpu, Detail, Event, Faults, Host, HostCpu, Network, Root, Sample, Switches, Tcp,
};

/// The shortest time, in microseconds, over which the peak of the CPU time is measured: a
/// rate over less is mostly the error of the clocks.
const PEAK_GAP_MIN_US: u64 = 50_000;

/// The maximum number of reasons why an interval is invalid.
const REASONS_MAX: usize = 16;

/// The summary of an interval, from its first to its last sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Microseconds from the first sample of the watcher to the first of the interval.
    pub from_us: u64,
    /// Microseconds from the first sample of the interval to the last.
    pub duration_us: u64,
    /// The number of samples.
    pub samples: u64,
    /// Whether the root processes stayed the same. If not, values before and after cannot be added.
    pub valid: bool,
    /// Why the interval is invalid.
    pub invalid_because: Vec<String>,
    /// Whether the last process exited within the interval.
    pub ended: bool,
    /// CPU time of the tree.
    pub cpu: Cpu,
    /// Busy cores: average over the interval, and peak between two samples.
    pub cores: Spread,
    /// Page faults of the tree.
    pub faults: Faults,
    /// Resident memory, shared pages counted for each process.
    pub rss_bytes: Spread,
    /// Resident memory, each page counted once; none when it was not read or not of all processes.
    pub pss_bytes: Option<Spread>,
    /// Memory that is swapped out.
    pub swap_bytes: Option<Spread>,
    /// The number of processes.
    pub processes: Spread,
    /// The number of threads.
    pub threads: Spread,
    /// The number of open descriptors.
    pub descriptors: Option<Spread>,
    /// The number of sockets among them.
    pub sockets: Option<Spread>,
    /// Context switches of the tree.
    pub switches: Option<Switches>,
    /// Maximum number of processes in one sample whose descriptors or switches could not be read.
    pub unreadable: u32,
    /// The kernel's accounting of the cgroup.
    pub cgroup: Option<CgroupSummary>,
    /// The host; none without two readings of it.
    pub host: Option<HostSummary>,
    /// CPU time of the watch itself, in microseconds.
    pub watch_cpu_us: u64,
}

impl Summary {
    /// The summary of samples in their order.
    pub fn new<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut tally = Tally::default();
        for sample in samples {
            tally.add(sample);
        }
        tally.summary()
    }

    /// CPU use of the watch itself, in cores.
    pub fn watch_share(&self) -> f64 {
        per(self.watch_cpu_us, self.duration_us)
    }
}

/// The mean and the peak of a value over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The mean over the samples that read it.
    pub mean: f64,
    /// The peak of these samples.
    pub peak: f64,
}

/// The kernel's accounting of a cgroup over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupSummary {
    /// CPU time of the cgroup.
    pub cpu: Cpu,
    /// Periods in which it was throttled by its limit.
    pub throttled_periods: Option<u64>,
    /// How long it was throttled, in microseconds.
    pub throttled_us: Option<u64>,
    /// Memory of the cgroup.
    pub memory_bytes: Option<Spread>,
    /// The peak of the memory since the cgroup was created, which may be before the interval.
    pub memory_peak_bytes: Option<u64>,
}

/// The host, from the first to the last of its readings in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSummary {
    /// Microseconds between the two readings.
    pub duration_us: u64,
    /// The load averages of the last reading.
    pub load: [f64; 3],
    /// Time of all processors together.
    pub cpu: HostCpu,
    /// Share of the time of all CPUs that was used or stolen by the hypervisor, from 0 to 1.
    pub busy: f64,
    /// Minimum of the available memory.
    pub memory_available_min_bytes: u64,
    /// The peak of the swap space in use.
    pub swap_used_peak_bytes: u64,
    /// Context switches of all processes.
    pub switches: u64,
    /// The peak of the number of open files.
    pub files_open_peak: u64,
    /// Traffic of all interfaces except loopback.
    pub network: Network,
    /// Traffic of the loopback interface.
    pub loopback: Network,
    /// TCP counters of the kernel.
    pub tcp: Tcp,
}

/// Sums up samples one by one, in constant memory.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    first: Option<Sample>,
    last: Sample,
    samples: u64,
    peak_from: (u64, u64),
    cores_peak: f64,
    rss: Mean,
    pss: Mean,
    pss_missing: bool,
    swap: Mean,
    processes: Mean,
    threads: Mean,
    descriptors: Mean,
    sockets: Mean,
    switches: Ends<Switches>,
    unreadable: u32,
    cgroup: Ends<CgroupSample>,
    cgroup_memory: Mean,
    host: Ends<(u64, Host)>,
    memory_available_min: Option<u64>,
    swap_used: Mean,
    files_open: Mean,
    watch_cpu_us: u64,
    /// Root processes that have exited when no other process was seen.
    ended_roots: Vec<Root>,
    reasons: Vec<String>,
}

impl Tally {
    /// Adds the next sample.
    pub fn add(&mut self, sample: &Sample) {
        let now = (sample.at_us, sample.cpu.total_us());
        if self.first.is_none() {
            self.first = Some(sample.clone());
            self.peak_from = now;
        } else {
            // Events before the first sample are not part of the interval.
            self.add_events(sample);
            self.watch_cpu_us += sample.cost_us;
        }
        if now.0.saturating_sub(self.peak_from.0) >= PEAK_GAP_MIN_US {
            let cores = per(now.1 - self.peak_from.1.min(now.1), now.0 - self.peak_from.0);
            self.cores_peak = self.cores_peak.max(cores);
            self.peak_from = now;
        }
        self.samples += 1;
        self.rss.add(sample.rss_bytes);
        self.processes.add(u64::from(sample.processes));
        self.threads.add(u64::from(sample.threads));
        if let Some(detail) = &sample.detail {
            self.add_detail(detail);
        }
        if let Some(cgroup) = &sample.cgroup {
            self.cgroup.add(*cgroup);
            self.cgroup_memory.add_some(cgroup.memory_bytes);
        }
        if let Some(host) = &sample.host {
            self.add_host(sample.at_us, host);
        }
        self.last = sample.clone();
    }

    fn add_detail(&mut self, detail: &Detail) {
        self.pss.add_some(detail.pss_bytes);
        self.pss_missing |= detail.pss_bytes.is_none();
        self.swap.add_some(detail.swap_bytes);
        self.descriptors.add(detail.descriptors.value.open);
        self.sockets.add(detail.descriptors.value.sockets);
        self.switches.add(detail.switches.value);
        let unreadable = detail.descriptors.unreadable.max(detail.switches.unreadable);
        self.unreadable = self.unreadable.max(unreadable);
    }

    fn add_host(&mut self, at_us: u64, host: &Host) {
        let available = host.memory_available_bytes;
        let least = self.memory_available_min.get_or_insert(available);
        *least = available.min(*least);
        self.swap_used.add(host.swap_used_bytes);
        self.files_open.add(host.files_open);
        self.host.add((at_us, host.clone()));
    }

    fn add_events(&mut self, sample: &Sample) {
        for event in &sample.events {
            match event {
                Event::RootEnded(root) => self.ended_roots.push(root.clone()),
                Event::RootStarted(root) => {
                    self.invalid(format!("root process {root} was started during the watch"));
                }
            }
        }
        // When all processes have exited, the values up to then are valid.
        if sample.processes > 0 {
            for root in std::mem::take(&mut self.ended_roots) {
                self.invalid(format!("root process {root} exited during the watch"));
            }
        }
    }

    fn invalid(&mut self, reason: String) {
        if self.reasons.len() < REASONS_MAX {
            self.reasons.push(reason);
        }
    }

    /// The summary of the samples so far.
    pub fn summary(&self) -> Summary {
        let Some(first) = &self.first else {
            return Summary {
                invalid_because: vec!["no samples".to_owned()],
                ..Summary::default()
            };
        };
        let last = &self.last;
        let duration_us = last.at_us.saturating_sub(first.at_us);
        let cpu = last.cpu.since(first.cpu);
        let mean_cores = per(cpu.total_us(), duration_us);
        let pss = if self.pss_missing { None } else { self.pss.spread() };
        Summary {
            from_us: first.at_us,
            duration_us,
            samples: self.samples,
            valid: self.reasons.is_empty(),
            invalid_because: self.reasons.clone(),
            ended: last.processes == 0,
            cpu,
            cores: Spread { mean: mean_cores, peak: self.cores_peak.max(mean_cores) },
            faults: last.faults.since(first.faults),
            rss_bytes: self.rss.spread().unwrap_or_default(),
            pss_bytes: pss,
            swap_bytes: if self.pss_missing { None } else { self.swap.spread() },
            processes: self.processes.spread().unwrap_or_default(),
            threads: self.threads.spread().unwrap_or_default(),
            descriptors: self.descriptors.spread(),
            sockets: self.sockets.spread(),
            switches: self.switches.both().map(|(first, last)| last.since(*first)),
            unreadable: self.unreadable,
            cgroup: self.cgroup_summary(),
            host: self.host_summary(),
            watch_cpu_us: self.watch_cpu_us,
        }
    }

    fn cgroup_summary(&self) -> Option<CgroupSummary> {
        let (first, last) = self.cgroup.both()?;
        let since = |last: Option<u64>, first: Option<u64>| Some(last?.saturating_sub(first?));
        Some(CgroupSummary {
            cpu: last.cpu.since(first.cpu),
            throttled_periods: since(last.throttled_periods, first.throttled_periods),
            throttled_us: since(last.throttled_us, first.throttled_us),
            memory_bytes: self.cgroup_memory.spread(),
            memory_peak_bytes: last.memory_peak_bytes,
        })
    }

    fn host_summary(&self) -> Option<HostSummary> {
        let ((from_us, first), (until_us, last)) = self.host.both()?;
        // Rates need two readings.
        let duration_us = until_us.checked_sub(*from_us).filter(|us| *us > 0)?;
        let cpu = last.cpu.since(first.cpu);
        let busy_us = cpu.user_us + cpu.system_us + cpu.steal_us;
        Some(HostSummary {
            duration_us,
            load: last.load,
            cpu,
            busy: per(busy_us, busy_us + cpu.idle_us),
            memory_available_min_bytes: self.memory_available_min?,
            swap_used_peak_bytes: self.swap_used.peak,
            switches: last.switches.saturating_sub(first.switches),
            files_open_peak: self.files_open.peak,
            network: last.network.since(first.network),
            loopback: last.loopback.since(first.loopback),
            tcp: last.tcp.since(first.tcp),
        })
    }
}

/// The first and the last value.
#[derive(Clone, Debug)]
struct Ends<T>(Option<(T, T)>);

impl<T> Default for Ends<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Clone> Ends<T> {
    fn add(&mut self, value: T) {
        match &mut self.0 {
            Some((_, last)) => *last = value,
            none => *none = Some((value.clone(), value)),
        }
    }

    fn both(&self) -> Option<(&T, &T)> {
        self.0.as_ref().map(|(first, last)| (first, last))
    }
}

#[derive(Clone, Debug, Default)]
struct Mean {
    sum: u128,
    count: u64,
    peak: u64,
}

impl Mean {
    fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        self.count += 1;
        self.peak = self.peak.max(value);
    }

    fn add_some(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.add(value);
        }
    }

    fn spread(&self) -> Option<Spread> {
        let count = u128::from(self.count);
        let mean = self.sum.checked_div(count)?;
        let rest = u64::try_from(self.sum % count).unwrap_or_default();
        Some(Spread {
            mean: to_f64(u64::try_from(mean).unwrap_or(u64::MAX)) + per(rest, self.count),
            peak: to_f64(self.peak),
        })
    }
}

/// A ratio; 0 if `whole` is 0.
fn per(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    to_f64(part) / to_f64(whole)
}

// Exact up to 2^53: 285 years in microseconds, 9 petabytes.
#[allow(clippy::cast_precision_loss)]
fn to_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
