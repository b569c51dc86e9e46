//! `[task.NAME]`: a program that says how long each of its phases took.

use vervet_config::{Named, Path, Size, Text, Time, section};

use super::Plain;

section! {
    /// A program that says how long each of its phases took: the client of a store that is filled and read, a probe of
    /// the host, one of your own.
    pub struct Task {
        /// Who knows how to run it; `vervet lab adapters` lists them.
        pub adapter: Option<Text>,
        /// A command of your own in the place of an adapter, its arguments one by one. It prints a line
        /// `phase NAME OPERATIONS NANOSECONDS` for each phase of a whole, `probe` in the place of `phase` for one that is
        /// part of none, and `fact NAME TEXT` for what is worth knowing beside that. `{count}`, `{value_bytes}` and
        /// `{seed}` stand for what the lab says, `{folder}` for an empty folder of its own, `{file}` for the folder of
        /// the lab file.
        pub command: Vec<Text>,
        /// The server of an adapter, where it is not found in `PATH`.
        pub program: Option<Path>,
        /// Settings of the adapter, as `vervet lab adapters` lists them.
        pub settings: Named<Plain>,
        /// What it is compared within: tasks of one group promise the same, those of others something else.
        pub group: Text = "",
        /// How long one run may take.
        pub timeout: Time = "2m" in "1s"..="6h",
    }
}

section! {
    /// What each task that fills a store does.
    pub struct Operations {
        /// How many values are put, and then read.
        pub count: u32 = 10_000 in 1..=10_000_000,
        /// How long each value is.
        pub value: Size = "16B" in 1..="32KiB",
        /// The program `vervet-stores`, where it stands neither beside this one nor in `PATH`.
        pub client: Option<Path>,
    }
}
