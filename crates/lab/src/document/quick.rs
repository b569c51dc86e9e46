//! `[quick]`: what `--quick` changes.

use vervet_config::{Time, section};

section! {
    /// What `--quick` puts in the place of what the lab says otherwise. Its figures show that the lab works, and little
    /// more.
    pub struct Quick {
        /// The most steps of a sweep: the first, the last and some between.
        pub steps: u32 = 2 in 1..=100,
        /// How often each step is measured.
        pub repeats: u32 = 2 in 1..=100,
        /// How long a step is measured.
        pub duration: Time = "1s" in "50ms"..="1h",
        /// How long it is loaded before.
        pub warm_up: Time = "200ms" in "0s"..="10m",
        /// The most files of a tree.
        pub files: u32 = 1000 in 1..=1_000_000,
        /// The most values that are put into a store.
        pub count: u32 = 1000 in 1..=10_000_000,
        /// The workloads that take part; none for all.
        pub workloads: Vec<vervet_config::Text>,
    }
}
