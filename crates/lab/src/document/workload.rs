//! `[workload.NAME]`, `[tree.NAME]` and `[load.NAME]`: requests and expected responses, generated
//! files, and numbers of connections or rates.

use vervet_config::{Size, Text, Time, section};

use super::Sweep;

section! {
    /// A request, and the response that is expected.
    pub struct Workload {
        /// Description in a sentence.
        pub about: Text = "",
        /// Response time that satisfies users: the T of Apdex.
        pub apdex: Time = "500ms" in "1ms"..="1h",
        /// The request target. `{file}` is a random file of the tree for each request.
        pub path: Text = "/",
        /// The method of the requests.
        pub method: Text = "GET",
        /// The Host header [default: the address of the subject].
        pub host: Option<Text>,
        /// Further request headers, such as `Accept: text/html`.
        pub fields: Vec<Text>,
        /// The body of the requests.
        pub content: Option<Text>,
        /// The tree whose files are requested.
        pub tree: Option<Text>,
        /// The response that is expected.
        pub expect: Expect,
        /// The subjects to measure [default: all].
        pub subjects: Vec<Text>,
        /// The loads to measure with [default: all].
        pub loads: Vec<Text>,
    }
}

section! {
    /// The expected response. Any other response is an error and excluded from throughput.
    pub struct Expect {
        /// Status code of each response.
        pub status: u16 = 200 in 100..=599,
        /// Length of the body. Known for generated files.
        pub length: Option<Size>,
        /// SHA-256 of the body, in hexadecimal. Known for generated files.
        pub sha256: Option<Text>,
        /// A text that the body contains.
        pub contains: Option<Text>,
        /// The whole body of the response.
        pub text: Option<Text>,
    }
}

section! {
    /// Files that are generated for the lab from its seed, served below `/NAME/`.
    pub struct Tree {
        /// Number of files to generate.
        pub files: u32 = 1 in 1..=1_000_000,
        /// Size of each file, or of the smallest.
        pub size: Size = "100B" in 0..="1GiB",
        /// Size of the largest file; sizes between are uniformly distributed.
        pub size_max: Option<Size> = _ in 0..="1GiB",
        /// The content of every file [default: random bytes].
        pub content: Option<Text>,
    }
}

section! {
    /// The load of a workload: closed (a number of connections, each of which waits for its
    /// response) or open (a rate that does not depend on responses). Each value of the sweep is one
    /// step.
    pub struct Load {
        /// Concurrent connections, each with one request at a time. With `rate`, the maximum.
        pub connections: Vec<Sweep> = [10],
        /// Requests per second, sent when they are due whatever the server does. If not set, the
        /// load is closed.
        pub rate: Vec<Sweep>,
        /// Reuse connections for further requests.
        pub keep_alive: bool = true,
        /// Close a connection after this many requests; 0 for never.
        pub requests_per_connection: u32 = 0,
        /// Maximum number of outstanding requests on a connection of a closed load; 1 disables
        /// pipelining.
        pub pipelining: u32 = 1 in 1..=1000,
        /// Duration of the measurement.
        pub duration: Time = "10s" in "50ms"..="1h",
        /// Load before the measurement, not counted.
        pub warm_up: Time = "2s" in "0s"..="10m",
        /// Further connections that get one response each and then stay idle during the load.
        pub idle_connections: u32 = 0 in 0..=50_000,
        /// Start all subjects of the workload, then load them in turn for this long, forward and
        /// backward through the list, until each has had its `duration`: changes of the machine
        /// then affect all alike. Counts of a repeat are summed over its windows; response times
        /// are the medians of the windows. If not set, each subject is started and measured alone.
        pub window: Option<Time> = _ in "50ms"..="10m",
        /// Timeout of a response.
        pub timeout: Time = "30s" in "10ms"..="10m",
    }
}
