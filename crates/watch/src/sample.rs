//! A sample of a process tree. Counters are sums since the first sample of the watcher.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample of a process tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Microseconds since the first sample.
    pub at_us: u64,
    /// CPU time of the tree since the first sample, that of processes that have ended
    /// included.
    pub cpu: Cpu,
    /// Faults since the first sample, those of processes that have ended included.
    pub faults: Faults,
    /// Resident memory (RSS), summed over the processes: shared pages count once per process.
    pub rss_bytes: u64,
    /// The number of running processes.
    pub processes: u32,
    /// The number of threads of all processes.
    pub threads: u32,
    /// Values that are expensive to read; none in samples that did not read them.
    pub detail: Option<Detail>,
    /// The kernel's account of the cgroup, when the tree has one of its own; none in samples that
    /// did not read it.
    pub cgroup: Option<CgroupSample>,
    /// The host; none in samples that did not read it.
    pub host: Option<Host>,
    /// Events of the tree since the previous sample.
    pub events: Vec<Event>,
    /// CPU time that taking this sample took, in microseconds.
    pub cost_us: u64,
}

/// CPU time of a process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// In user mode, in microseconds.
    pub user_us: u64,
    /// In kernel mode, in microseconds.
    pub system_us: u64,
}

impl Cpu {
    /// User and system time together, in microseconds.
    pub fn total_us(self) -> u64 {
        self.user_us + self.system_us
    }
}

/// Page faults of a process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Faults {
    /// Minor faults, resolved without a disk read.
    pub minor: u64,
    /// Major faults, which needed a disk read.
    pub major: u64,
}

/// Values that are expensive to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// Proportional memory (PSS): shared pages divided among the processes that share them. Null if
    /// it cannot be read for every process.
    pub pss_bytes: Option<u64>,
    /// Swapped out, divided likewise.
    pub swap_bytes: Option<u64>,
    /// Context switches since the first sample.
    pub switches: Counted<Switches>,
    /// Open file descriptors, and the sockets among them.
    pub descriptors: Counted<Descriptors>,
}

/// A value that may be missing for some processes, for lack of permission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted<T> {
    /// The sum over the processes that could be read.
    pub value: T,
    /// Processes that could not be read.
    pub unreadable: u32,
}

/// Context switches of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switches {
    /// Voluntary switches: the thread waited.
    pub voluntary: u64,
    /// Involuntary switches: preempted by another thread.
    pub involuntary: u64,
}

/// Open file descriptors of a process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Descriptors {
    /// All descriptors, counted in each process that has them.
    pub open: u64,
    /// The number of descriptors of sockets.
    pub sockets: u64,
}

/// The kernel's accounting of a cgroup. Values that its controllers do not report are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupSample {
    /// CPU time since the first sample.
    pub cpu: Cpu,
    /// Periods since the first sample in which the cgroup was throttled by its CPU limit.
    pub throttled_periods: Option<u64>,
    /// How long it was throttled, in microseconds.
    pub throttled_us: Option<u64>,
    /// Current memory, including the page cache of files.
    pub memory_bytes: Option<u64>,
    /// The peak of the memory since the cgroup was created.
    pub memory_peak_bytes: Option<u64>,
}

/// The host, or the view that a container has of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Threads that run or wait for a disk, averaged over 1, 5 and 15 minutes.
    pub load: [f64; 3],
    /// Time of all processors together, since the first sample.
    pub cpu: HostCpu,
    /// Memory available without swapping.
    pub memory_available_bytes: u64,
    /// The size of the memory.
    pub memory_total_bytes: u64,
    /// The swap space in use.
    pub swap_used_bytes: u64,
    /// The size of the swap space.
    pub swap_total_bytes: u64,
    /// Context switches of all processes since the first sample.
    pub switches: u64,
    /// The number of open files of all processes.
    pub files_open: u64,
    /// Traffic of all interfaces except loopback, since the first sample.
    pub network: Network,
    /// Traffic of the loopback interface, since the first sample.
    pub loopback: Network,
    /// TCP counters in the network namespace of the first root process, since the first sample.
    pub tcp: Tcp,
}

/// CPU time of a host, in microseconds summed over all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCpu {
    /// Time in user mode.
    pub user_us: u64,
    /// Time in the kernel, including interrupts.
    pub system_us: u64,
    /// Time idle, or waiting for a disk.
    pub idle_us: u64,
    /// Time taken by the hypervisor.
    pub steal_us: u64,
}

/// Traffic of network interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// The number of received bytes.
    pub received_bytes: u64,
    /// The number of received packets.
    pub received_packets: u64,
    /// The number of sent bytes.
    pub sent_bytes: u64,
    /// The number of sent packets.
    pub sent_packets: u64,
    /// Packets with errors, in both directions.
    pub errors: u64,
    /// Packets dropped, in both directions.
    pub drops: u64,
}

/// TCP counters of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tcp {
    /// Connections that found the accept queue of a listener full.
    pub listen_overflows: u64,
    /// Connections that a listener dropped for any reason.
    pub listen_drops: u64,
    /// Segments that were retransmitted.
    pub retransmits: u64,
    /// Connections reset after they had been established.
    pub resets: u64,
    /// Connections opened by this host.
    pub opened: u64,
    /// Connections accepted by this host.
    pub accepted: u64,
}

/// Gives counters a method `since`.
macro_rules! since {
    ($($counters:ident { $($counter:ident),+ })+) => {$(
        impl $counters {
            /// The increase of each counter since `earlier`, at least 0.
            #[must_use]
            pub fn since(self, earlier: Self) -> Self {
                Self { $($counter: self.$counter.saturating_sub(earlier.$counter)),+ }
            }
        }
    )+};
}

since! {
    Cpu { user_us, system_us }
    Faults { minor, major }
    Switches { voluntary, involuntary }
    HostCpu { user_us, system_us, idle_us, steal_us }
    Network { received_bytes, received_packets, sent_bytes, sent_packets, errors, drops }
    Tcp { listen_overflows, listen_drops, retransmits, resets, opened, accepted }
}

/// An event of a process tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Event {
    /// A root process has exited.
    RootEnded(Root),
    /// Another process matches the target now: the root process was restarted.
    RootStarted(Root),
}

/// A root process of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    /// The ID of the process.
    pub pid: u32,
    /// The name, as the kernel has it: at most 15 bytes.
    pub name: String,
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.pid, self.name.escape_debug())
    }
}
