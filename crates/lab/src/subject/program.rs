//! Where programs are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::adapter::{Adapter, Program, Settings};
use crate::plan::{PlannedSubject, SubjectStart};

/// The variable that names a folder with a Python environment, or an interpreter.
const PYTHON_VARIABLE: &str = "VERVET_LAB_PYTHON";

/// A file named `program` in the search path, or where Debian keeps servers.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// An interpreter that has a module: that of [`PYTHON_VARIABLE`], the one that `labs/setup` made
/// next to the lab file, or that of the search path.
pub(super) fn python_with(module: &str, lab_folder: &Path) -> Option<PathBuf> {
    let variable = env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let asked = variable.map(|path| if path.is_dir() { path.join("bin/python") } else { path });
    let beside = lab_folder.join("python/bin/python");
    let candidates = asked.into_iter().chain([beside]).chain(find("python3"));
    candidates.filter(|python| python.is_file()).find(|python| has_module(python, module))
}

/// Whether an interpreter has a module.
pub(super) fn has_module(python: &Path, module: &str) -> bool {
    let code =
        format!("import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)");
    succeeds(&[python.display().to_string(), "-c".to_owned(), code])
}

/// Whether a command ends with 0.
pub(super) fn succeeds(command: &[String]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// The first line that a command prints, on whichever of the two streams.
pub(crate) fn first_line(command: &[String]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let lines =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let line = lines.iter().flat_map(|text| text.lines()).find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().to_owned())
}

/// A subject whose program is there.
#[derive(Clone, Debug)]
pub struct SubjectProgram {
    /// The program; none for a server that runs already.
    pub program: Option<PathBuf>,
    /// Version, as printed by the program.
    pub version: Option<String>,
}

/// Why a subject cannot take part, and how that is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(pub String);

/// Looks for the program of a subject. `lab_folder` is where the lab file lies.
pub fn find_subject(
    subject: &PlannedSubject,
    lab_folder: &Path,
) -> Result<SubjectProgram, Missing> {
    let mut found = match &subject.start {
        SubjectStart::Adapter(adapter, settings) => {
            of_adapter(adapter, settings, subject.program.as_deref(), lab_folder)?
        }
        SubjectStart::Command(command) => of_command(command, lab_folder)?,
        SubjectStart::Address(_) | SubjectStart::Ceiling => {
            SubjectProgram { program: None, version: None }
        }
    };
    if let Some(why) = refusal(&subject.requires, lab_folder) {
        return Err(Missing(why));
    }
    if !subject.version.is_empty() {
        found.version = first_line(&subject.version);
    }
    Ok(found)
}

/// Runs the command of `requires`; returns why the subject cannot take part.
fn refusal(command: &[String], lab_folder: &Path) -> Option<String> {
    let folder = lab_folder.display().to_string();
    let command: Vec<String> = command.iter().map(|one| one.replace("{file}", &folder)).collect();
    if command.is_empty() || succeeds(&command) {
        return None;
    }
    let shown = command.join(" ");
    Some(first_line(&command).unwrap_or_else(|| format!("`{shown}` failed")))
}

fn of_adapter(
    adapter: &Adapter,
    settings: &Settings,
    given: Option<&Path>,
    lab_folder: &Path,
) -> Result<SubjectProgram, Missing> {
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
    if let Some(beside) = adapter.beside.iter().find(|one| !is_beside(one, settings, &program)) {
        return Err(missing(beside));
    }
    let version = std::iter::once(program.display().to_string());
    let version: Vec<String> =
        version.chain(adapter.version.iter().map(|one| (*one).to_owned())).collect();
    let version = first_line(&version);
    Ok(SubjectProgram { program: Some(program), version })
}

/// Whether a further program or module that an adapter needs is there.
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

pub(crate) fn of_command(command: &[String], lab_folder: &Path) -> Result<SubjectProgram, Missing> {
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
        Some(program) => Ok(SubjectProgram { program: Some(program), version: None }),
        None => Err(Missing(format!("program {name} not found: install it, or correct `command`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-anywhere"), None);
    }

    #[test]
    fn a_version_is_the_first_line_of_either_stream() {
        let check = |script: &str, expected: Option<&str>| {
            let command = ["sh", "-c", script].map(str::to_owned);
            assert_eq!(first_line(&command).as_deref(), expected, "{script}");
        };
        check("true", None);
        check("echo; echo ' one 1.2 '; echo two", Some("one 1.2"));
        check("echo nginx/1.2 >&2; exit 1", Some("nginx/1.2"));
        assert_eq!(first_line(&["no-such-program-anywhere".to_owned()]), None);
    }
}
