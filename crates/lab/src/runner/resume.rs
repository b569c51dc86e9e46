//! Beginning a journal, or going on with one.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::options::RunError;
use super::out::Out;
use super::stage::Stage;
use crate::environment::{self, SIGNATURE};
use crate::hash::sha256_hex;
use crate::plan::{Plan, Way};
use crate::record::{Asset, Head, Journal, LabRecord, Subject, SubjectState, Workload};

/// The longest text of a file that a record carries along.
const ASSET_TEXT_BYTES_MAX: u64 = 256 * 1024;

/// Milliseconds of Unix time.
pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The journal, and what stands in it already.
pub(super) fn open(
    stage: &Stage<'_>,
    out: &Out,
    program: &str,
) -> Result<(Journal, LabRecord), RunError> {
    let path = out.journal();
    let plan = stage.plan;
    if !path.exists() {
        let head = head(stage, program);
        let journal =
            Journal::create(&path, &head).map_err(|error| RunError::Folder(path, error))?;
        return Ok((journal, LabRecord::new(head)));
    }
    let (journal, record, _) =
        Journal::resume(&path).map_err(|error| RunError::Journal(path.clone(), error))?;
    if record.head.lab.sha256 != plan.file.sha256 {
        return Err(RunError::Differs(path, "another lab file"));
    }
    if record.head.environment.value(SIGNATURE) != Some(plan.signature().as_str()) {
        return Err(RunError::Differs(path, "other steps (--quick or --only)"));
    }
    let there = |record: &LabRecord| -> Vec<bool> {
        record
            .head
            .subjects
            .iter()
            .map(|subject| subject.state == SubjectState::Present)
            .collect()
    };
    let now: Vec<bool> = (0..plan.subjects.len())
        .map(|subject| stage.is_there(subject))
        .collect();
    if there(&record) != now {
        return Err(RunError::Differs(path, "other subjects installed"));
    }
    Ok((journal, record))
}

fn head(stage: &Stage<'_>, program: &str) -> Head {
    let plan = stage.plan;
    let there = plan
        .steps
        .iter()
        .filter(|step| stage.is_there(step.subject));
    Head {
        title: plan.title.clone(),
        program: program.to_owned(),
        began_unix_ms: unix_ms(),
        lab: plan.file.clone(),
        assets: assets(plan),
        seed: plan.seed,
        repeats: plan.repeats,
        steps_planned: u32::try_from(there.count()).unwrap_or(u32::MAX),
        environment: environment::read(plan, program),
        subjects: subjects(stage),
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
    }
}

fn subjects(stage: &Stage<'_>) -> Vec<Subject> {
    let plan = stage.plan;
    let cores: Vec<String> = plan.server_cores.iter().map(u32::to_string).collect();
    let of = plan.subjects.iter().zip(stage.found());
    of.enumerate()
        .map(|(index, (subject, found))| Subject {
            name: subject.name.clone(),
            adapter: match &subject.way {
                Way::Adapter(adapter, _) => adapter.name.to_owned(),
                Way::Command(_) => "command".to_owned(),
                Way::Address(_) => "address".to_owned(),
                Way::Ceiling => "canned".to_owned(),
            },
            role: subject.role,
            version: found.as_ref().ok().and_then(|found| found.version.clone()),
            command: stage.shown(index).0,
            configuration: stage.shown(index).1,
            cores: (!cores.is_empty()).then(|| cores.join(",")),
            state: match found {
                Ok(_) => SubjectState::Present,
                Err(missing) => SubjectState::Skipped {
                    reason: missing.0.clone(),
                },
            },
        })
        .collect()
}

/// The files that the lab file names: those of applications, each with its hash.
fn assets(plan: &Plan) -> Vec<Asset> {
    let mut assets: Vec<Asset> = Vec::new();
    for app in plan
        .subjects
        .iter()
        .filter_map(|subject| subject.app.as_deref())
    {
        let mut queue = vec![app.to_owned()];
        while let Some(path) = queue.pop() {
            if let Ok(entries) = std::fs::read_dir(&path) {
                queue.extend(entries.flatten().map(|entry| entry.path()));
            } else if let Some(asset) = asset(&path, &plan.folder) {
                assets.push(asset);
            }
        }
    }
    assets.sort_by(|one, other| one.path.cmp(&other.path));
    assets.dedup_by(|one, other| one.path == other.path);
    assets
}

fn asset(path: &Path, folder: &Path) -> Option<Asset> {
    use std::os::unix::fs::PermissionsExt as _;
    let shown = path
        .strip_prefix(folder)
        .ok()?
        .to_string_lossy()
        .into_owned();
    let bytes = std::fs::read(path).ok()?;
    let length = bytes.len() as u64;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    let sha256 = sha256_hex(&bytes);
    let text = String::from_utf8(bytes).ok();
    Some(Asset {
        path: shown,
        bytes: length,
        sha256,
        text: text.filter(|_| length <= ASSET_TEXT_BYTES_MAX),
        executable: mode & 0o111 != 0,
    })
}
