//! The files that a lab file names, with their content where a record can carry it: what it takes
//! to run the lab again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::hash::sha256_hex;
use crate::plan::{Plan, PlannedSubject, SubjectStart, TaskStart};
use crate::record::Asset;

/// The longest text of a file that a record carries along.
const ASSET_TEXT_BYTES_MAX: u64 = 256 * 1024;
/// Placeholder for the folder of the lab file in a command.
const FOLDER: &str = "{file}/";

/// The files of applications and of commands, each with its hash.
pub(super) fn assets(plan: &Plan) -> Vec<Asset> {
    let mut assets: Vec<Asset> = Vec::new();
    let of_subjects = plan.subjects.iter();
    let of_subjects = of_subjects.flat_map(|subject| of_subject(subject, &plan.folder));
    let of_tasks = plan.tasks.tasks.iter().flat_map(|task| match &task.start {
        TaskStart::Command(command) => of_command(command, &[], &plan.folder),
        TaskStart::Adapter(..) => Vec::new(),
    });
    let mut queue: Vec<PathBuf> = of_subjects.chain(of_tasks).collect();
    while let Some(path) = queue.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            queue.extend(entries.flatten().map(|entry| entry.path()));
        } else if let Some(asset) = asset(&path, &plan.folder) {
            assets.push(asset);
        }
    }
    assets.sort_by(|one, other| one.path.cmp(&other.path));
    assets.dedup_by(|one, other| one.path == other.path);
    assets
}

/// What a subject names: its application, and what its commands name.
fn of_subject(subject: &PlannedSubject, folder: &Path) -> Vec<PathBuf> {
    let command = match &subject.start {
        SubjectStart::Command(command) => command.as_slice(),
        SubjectStart::Adapter(..) | SubjectStart::Address(_) | SubjectStart::Ceiling => &[],
    };
    let more = [subject.beside.as_slice(), &subject.requires].concat();
    let files = of_command(command, &more, folder);
    subject.app.iter().cloned().chain(files).collect()
}

/// What a command names: its program where that lies with the lab file, and files in its arguments
/// and in those of others.
fn of_command(command: &[String], more: &[String], folder: &Path) -> Vec<PathBuf> {
    let program = command.first().map(Path::new);
    let program = program.filter(|program| program.components().count() > 1);
    let arguments = command.iter().chain(more);
    let arguments = arguments.filter_map(|one| one.split_once(FOLDER));
    let arguments = arguments.map(|(_, path)| Path::new(path));
    let files = program.into_iter().chain(arguments);
    let files = files.map(|path| folder.join(path));
    files.filter(|path| path.is_file()).collect()
}

fn asset(path: &Path, folder: &Path) -> Option<Asset> {
    // The lab file may have been named from where the program runs, and its folder is absolute.
    let shown = std::path::absolute(path).ok()?;
    let shown = shown.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
    let bytes = fs::read(path).ok()?;
    let length = bytes.len() as u64;
    let mode = fs::metadata(path).ok()?.permissions().mode();
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
