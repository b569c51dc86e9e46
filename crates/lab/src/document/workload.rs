//! `[workload.NAME]`: what is asked for.

use vervet_config::{Text, Time, section};

use super::Expect;

section! {
    /// What is asked for, and what must come back.
    pub struct Workload {
        /// What it does, in a sentence.
        pub about: Text = "",
        /// The response time that satisfies its users: the T of Apdex.
        pub apdex: Time = "500ms" in "1ms"..="1h",
        /// The request target. `{file}` stands for a file of the tree, drawn anew for each request.
        pub path: Text = "/",
        /// The method.
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
