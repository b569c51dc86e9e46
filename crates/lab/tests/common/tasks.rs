//! Labs of tasks that tests make by hand.

use vervet_lab::record::{LabRecord, Outcome, Phase, Role, TaskStep};

use super::{head, subject};

/// A lab of tasks that asked for three repeats.
pub(crate) struct Tasks {
    pub(crate) record: LabRecord,
}

impl Tasks {
    pub(crate) fn new() -> Self {
        let mut head = head(&[]);
        head.workloads.clear();
        head.repeats = 3;
        let mut record = LabRecord::new(head);
        record.ended_unix_ms = Some(1);
        Self { record }
    }

    /// Adds repeats of a task: how long its phases `put` and `get` took, in milliseconds.
    pub(crate) fn took(mut self, task: &str, times_ms: &[(u64, u64)]) -> Self {
        for (put, get) in times_ms {
            let phase = |name: &str, time_ms: u64| Phase {
                name: name.to_owned(),
                is_part: true,
                operations: 100,
                time_ns: time_ms * 1_000_000,
            };
            let phases = vec![phase("put", *put), phase("get", *get)];
            self = self.step(task, Outcome::Measured, phases);
        }
        self
    }

    /// Three repeats of a task whose one phase is part of no whole, and took so long.
    pub(crate) fn of_no_whole(time_ns: u64) -> Self {
        let phase = Phase { name: "call".to_owned(), is_part: false, operations: 100, time_ns };
        (0..5).fold(Self::new(), |lab, _| lab.step("host", Outcome::Measured, vec![phase.clone()]))
    }

    /// Adds a repeat of a task that crashed.
    pub(crate) fn crashed(self, task: &str) -> Self {
        let reason = "signal 11".to_owned();
        self.step(task, Outcome::Crashed { reason }, Vec::new())
    }

    pub(crate) fn step(mut self, task: &str, outcome: Outcome, phases: Vec<Phase>) -> Self {
        let record = &mut self.record;
        if record.subject(task).is_none() {
            record.head.subjects.push(subject(task, Role::Contestant));
        }
        let order = u32::try_from(record.tasks.len()).unwrap();
        record.tasks.push(TaskStep {
            order,
            task: task.to_owned(),
            group: "stores".to_owned(),
            repeat: order + 1,
            began_unix_ms: 1,
            outcome,
            phases,
            facts: Vec::new(),
        });
        self
    }
}
