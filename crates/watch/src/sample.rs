//! What one look at a tree gives, as values. Counters are sums since the first sample of the
//! watcher.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Microseconds since the first sample.
    pub at_us: u64,
    /// Processor time of the tree since the first sample, that of processes that have ended
    /// included.
    pub cpu: Cpu,
    /// Faults since the first sample, those of processes that have ended included.
    pub faults: Faults,
    /// Resident memory, summed over the processes: pages that they share count once for each of
    /// them.
    pub rss_bytes: u64,
    /// Processes.
    pub processes: u32,
    /// Threads of all processes.
    pub threads: u32,
    /// What costs more to read; none in samples that did not read it.
    pub detail: Option<Detail>,
    /// The kernel's account of the cgroup, when the tree has one of its own; none in samples that
    /// did not read it.
    pub cgroup: Option<CgroupSample>,
    /// The machine; none in samples that did not read it.
    pub host: Option<Host>,
    /// What happened to the tree since the sample before.
    pub events: Vec<Event>,
    /// Processor time that this look took, in microseconds.
    pub cost_us: u64,
}

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// In the programs, in microseconds.
    pub user_us: u64,
    /// In the kernel on their behalf, in microseconds.
    pub system_us: u64,
}

impl Cpu {
    /// Both, in microseconds.
    pub fn total_us(self) -> u64 {
        self.user_us + self.system_us
    }

    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
        }
    }
}

/// Page faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Faults {
    /// Answered without reading a disk.
    pub minor: u64,
    /// Those for which a disk was read.
    pub major: u64,
}

impl Faults {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
        }
    }
}

/// What costs more to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// Resident memory in which each page counts once, divided among those who share it. None when
    /// the system does not let us read it of every process: then that of the others would pass for
    /// the whole.
    pub pss_bytes: Option<u64>,
    /// Swapped out, divided likewise.
    pub swap_bytes: Option<u64>,
    /// Switches since the first sample.
    pub switches: Counted<Switches>,
    /// Open descriptors and the sockets among them.
    pub descriptors: Counted<Descriptors>,
}

/// A figure that some processes may have kept from us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted<T> {
    /// The figure, of the processes that could be read.
    pub value: T,
    /// Processes that could not.
    pub unreadable: u32,
}

/// Changes of what runs on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switches {
    /// A thread waited for something.
    pub voluntary: u64,
    /// A thread had to make room.
    pub involuntary: u64,
}

impl Switches {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

/// Descriptors that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Descriptors {
    /// All of them, counted in each process that has them.
    pub open: u64,
    /// Those that are sockets.
    pub sockets: u64,
}

/// The kernel's account of a cgroup. What its controllers do not tell is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupSample {
    /// Processor time since the first sample.
    pub cpu: Cpu,
    /// Periods since the first sample in which it was not let run any more, by its limit of
    /// processor time.
    pub throttled_periods: Option<u64>,
    /// How long that was, in microseconds.
    pub throttled_us: Option<u64>,
    /// Memory now, that of files in the page cache included.
    pub memory_bytes: Option<u64>,
    /// The most memory since the cgroup was made.
    pub memory_peak_bytes: Option<u64>,
}

/// The machine, or the container's view of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Threads that run or wait for a disk, averaged over 1, 5 and 15 minutes.
    pub load: [f64; 3],
    /// All processors together, since the first sample.
    pub cpu: HostCpu,
    /// Memory available without swapping.
    pub memory_available_bytes: u64,
    /// Memory there is.
    pub memory_total_bytes: u64,
    /// Swap that is in use.
    pub swap_used_bytes: u64,
    /// Swap there is.
    pub swap_total_bytes: u64,
    /// Switches of all processes since the first sample.
    pub switches: u64,
    /// Files that all processes have open.
    pub files_open: u64,
    /// Over all interfaces but loopback, since the first sample.
    pub network: Network,
    /// Over loopback, since the first sample.
    pub loopback: Network,
    /// TCP in the network of the first root process, since the first sample.
    pub tcp: Tcp,
}

/// What the processors of a machine did, in microseconds summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCpu {
    /// In programs.
    pub user_us: u64,
    /// In the kernel, interrupts included.
    pub system_us: u64,
    /// With nothing to do, or waiting for a disk.
    pub idle_us: u64,
    /// Taken by the hypervisor.
    pub steal_us: u64,
}

impl HostCpu {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            idle_us: self.idle_us.saturating_sub(earlier.idle_us),
            steal_us: self.steal_us.saturating_sub(earlier.steal_us),
        }
    }
}

/// What went over interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets with errors, in both directions.
    pub errors: u64,
    /// Packets dropped, in both directions.
    pub drops: u64,
}

impl Network {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            received_bytes: self.received_bytes.saturating_sub(earlier.received_bytes),
            received_packets: self
                .received_packets
                .saturating_sub(earlier.received_packets),
            sent_bytes: self.sent_bytes.saturating_sub(earlier.sent_bytes),
            sent_packets: self.sent_packets.saturating_sub(earlier.sent_packets),
            errors: self.errors.saturating_sub(earlier.errors),
            drops: self.drops.saturating_sub(earlier.drops),
        }
    }
}

/// What the kernel's TCP says of trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tcp {
    /// Connections that found the accept queue of their listener full.
    pub listen_overflows: u64,
    /// Connections that a listener dropped, for that reason or another.
    pub listen_drops: u64,
    /// Segments sent once more.
    pub retransmits: u64,
    /// Connections reset after they had been established.
    pub resets: u64,
    /// Connections opened from here.
    pub opened: u64,
    /// Connections accepted.
    pub accepted: u64,
}

impl Tcp {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            listen_overflows: self
                .listen_overflows
                .saturating_sub(earlier.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(earlier.listen_drops),
            retransmits: self.retransmits.saturating_sub(earlier.retransmits),
            resets: self.resets.saturating_sub(earlier.resets),
            opened: self.opened.saturating_sub(earlier.opened),
            accepted: self.accepted.saturating_sub(earlier.accepted),
        }
    }
}

/// What happened to a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Event {
    /// A root process has ended.
    RootEnded(Root),
    /// Another process answers to the same target now: the root was restarted.
    RootStarted(Root),
}

/// A process that a tree begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    /// Its number.
    pub pid: u32,
    /// Its name, as the kernel has it: at most 15 bytes.
    pub name: String,
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.pid, self.name.escape_debug())
    }
}
