//! Starts or resumes a journal.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};

use super::assets::assets;
use super::options::RunError;
use super::stage::Stage;
use crate::environment;
use crate::environment::SIGNATURE;
use crate::plan::{Plan, SubjectStart};
use crate::record::{
    Head, JOURNAL_FILE, Journal, LabRecord, RECORD_FILE, Subject, SubjectState, Workload,
};

/// Milliseconds of Unix time.
pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Opens the journal and its recorded steps; a new one, or one without a step, begins with `head`.
pub(super) fn open(plan: &Plan, out: &Out, head: Head) -> Result<(Journal, LabRecord), RunError> {
    let path = out.journal();
    let begin = |head: Head| -> Result<(Journal, LabRecord), RunError> {
        let journal = Journal::create(&path, &head);
        let journal = journal.map_err(|error| RunError::Folder(path.clone(), error))?;
        Ok((journal, LabRecord::new(head)))
    };
    if !path.exists() {
        return begin(head);
    }
    let (journal, record, _) =
        Journal::resume(&path).map_err(|error| RunError::Journal(path.clone(), error))?;
    // Nothing was measured, for example because the gate stopped it: nothing is lost, whatever the
    // lab file says now.
    if record.steps_done() == 0 && record.ended_unix_ms.is_none() {
        fs::remove_file(&path).map_err(|error| RunError::Folder(path.clone(), error))?;
        return begin(head);
    }
    if record.head.lab.sha256 != plan.file.sha256 {
        return Err(RunError::Differs(path, "another lab file"));
    }
    if record.head.environment.value(SIGNATURE) != Some(plan.signature().as_str()) {
        return Err(RunError::Differs(path, "other steps (--quick or --only)"));
    }
    let there = |head: &Head| -> Vec<bool> {
        let subjects = head.subjects.iter();
        subjects.map(|subject| subject.state == SubjectState::Present).collect()
    };
    if there(&record.head) != there(&head) {
        return Err(RunError::Differs(path, "other subjects installed"));
    }
    Ok((journal, record))
}

/// What is known before the first step.
pub(super) fn head(
    plan: &Plan,
    program: &str,
    steps_planned: usize,
    subjects: Vec<Subject>,
) -> Head {
    Head {
        title: plan.title.clone(),
        program: program.to_owned(),
        began_unix_ms: unix_ms(),
        lab: plan.file.clone(),
        assets: assets(plan),
        shortened: plan.shortened.clone(),
        seed: plan.seed,
        repeats: plan.repeats,
        steps_planned: u32::try_from(steps_planned).unwrap_or(u32::MAX),
        environment: environment::read(plan, program),
        subjects,
        workloads: plan
            .workloads
            .iter()
            .map(|workload| Workload {
                name: workload.name.clone(),
                description: workload.about.clone(),
                apdex_seconds: workload.apdex.as_secs_f64(),
            })
            .collect(),
        history: plan.history.clone(),
        rules: plan.rules.clone(),
    }
}

/// The subjects, as a record has them.
pub(super) fn subjects(stage: &Stage<'_>) -> Vec<Subject> {
    let plan = stage.plan;
    let cores: Vec<String> = plan.server_cores.iter().map(u32::to_string).collect();
    let of = plan.subjects.iter().zip(stage.found());
    of.enumerate()
        .map(|(index, (subject, found))| Subject {
            name: subject.name.clone(),
            adapter: match &subject.start {
                SubjectStart::Adapter(adapter, _) => adapter.name.to_owned(),
                SubjectStart::Command(_) => "command".to_owned(),
                SubjectStart::Address(_) => "address".to_owned(),
                SubjectStart::Ceiling => "canned".to_owned(),
            },
            role: subject.role,
            version: found.as_ref().ok().and_then(|found| found.version.clone()),
            command: stage.shown(index).0,
            configuration: stage.shown(index).1,
            cores: (!cores.is_empty()).then(|| cores.join(",")),
            state: match found {
                Ok(_) => SubjectState::Present,
                Err(missing) => SubjectState::Skipped { reason: missing.0.clone() },
            },
        })
        .collect()
}

/// Lock file of the running lab.
const LOCK: &str = ".lock";

/// The output folder, locked by one lab at a time.
#[derive(Debug)]
pub(super) struct Out {
    path: PathBuf,
    lock: File,
}

impl Out {
    /// Makes the folder if need be and takes hold of it.
    pub(super) fn open(path: &Path) -> Result<Self, RunError> {
        let fail = |error| RunError::Folder(path.to_owned(), error);
        fs::create_dir_all(path).map_err(fail)?;
        let lock = File::create(path.join(LOCK)).map_err(fail)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| RunError::Busy(path.to_owned()))?;
        Ok(Self { path: path.to_owned(), lock })
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL_FILE)
    }

    pub(super) fn record(&self) -> PathBuf {
        self.path.join(RECORD_FILE)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // A child that is being started has the descriptor until it runs its program: closing alone
        // would not let go.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}
