//! `[subject.NAME]`: a server under test.

use vervet_config::{
    FromConfig, Named, Node, Path, Reader, Shape, Shown, Size, Text, TextShape, Time, Value,
    section, words,
};

section! {
    /// A server under test: started by an adapter or by your own command, or already running.
    pub struct Subject {
        /// Adapter that starts the server; `vervet lab adapters` lists them.
        pub adapter: Option<Text>,
        /// Your own command instead of an adapter, as a list of arguments. `{port}` is the port to
        /// listen on, `{site}` the folder of the generated files, `{folder}` a scratch folder,
        /// `{file}` the folder of the lab file.
        pub command: Vec<Text>,
        /// Command of an additional process of the subject, such as its database. It is started
        /// before the subject, stopped after it and counted as part of it, with the same `{port}`,
        /// `{site}`, `{folder}` and `{file}`.
        pub beside: Vec<Text>,
        /// Command that exits with 0 if the subject can take part. Otherwise the subject is
        /// skipped, and the first line of the output is the reason. `{file}` is the folder of the
        /// lab file.
        pub requires: Vec<Text>,
        /// Address of a server that is already running, such as `127.0.0.1:8080`. It is not
        /// stopped.
        pub address: Option<Text>,
        /// Process ID or name of that server. Without it, its CPU time and memory are unknown.
        pub process: Option<Text>,
        /// The program of the adapter, if it is not in `PATH`.
        pub program: Option<Path>,
        /// The application, page or script that an adapter serves: a file or a folder.
        pub app: Option<Path>,
        /// Settings of the adapter, as `vervet lab adapters` lists them.
        pub settings: Named<Plain>,
        /// Environment variables of the process, in addition to a few that the lab sets.
        pub environment: Named<Text>,
        /// Request target that must return 200 before a step begins. Without it, an accepted
        /// connection is enough.
        pub ready: Option<Text>,
        /// Time in which the subject must become ready.
        pub ready_within: Time = "30s" in "100ms"..="10m",
        /// Command that prints the version.
        pub version: Vec<Text>,
        /// Access log that the subject writes.
        pub log: Log = "none",
        /// The workloads to measure it with [default: all].
        pub workloads: Vec<Text>,
    }
}

words! {
    /// Access log that a subject writes.
    pub enum Log {
        /// No access log.
        None = "none",
        /// One line per request, in the common log format if the server has it.
        Access = "access",
    }
}

/// A text, a number or a boolean, kept as text for the adapter to interpret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(pub String);

/// How `Plain` is written.
const SHAPE: TextShape = TextShape { noun: "text", example: "", pattern: None };

impl FromConfig for Plain {
    fn shape() -> Shape {
        let (min, max) = (i128::from(i64::MIN), i128::from(i64::MAX));
        Shape::Either(vec![Shape::Text(SHAPE), Shape::Integer { min, max }, Shape::Boolean])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Integer(number) => Some(Self(number.to_string())),
            Value::Boolean(value) => Some(Self(value.to_string())),
            _ => Some(Self(reader.text(node, &Self::shape())?.into_owned())),
        }
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.clone())
    }
}

section! {
    /// A program that measures the time of its phases: the client of a data store, a probe of the
    /// host, or your own.
    pub struct Task {
        /// Adapter that runs the task; `vervet lab adapters` lists them.
        pub adapter: Option<Text>,
        /// Your own command instead of an adapter, as a list of arguments. It prints one line
        /// `phase NAME OPERATIONS NANOSECONDS` per phase, with `probe` instead of `phase` for a
        /// measurement that is not part of the total, and `fact NAME TEXT` for other information.
        /// `{count}`, `{value_bytes}` and `{seed}` are those of the lab, `{folder}` is an empty
        /// scratch folder, `{file}` the folder of the lab file.
        pub command: Vec<Text>,
        /// The server of the adapter, if it is not in `PATH`.
        pub program: Option<Path>,
        /// Settings of the adapter, as `vervet lab adapters` lists them.
        pub settings: Named<Plain>,
        /// Tasks are compared within a group only: those of one group give the same guarantees.
        pub group: Text = "",
        /// Maximum time of one run.
        pub timeout: Time = "2m" in "1s"..="6h",
    }
}

section! {
    /// Operations of each task that fills a data store.
    pub struct Operations {
        /// Number of values that are put, and then read.
        pub count: u32 = 10_000 in 1..=10_000_000,
        /// Length of each value.
        pub value: Size = "16B" in 1..="32KiB",
        /// The program `vervet-stores`, if it is neither in the folder of vervet nor in `PATH`.
        pub client: Option<Path>,
    }
}
