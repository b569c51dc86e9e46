//! Adding a form of a load report touches two places: its file in crates/report/src/forms, and its
//! row in the registry. The command line knows each form from that row alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use vervet_report::forms::FORMS;
use vervet_testkit::{Child, TempTree};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

fn load(folder: &Path, arguments: &[String]) -> (Option<i32>, String, String) {
    let mut command = Command::new(BINARY);
    command.current_dir(folder).arg("load").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The source files of the command.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn the_help_shows_each_form() {
    let tree = TempTree::new();
    let (_, help, _) = load(tree.path(), &["--help".to_owned()]);
    for form in FORMS {
        let line = format!("- {}:", form.name);
        let line = help.lines().find(|text| text.trim().starts_with(&line));
        assert!(line.is_some_and(|line| line.contains(form.about)), "{}: {help}", form.name);
    }
}

#[test]
fn each_form_is_written_to_a_file_and_to_standard_output() {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    for form in FORMS {
        let tree = TempTree::new();
        let name = form.name;
        let typed = format!("{url} -n 10 -q --format {name} -o {name}=report");
        let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        let (status, printed, talk) = load(tree.path(), &typed);
        assert!(matches!(status, Some(0 | 3 | 5)), "{name}: {talk}");
        assert_eq!(fs::read_to_string(tree.join("report")).unwrap(), printed, "{name}");
        assert!(!printed.is_empty(), "{name}");
    }
}

#[test]
fn an_unknown_form_is_refused_with_the_names_of_all() {
    let tree = TempTree::new();
    let typed = ["http://127.0.0.1:9/", "-o", "tsv=file"].map(str::to_owned);
    let (status, _, talk) = load(tree.path(), &typed);
    assert_eq!(status, Some(2), "{talk}");
    let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    let expected = format!("unknown format `tsv`: expected {}", names.join(", "));
    assert!(talk.contains(&expected), "{talk}");
}

#[test]
fn no_source_of_the_command_names_a_form() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/load"));
    assert!(sources.len() > 10);
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for name in ["csv", "ndjson", "hgrm", "html", "openmetrics"] {
            let calls = format!("forms::{name}");
            assert!(!text.contains(&calls), "{}: {calls}", path.display());
        }
    }
}
