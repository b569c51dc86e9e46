//! A made document with a directive of every kind, and how tests read one.

#![allow(dead_code)]

use vervet_config::{Documents, Named, Path, Reading, Setting, Size, Text, Time};

vervet_config::words! {
    /// What happens above the cap.
    pub enum Overload {
        /// 503 with Retry-After.
        Reject = "reject",
        /// They wait in the queue.
        Wait = "wait",
    }
}

vervet_config::section! {
    /// What scripts of other origins may read.
    pub struct Cors short(origins) {
        /// Origins that may read answers; `*` for any.
        pub origins: Vec<Text> = ["*"],
        /// How long a browser may keep the answer to a preflight.
        pub max_age: Time = "10m" in "0s"..="1d",
    }
}

vervet_config::section! {
    /// What one client may cost.
    pub struct Limits {
        /// The most bytes of a request.
        pub content: Size = "1MiB" in 0..="1TiB",
        /// The most connections, if there is a limit.
        pub connections: Option<u32> = _ in 1..=1000000,
        /// What happens above it.
        pub overload: Overload = "reject",
        /// The part of the machine that may be used.
        pub share: f64 = 0.5 in 0.0..=1.0,
    }
}

vervet_config::section! {
    /// Where lines about requests go.
    pub struct Log short(file) {
        /// The file.
        pub file: Path,
        /// How it is compared with others.
        pub level: i64 = (-1),
    }
}

vervet_config::section! {
    /// A site.
    pub struct Site {
        /// Names by which clients know it; none: any.
        pub hosts: Vec<Setting<Text>>,
        /// Ports on which it is heard.
        pub ports: Vec<u16> = [80, 443] in 1..=65535,
        /// The folder that is served.
        pub root: Path,
        /// Whether it is meant when no other is.
        pub default: bool = false,
        /// What scripts of other origins may read.
        pub cors: Option<Cors>,
        /// The kind of it.
        pub r#type: Option<Text>,
    }
}

vervet_config::section! {
    /// Where clients connect.
    pub struct Listener short(port) {
        /// The port.
        pub port: u16,
    }
}

vervet_config::section! {
    /// The whole document.
    pub struct Document {
        /// Further files.
        pub include: Vec<Path>,
        /// How many workers there are.
        pub workers: usize = 1 in 1..=64,
        /// Who is believed.
        pub trusted: Vec<Text>,
        /// What one client may cost.
        pub limits: Limits,
        /// Where lines about requests go.
        pub log: Named<Log>,
        /// Sites.
        pub site: Vec<Site>,
        /// Where clients connect.
        pub heard: Vec<Listener>,
    }
}

/// The variables of tests.
pub(crate) fn environment(name: &str) -> Option<String> {
    match name {
        "HOST" => Some("example.org".to_owned()),
        "WORKERS" => Some("4".to_owned()),
        _ => None,
    }
}

/// Reads one file with the variables of tests and without includes.
pub(crate) fn read(text: &str) -> Reading<Document> {
    let mut documents = Documents::new(&environment);
    documents.add("vervet.toml", text);
    documents.read()
}
