//! `[subject.NAME]`: a server under test.

use vervet_config::{
    FromConfig, Named, Node, Path, Reader, Shape, Shown, Size, Text, TextShape, Time, Value,
    section, words,
};

section! {
    /// A server under test: one that an adapter knows how to start, a command of your own, or one
    /// that runs already.
    pub struct Subject {
        /// Who knows how to start it; `vervet lab adapters` lists them.
        pub adapter: Option<Text>,
        /// Your own command instead of an adapter, its arguments one by one. `{port}` stands for
        /// the port to listen on, `{site}` for the folder of the generated files, `{folder}` for
        /// one of its own, `{file}` for the folder of the lab file.
        pub command: Vec<Text>,
        /// A command of a further process that belongs to the subject, such as its data base. It is
        /// started before it, is counted as a part of it, and has the same `{port}`, `{site}`,
        /// `{folder}` and `{file}`.
        pub beside: Vec<Text>,
        /// A command that ends with 0 where the subject can take part. Otherwise it is left out,
        /// and the first line that the command prints is the reason. `{file}` stands for the folder
        /// of the lab file.
        pub requires: Vec<Text>,
        /// The address of a server that runs already and is left running, such as `127.0.0.1:8080`.
        pub address: Option<Text>,
        /// The process of that server, by its number or its name; without it its processor time and
        /// memory are not known.
        pub process: Option<Text>,
        /// The program of an adapter, where it is not found in `PATH`.
        pub program: Option<Path>,
        /// The application, page or script that an adapter serves: a file, or a folder.
        pub app: Option<Path>,
        /// Settings of the adapter, as `vervet lab adapters` lists them.
        pub settings: Named<Plain>,
        /// Environment variables of the process, in addition to a few that the lab sets.
        pub environment: Named<Text>,
        /// What is asked for until it is answered with 200, before a step begins; without it a
        /// connection is enough.
        pub ready: Option<Text>,
        /// How long the subject may take until it answers.
        pub ready_within: Time = "30s" in "100ms"..="10m",
        /// A command that prints its version.
        pub version: Vec<Text>,
        /// Which log of requests it writes.
        pub log: Log = "none",
        /// The workloads it takes part in; none for all.
        pub workloads: Vec<Text>,
    }
}

words! {
    /// Which log of requests a subject writes.
    pub enum Log {
        /// None.
        None = "none",
        /// A line for each request, in the common format where there is a choice.
        Access = "access",
    }
}

/// A text, a number or a boolean, as text: what it means is the adapter's business.
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
    /// A program that says how long each of its phases took: the client of a store that is filled
    /// and read, a probe of the host, one of your own.
    pub struct Task {
        /// Who knows how to run it; `vervet lab adapters` lists them.
        pub adapter: Option<Text>,
        /// Your own command instead of an adapter, its arguments one by one. It prints a line
        /// `phase NAME OPERATIONS NANOSECONDS` for each phase of a whole, `probe` instead of
        /// `phase` for one that is part of none, and `fact NAME TEXT` for other information.
        /// `{count}`, `{value_bytes}` and `{seed}` stand for what the lab says, `{folder}` for an
        /// empty folder of its own, `{file}` for the folder of the lab file.
        pub command: Vec<Text>,
        /// The server of an adapter, where it is not found in `PATH`.
        pub program: Option<Path>,
        /// Settings of the adapter, as `vervet lab adapters` lists them.
        pub settings: Named<Plain>,
        /// What it is compared within: tasks of one group promise the same, those of others
        /// something else.
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
        /// The program `vervet-stores`, if it is neither in the folder of this one nor in `PATH`.
        pub client: Option<Path>,
    }
}
