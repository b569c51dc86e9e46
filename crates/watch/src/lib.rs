//! CPU, memory, faults, switches, descriptors and sockets of a tree of processes, read from /proc
//! and cgroups.
//!
//! A [`Target`] selects processes; a [`Watcher`] follows them and is polled for [`Sample`]s; a
//! [`Summary`] sums them up over an interval. Counters in samples are sums since the first one, so
//! skipping samples loses nothing.

mod account;
mod cgroup;
mod clock;
mod find;
mod host;
mod kernel_file;
mod process;
mod readings;
mod record;
mod sample;
mod summary;
mod target;
mod tree;
mod watcher;

pub use find::FindError;
pub use record::{Document, FORMAT_VERSION, Head, Machine, Record, Written};
pub use sample::{
    CgroupSample, Counted, Cpu, Descriptors, Detail, Event, Faults, Host, HostCpu, Network, Root,
    Sample, Switches, Tcp,
};
pub use summary::{CgroupSummary, HostSummary, Spread, Summary, Tally};
pub use target::{Target, TargetError};
pub use watcher::{Account, Subject, Watcher};
