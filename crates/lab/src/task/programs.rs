//! Whether a task can be run, before anything is started.

use std::path::{Path, PathBuf};

use super::adapter::{Client, TaskAdapter};
use crate::plan::{Plan, PlannedTask, TaskStart};
use crate::subject::{Missing, find, first_line, of_command, ours};

/// The client of stores.
const STORES: &str = "vervet-stores";

/// A task whose programs are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPrograms {
    /// Path of its server program; empty without a server.
    pub server: PathBuf,
    /// The program that takes the time.
    pub client: PathBuf,
    /// Version, as printed by its server.
    pub version: Option<String>,
}

/// Looks for the programs of a task.
pub fn find_task(task: &PlannedTask, plan: &Plan) -> Result<TaskPrograms, Missing> {
    match &task.start {
        TaskStart::Adapter(adapter, _) => of_adapter(adapter, task, plan),
        TaskStart::Command(command) => {
            let found = of_command(command, &plan.folder)?;
            Ok(TaskPrograms {
                server: PathBuf::new(),
                client: found.program.unwrap_or_default(),
                version: None,
            })
        }
    }
}

fn of_adapter(
    adapter: &TaskAdapter,
    task: &PlannedTask,
    plan: &Plan,
) -> Result<TaskPrograms, Missing> {
    let missing = |what: &str| Missing(format!("{what} is not installed: {}", adapter.get));
    let server = match (&task.program, adapter.server) {
        (_, []) => None,
        (Some(given), _) => {
            let file = plan.folder.join(given);
            let none = || Missing(format!("file {} not found: correct `program`", file.display()));
            Some(file.is_file().then(|| file.clone()).ok_or_else(none)?)
        }
        (None, names) => {
            let found = names.iter().find_map(|name| find(name));
            Some(found.ok_or_else(|| missing(names[0]))?)
        }
    };
    if let Some(beside) = adapter.beside.iter().find(|name| find(name).is_none()) {
        return Err(missing(beside));
    }
    let version = server.as_ref().and_then(|server| version(server, adapter));
    Ok(TaskPrograms {
        server: server.unwrap_or_default(),
        client: client(adapter.client, plan)?,
        version,
    })
}

fn version(server: &Path, adapter: &TaskAdapter) -> Option<String> {
    let arguments = adapter.version.iter().map(|one| (*one).to_owned());
    let command: Vec<String> =
        std::iter::once(server.display().to_string()).chain(arguments).collect();
    first_line(&command)
}

/// The client program: from the lab file, in the folder of vervet, or in `PATH`.
fn client(client: Client, plan: &Plan) -> Result<PathBuf, Missing> {
    if client == Client::Ours {
        return ours().ok_or_else(|| Missing("vervet not found in PATH".to_owned()));
    }
    if let Some(given) = &plan.tasks.client {
        let file = plan.folder.join(given);
        let none = || Missing(format!("file {} not found: correct `client`", file.display()));
        return file.is_file().then(|| file.clone()).ok_or_else(none);
    }
    let beside = std::env::current_exe().ok();
    let beside = beside.map(|this| this.with_file_name(STORES));
    let found = beside.filter(|file| file.is_file()).or_else(|| find(STORES));
    found.ok_or_else(|| {
        let get =
            "build it from labs/stores, and put it into the folder of vervet or a folder in PATH";
        Missing(format!("{STORES} not found: {get}"))
    })
}
