//! `[load.NAME]`: how it is asked for.

use vervet_config::{Time, section};

use super::Sweep;

section! {
    /// How a workload is asked for: by so many connections that each wait for their answer (closed), or at a rate that
    /// does not wait (open). Each value of the sweep is one step.
    pub struct Load {
        /// Connections, each with one request under way. With `rate` it is the most that there are.
        pub connections: Vec<Sweep> = [10],
        /// Requests a second, sent when they are due whatever the answers do. Without it the load is closed.
        pub rate: Vec<Sweep>,
        /// Whether connections are kept for further requests.
        pub keep_alive: bool = true,
        /// After how many requests a kept connection is closed; 0 for never.
        pub requests_per_connection: u32 = 0,
        /// How long a step is measured.
        pub duration: Time = "10s" in "50ms"..="1h",
        /// How long it is loaded before, without being measured.
        pub warm_up: Time = "2s" in "0s"..="10m",
        /// Further connections that get one answer each and then stay idle during the load.
        pub idle_connections: u32 = 0 in 0..=50_000,
        /// Start all subjects of the workload, then load them in turn for this long, there and back
        /// again, until each has had its `duration`: they meet the same machine. The figures of a
        /// repeat are the sums of its windows, and the medians of their response times. Without it
        /// each subject is started and measured alone.
        pub window: Option<Time> = _ in "50ms"..="10m",
        /// How long an answer may take.
        pub timeout: Time = "30s" in "10ms"..="10m",
    }
}
