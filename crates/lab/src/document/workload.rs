//! `[workload.NAME]`, `[tree.NAME]` and `[load.NAME]`: what is requested and what must come back,
//! files for it, and how it is requested.

use vervet_config::{Size, Text, Time, section};

use super::Sweep;

section! {
    /// What is asked for, and what must come back.
    pub struct Workload {
        /// What it does, in a sentence.
        pub about: Text = "",
        /// The response time that satisfies its users: the T of Apdex.
        pub apdex: Time = "500ms" in "1ms"..="1h",
        /// The request target. `{file}` stands for a file of the tree, drawn for each request.
        pub path: Text = "/",
        /// The method of the requests.
        pub method: Text = "GET",
        /// The host that is asked for; without it the address of the subject.
        pub host: Option<Text>,
        /// Further fields of each request, such as `Accept: text/html`.
        pub fields: Vec<Text>,
        /// The content of each request.
        pub content: Option<Text>,
        /// The tree whose files are asked for.
        pub tree: Option<Text>,
        /// What must come back.
        pub expect: Expect,
        /// The subjects that take part; none for all.
        pub subjects: Vec<Text>,
        /// The loads it is asked for with; none for all.
        pub loads: Vec<Text>,
    }
}

section! {
    /// What must come back for each request. An answer that is otherwise is an error and no
    /// throughput.
    pub struct Expect {
        /// The status code of each response.
        pub status: u16 = 200 in 100..=599,
        /// The length of the content. That of a generated file is known without it.
        pub length: Option<Size>,
        /// The SHA-256 of the content, in hexadecimal. That of a generated file is known without
        /// it.
        pub sha256: Option<Text>,
        /// A text that is in the content.
        pub contains: Option<Text>,
        /// The content itself, whole.
        pub text: Option<Text>,
    }
}

section! {
    /// Files that are made for the lab, the same ones from the same seed. They are served below
    /// `/NAME/`.
    pub struct Tree {
        /// The number of files.
        pub files: u32 = 1 in 1..=1_000_000,
        /// The size of each, or of the smallest.
        pub size: Size = "100B" in 0..="1GiB",
        /// The size of the largest; sizes between are drawn evenly.
        pub size_max: Option<Size> = _ in 0..="1GiB",
        /// The content of every file [default: random bytes].
        pub content: Option<Text>,
    }
}

section! {
    /// How a workload is asked for: by so many connections that each wait for their answer
    /// (closed), or at a rate that does not wait (open). Each value of the sweep is one step.
    pub struct Load {
        /// Connections, each with one request under way. With `rate` it is the most that there are.
        pub connections: Vec<Sweep> = [10],
        /// Requests a second, sent when they are due whatever the answers do. Without it the load
        /// is closed.
        pub rate: Vec<Sweep>,
        /// Whether connections are kept for further requests.
        pub keep_alive: bool = true,
        /// After how many requests a kept connection is closed; 0 for never.
        pub requests_per_connection: u32 = 0,
        /// The most requests outstanding on a connection of a closed load; 1 disables pipelining.
        pub pipelining: u32 = 1 in 1..=1000,
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
