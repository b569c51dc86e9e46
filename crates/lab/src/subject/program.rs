//! Where programs are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names a folder with a Python environment, or an interpreter.
const PYTHON_VARIABLE: &str = "VERVET_LAB_PYTHON";

/// A file named `program` in the search path, or where Debian keeps servers.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// An interpreter that has a module: that of [`PYTHON_VARIABLE`], that which `labs/setup` has made beside the lab file, or
/// that of the search path.
pub(super) fn python_with(module: &str, lab_folder: &Path) -> Option<PathBuf> {
    let variable = env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let asked = variable.map(|path| {
        if path.is_dir() {
            path.join("bin/python")
        } else {
            path
        }
    });
    let beside = lab_folder.join("python/bin/python");
    let candidates = asked.into_iter().chain([beside]).chain(find("python3"));
    candidates
        .filter(|python| python.is_file())
        .find(|python| has_module(python, module))
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
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let lines =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let line = lines
        .iter()
        .flat_map(|text| text.lines())
        .find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().to_owned())
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
