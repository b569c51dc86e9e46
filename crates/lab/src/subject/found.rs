//! Whether a subject is there, before anything is started.

use std::path::{Path, PathBuf};

use super::program::{find, first_line, has_module, python_with, succeeds};
use crate::adapter::{Adapter, Program, Settings};
use crate::plan::{PlannedSubject, Way};

/// A subject whose program is there.
#[derive(Clone, Debug)]
pub struct Found {
    /// The program; none for a server that runs already.
    pub program: Option<PathBuf>,
    /// What it says its version is.
    pub version: Option<String>,
}

/// Why a subject cannot take part, and how that is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(pub String);

/// Looks for the program of a subject. `lab_folder` is where the lab file lies.
pub fn find_subject(subject: &PlannedSubject, lab_folder: &Path) -> Result<Found, Missing> {
    let mut found = match &subject.way {
        Way::Adapter(adapter, settings) => {
            of_adapter(adapter, settings, subject.program.as_deref(), lab_folder)?
        }
        Way::Command(command) => of_command(command, lab_folder)?,
        Way::Address(_) | Way::Ceiling => Found {
            program: None,
            version: None,
        },
    };
    if let Some(why) = refusal(&subject.requires, lab_folder) {
        return Err(Missing(why));
    }
    if !subject.version.is_empty() {
        found.version = first_line(&subject.version);
    }
    Ok(found)
}

/// What the command that says whether a subject can take part says against it.
fn refusal(command: &[String], lab_folder: &Path) -> Option<String> {
    let folder = lab_folder.display().to_string();
    let command: Vec<String> = command
        .iter()
        .map(|one| one.replace("{file}", &folder))
        .collect();
    if command.is_empty() || succeeds(&command) {
        return None;
    }
    let shown = command.join(" ");
    Some(first_line(&command).unwrap_or_else(|| format!("`{shown}` says that it cannot")))
}

fn of_adapter(
    adapter: &Adapter,
    settings: &Settings,
    given: Option<&Path>,
    lab_folder: &Path,
) -> Result<Found, Missing> {
    let program = match (given, adapter.program) {
        (Some(given), _) => Some(given.to_owned()).filter(|file| file.is_file()),
        (None, Program::Ours) => ours(),
        (None, Program::Named(names)) => names.iter().find_map(|name| find(name)),
        (None, Program::Module(module)) => python_with(module, lab_folder),
    };
    let missing = |what: &str| Missing(format!("{what} is not installed: {}", adapter.get));
    let what = match adapter.program {
        Program::Named(names) => names.first().copied().unwrap_or(adapter.name),
        Program::Module(module) => module,
        Program::Ours => "vervet",
    };
    let program = program.ok_or_else(|| missing(what))?;
    if let Some(beside) = adapter
        .beside
        .iter()
        .find(|one| !is_beside(one, settings, &program))
    {
        return Err(missing(beside));
    }
    let version = std::iter::once(program.display().to_string());
    let version: Vec<String> = version
        .chain(adapter.version.iter().map(|one| (*one).to_owned()))
        .collect();
    let version = first_line(&version);
    Ok(Found {
        program: Some(program),
        version,
    })
}

/// Whether what an adapter needs beside its program is there.
fn is_beside(what: &str, settings: &Settings, program: &Path) -> bool {
    match what {
        "libphp.so" => crate::adapter::has_php_module(program),
        "php-fpm" => crate::adapter::has_php_fpm(),
        // A module of Python, which only a subject that is set to it needs.
        module => settings.iter().all(|(_, value)| value != module) || has_module(program, module),
    }
}

/// This program, if it is `vervet`; else the first in the search path.
pub(crate) fn ours() -> Option<PathBuf> {
    let this = std::env::current_exe().ok();
    let this = this.filter(|file| file.file_name().is_some_and(|name| name == "vervet"));
    this.or_else(|| find("vervet"))
}

pub(crate) fn of_command(command: &[String], lab_folder: &Path) -> Result<Found, Missing> {
    let name = command.first().map_or("", String::as_str);
    let name = name.replace("{file}", &lab_folder.display().to_string());
    let path = Path::new(&name);
    let program = if path.components().count() > 1 {
        // As a shell has it: from where the lab file lies.
        Some(lab_folder.join(path)).filter(|file| file.is_file())
    } else {
        find(&name)
    };
    match program {
        Some(program) => Ok(Found {
            program: Some(program),
            version: None,
        }),
        None => Err(Missing(format!(
            "there is no program {name}: install it, or correct `command`"
        ))),
    }
}
