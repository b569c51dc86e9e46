//! Records that tests make by hand: every number in them is written in the test that looks at what
//! comes of it.

// Each test binary uses what it needs of this.
#![allow(dead_code, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub(crate) mod tasks;

use vervet_lab::record::{
    Connections, Environment, Head, LabFile, LabRecord, LoadPoint, LoadShape, Outcome, Role,
    ServerFigures, Shortened, Step, StoredRun, Subject, SubjectState, Watched, Weight, Workload,
};
use vervet_lab::statistics::{Analysis, Panel, Point};
use vervet_report::{Finding, Mode, Reuse, Run, RunSettings, Stop, Verdict};

/// A head with these contestants, one workload `hello`, and a machine of two cores.
pub(crate) fn head(subjects: &[&str]) -> Head {
    let mut environment = Environment::default();
    environment.add("cpu", "model name", "Example CPU", Weight::Decides);
    environment.add("kernel", "release", "6.1.0", Weight::Decides);
    environment.add("kernel", "load before", "0.10", Weight::Informs);
    Head {
        title: "Test lab".to_owned(),
        program: "vervet 0.1.0".to_owned(),
        began_unix_ms: 1_700_000_000_000,
        lab: LabFile {
            name: "test.toml".to_owned(),
            text: "title = \"Test lab\"\n".to_owned(),
            sha256: "0".repeat(64),
        },
        assets: Vec::new(),
        shortened: Shortened::default(),
        seed: 1,
        repeats: 1,
        steps_planned: 3,
        environment,
        subjects: subjects.iter().map(|name| subject(name, Role::Contestant)).collect(),
        workloads: vec![workload("hello")],
        history: None,
        rules: Vec::new(),
    }
}

/// A subject that took part.
pub(crate) fn subject(name: &str, role: Role) -> Subject {
    Subject {
        name: name.to_owned(),
        adapter: "command".to_owned(),
        role,
        version: Some("1.0".to_owned()),
        command: vec![name.to_owned(), "--port".to_owned(), "0".to_owned()],
        configuration: String::new(),
        cores: None,
        state: SubjectState::Present,
    }
}

/// A workload of this name; 1.5 seconds satisfy.
pub(crate) fn workload(name: &str) -> Workload {
    Workload { name: name.to_owned(), description: String::new(), apdex_seconds: 1.5 }
}

/// A closed load of so many kept connections.
pub(crate) fn closed(concurrency: u32) -> LoadPoint {
    LoadPoint {
        shape: LoadShape::Closed { concurrency },
        connections: Connections::KeepAlive,
        idle_connections: 0,
        pipelining: 1,
    }
}

/// A step that sent nothing, because its subject did not become ready.
pub(crate) fn not_ready(order: u32, subject: &str) -> Step {
    Step {
        order,
        subject: subject.to_owned(),
        workload: "hello".to_owned(),
        load: closed(1),
        repeat: 1,
        window: None,
        measured_again: 0,
        began_unix_ms: 1_700_000_000_000,
        outcome: Outcome::NotReady { reason: "no answer within 5 s".to_owned() },
        run: None,
        server: Watched::Invalid { reason: "it was not there".to_owned() },
        audit: Vec::new(),
    }
}

/// A closed run of ten seconds with so many successful responses per second, whose response times
/// are drawn from pairs of milliseconds and how many of all they are.
pub(crate) fn run(rate: f64, times: &[(f64, u64)]) -> Run {
    let asked = RunSettings {
        target: "http://127.0.0.1/".to_owned(),
        mode: Mode::Closed,
        connections: 10,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop { after_ms: Some(10_000), after_requests: None },
        warm_up_ms: 0,
        timeout_ms: 30_000,
        threads: 1,
        checks: vec!["status 200".to_owned()],
    };
    let mut run = Run::new("test", asked);
    run.achieved.window_us = 10_000_000;
    run.achieved.done = (rate * 10.0) as u64;
    let parts: u64 = times.iter().map(|(_, part)| part).sum();
    for (ms, part) in times {
        let count = run.achieved.done * part / parts;
        run.timings.response.record_many_ns((ms * 1e6) as u64, count);
    }
    run
}

/// A finding that takes a step out.
pub(crate) fn failed(rule: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        verdict: Verdict::Failed,
        measured: "so much".to_owned(),
        bound: "less".to_owned(),
        meaning: "it is not what it seems".to_owned(),
        advice: String::new(),
    }
}

/// A record that grows by steps, and asked for as many repeats as the step has that has most.
pub(crate) struct Lab {
    pub(crate) record: LabRecord,
}

impl Lab {
    /// Without steps.
    pub(crate) fn new(subjects: &[&str]) -> Self {
        let record = LabRecord::new(head(subjects));
        Self { record }
    }

    /// Adds repeats of a subject under so many connections, each with its goodput; response times
    /// are what Little's law says, all alike.
    pub(crate) fn rates(mut self, subject: &str, connections: u32, rates: &[f64]) -> Self {
        for rate in rates {
            let run = run(*rate, &[(f64::from(connections) / rate * 1e3, 1)]);
            self = self.run(subject, closed(connections), &run);
        }
        self
    }

    /// Adds repeats that a rule of the audit took out.
    pub(crate) fn failing(
        mut self,
        subject: &str,
        connections: u32,
        rule: &str,
        rates: &[f64],
    ) -> Self {
        for rate in rates {
            let mut run = run(*rate, &[(f64::from(connections) / rate * 1e3, 1)]);
            run.findings.push(failed(rule));
            self = self.run(subject, closed(connections), &run);
        }
        self
    }

    /// Adds a repeat of a subject.
    pub(crate) fn run(self, subject: &str, load: LoadPoint, run: &Run) -> Self {
        self.step(subject, load, |step| {
            step.run = Some(StoredRun::new(run).unwrap());
        })
    }

    /// Adds a repeat of a subject that is changed before it is added. It sent nothing, and the
    /// server spent two seconds of CPU time, three quarters of it in the kernel, and had 8
    /// MiB at most.
    pub(crate) fn step(
        mut self,
        subject: &str,
        load: LoadPoint,
        change: impl FnOnce(&mut Step),
    ) -> Self {
        let before = self.record.steps.iter();
        let same = before.filter(|step| step.subject == subject && step.load == load).count();
        let mut step = not_ready(self.record.steps.len() as u32, subject);
        step.load = load;
        step.repeat = same as u32 + 1;
        let head = &mut self.record.head;
        head.repeats = head.repeats.max(step.repeat);
        step.outcome = Outcome::Measured;
        step.server = Watched::Valid(ServerFigures {
            cpu_user_us: 500_000,
            cpu_system_us: 1_500_000,
            rss_peak_bytes: 8 << 20,
            rss_mean_bytes: 6 << 20,
            processes: 1,
            ..ServerFigures::default()
        });
        change(&mut step);
        self.record.steps.push(step);
        self
    }

    /// Sorted and judged.
    pub(crate) fn analysis(&self) -> Analysis {
        Analysis::new(&self.record).unwrap()
    }

    /// The only panel.
    pub(crate) fn panel(&self) -> Panel {
        let mut panels = self.analysis().panels;
        assert_eq!(panels.len(), 1);
        panels.remove(0)
    }

    /// The only point.
    pub(crate) fn point(&self) -> Point {
        let mut panel = self.panel();
        assert_eq!((panel.curves.len(), panel.curves[0].points.len()), (1, 1));
        panel.curves[0].points.remove(0)
    }
}
