//! `vervet check` and `vervet config show` (FEATURES C2, C3): wrong files of the whole document,
//! each next to its expected findings in `tests/wrong`, which `VERVET_REGENERATE=1` writes;
//! findings as JSON; the exit status; effective values and their origins.
//!
//! Lines at the beginning of a file of the form `#! NAME=VALUE` are its environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{check, vervet};
use serde_json::{Value, json};
use vervet_testkit::{TempTree, check_corpus};

/// The fewest files, so that none is lost unnoticed.
const FILES_MIN: usize = 100;

fn wrong() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong")
}

/// What a command says of a file, in the environment that its first lines give.
fn checked(file: &Path, arguments: &[&str]) -> Output {
    let text = fs::read(file).unwrap();
    let text = String::from_utf8_lossy(&text);
    let mut command = check(file.parent().unwrap());
    command.args(arguments).arg(file.file_name().unwrap());
    let variables = text.lines().map_while(|line| line.strip_prefix("#! "));
    command.envs(variables.filter_map(|line| line.split_once('=')));
    command.output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn findings_are_exact() {
    let count = check_corpus(&wrong(), "toml", |file| {
        let output = checked(file, &[]);
        let name = file.file_name().unwrap().to_str().unwrap();
        // What only warns does not refuse.
        let expected = i32::from(!name.starts_with("warning_"));
        assert_eq!(output.status.code(), Some(expected), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        text(output.stderr)
    });
    assert!(count >= FILES_MIN, "{count}");
}

/// The JSON schema of a finding.
fn schema() -> Value {
    let place = json!({
        "type": "object",
        "properties": {
            "file": { "type": "string", "minLength": 1 },
            "line": { "type": "integer", "minimum": 1 },
            "column": { "type": "integer", "minimum": 1 },
            "length": { "type": "integer", "minimum": 0 },
        },
        "required": ["file", "line", "column", "length"],
    });
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {
                "severity": { "enum": ["error", "warning"] },
                "message": { "type": "string", "minLength": 1 },
            },
            "required": ["severity", "message"],
            "allOf": [place],
        },
    })
}

#[test]
fn findings_as_json_fit_a_schema_and_say_what_the_text_says() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    for name in ["several", "unicode", "carriage_returns", "include_with_mistakes", "twice_host"] {
        let file = wrong().join(name).with_extension("toml");
        let output = checked(&file, &["--json"]);
        assert_eq!(output.status.code(), Some(1));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let errors: Vec<_> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?} in {found:#}");
        let said = fs::read_to_string(file.with_extension("expected")).unwrap();
        for finding in found.as_array().unwrap() {
            let part = |name: &str| finding[name].to_string().trim_matches('"').to_owned();
            let place = format!(" --> {}:{}:{}\n", part("file"), part("line"), part("column"));
            assert!(said.contains(&place), "{name}: {place} in {said}");
            assert!(said.contains(finding["message"].as_str().unwrap()), "{finding}");
        }
    }
}

#[test]
fn the_exit_status_has_the_outcome() {
    let tree = TempTree::new()
        .file("good.toml", "[[site]]\n[[site.route]]\nstatus = 204\n")
        .file("bad.toml", "worker = 2\n");
    for (arguments, code, said) in [
        (vec!["good.toml"], 0, "vervet: good.toml is valid\n"),
        (vec!["bad.toml"], 1, "vervet: bad.toml has 1 error\n"),
        (
            vec!["none.toml"],
            1,
            "vervet: cannot read none.toml: No such file or directory (os error 2)\n",
        ),
        (vec!["good.toml", "--set", "workers=no"], 1, "vervet: good.toml has 1 error\n"),
        (vec!["--nothing"], 2, "For more information, try '--help'.\n"),
        (vec!["good.toml", "--set", "workers"], 2, "For more information, try '--help'.\n"),
    ] {
        let output = check(tree.path()).args(&arguments).output().unwrap();
        let stderr = text(output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.ends_with(said), "{arguments:?}: {stderr}");
    }
    let output = check(tree.path()).args(["good.toml", "--json"]).output().unwrap();
    assert_eq!((output.status.code(), text(output.stdout).as_str()), (Some(0), "[]\n"));
}

/// A check writes nothing: no log, no pid file, no socket.
#[test]
fn a_check_leaves_no_files() {
    let document = "pid_file = 'pid'\nadmin = 'unix:sock'\nlisten = ['unix:listen']\n[log.a]\nfile = 'a.log'\n[error_log]\nfile = 'e.log'\n\
                    [[site]]\nlog = ['a']\n[[site.route]]\nstatus = 204\n";
    let tree = TempTree::new().file("vervet.toml", document);
    let output = check(tree.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
    let names: Vec<_> =
        fs::read_dir(tree.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["vervet.toml"]);
}

/// A directive of the top level with a value for the flag, the environment and the file, as TOML.
const DIRECTIVES: [(&str, [&str; 3]); 13] = [
    ("user", ["one", "two", "three"]),
    ("group", ["one", "two", "three"]),
    ("pid_file", ["one", "two", "three"]),
    ("workers", ["1", "2", "3"]),
    ("overload", ["wait", "reject", "wait"]),
    ("server", ["one", "two", "three"]),
    ("default_media_type", ["text/one", "text/two", "text/three"]),
    ("file_cache", ["1MiB", "2MiB", "3MiB"]),
    ("sandbox", ["true", "false", "true"]),
    ("listen", [":1", ":2", ":3"]),
    ("forwarded", ["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
    ("admin", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]),
    ("error_log", ["error", "warning", "notice"]),
];

/// FEATURES C3: "Order CLI > environment > file > default is tested for each key; `show-config`
/// prints value and origin".
#[test]
fn flags_go_before_the_environment_the_file_and_the_default() {
    for (name, [flag, variable, file]) in DIRECTIVES {
        let quoted = if matches!(name, "workers" | "sandbox") {
            file.to_owned()
        } else {
            format!("'{file}'")
        };
        // What may be a list stands in one.
        let given =
            if matches!(name, "listen" | "forwarded") { format!("[{quoted}]") } else { quoted };
        let tree =
            TempTree::new().file("file.toml", format!("{name} = {given}\n")).file("empty.toml", "");
        let show = |file: &str, variable: Option<&str>, flag: Option<&str>| {
            let mut command = vervet(tree.path());
            command.args(["config", "show", file, "--json"]);
            if let Some(value) = variable {
                command.env(format!("VERVET_{}", name.to_uppercase()), value);
            }
            if let Some(value) = flag {
                command.args(["--set", &format!("{name}={value}")]);
            }
            let output = command.output().unwrap();
            assert!(output.status.success(), "{name}: {}", text(output.stderr));
            let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
            let value = shown[name]["value"].to_string();
            (shown[name]["origin"]["kind"].as_str().unwrap().to_owned(), value)
        };
        let (kind, _) = show("empty.toml", None, None);
        assert_eq!(kind, "default", "{name}");
        for (shown, expected, value) in [
            (show("file.toml", None, None), "file", file),
            (show("file.toml", Some(variable), None), "environment", variable),
            (show("file.toml", Some(variable), Some(flag)), "flag", flag),
            (show("file.toml", None, Some(flag)), "flag", flag),
            (show("empty.toml", Some(variable), None), "environment", variable),
        ] {
            assert_eq!(shown.0, expected, "{name}");
            assert!(shown.1.contains(value), "{name}: {} has no {value}", shown.1);
        }
    }
}
