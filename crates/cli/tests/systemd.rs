//! The units that are shipped: systemd understands every line of them, and finds little to complain
//! of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use vervet_testkit::{TempTree, find_program, skip};

/// Most exposure that `systemd-analyze security` may find, on its scale from 0 to 10, in tenths. A
/// service of the network with nothing set has 96.
const EXPOSURE_MAX: u32 = 20;

const UNITS: [&str; 2] = ["vervet.service", "vervet.socket"];

fn shipped(unit: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    fs::read_to_string(folder.join(unit)).unwrap()
}

/// The units as they would be found on a machine where the program is installed.
fn installed(tree: &TempTree, change: impl Fn(String) -> String) -> Vec<PathBuf> {
    let program = env!("CARGO_BIN_EXE_vervet");
    let units = UNITS.map(|unit| {
        let text = shipped(unit).replace("/usr/bin/vervet", program);
        tree.write(unit, change(text))
    });
    units.into()
}

fn analyze(program: &Path, arguments: &[&str], units: &[PathBuf]) -> (Output, String) {
    let output = Command::new(program).args(arguments).args(units).output().unwrap();
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    (output, String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn every_line_is_understood() {
    let Some(program) = find_program("systemd-analyze") else {
        skip!("needs systemd-analyze");
    };
    let arguments = ["verify", "--man=no", "--recursive-errors=no"];
    let tree = TempTree::new();
    let broken = |text: String| text.replace("ProtectClock=", "ProtectKlock=");
    let (_, said) = analyze(&program, &arguments, &installed(&tree, broken));
    assert!(said.contains("ProtectKlock"), "a mistake is not found: {said}");
    let tree = TempTree::new();
    let (output, said) = analyze(&program, &arguments, &installed(&tree, |text| text));
    let ours = said.lines().filter(|line| line.contains("vervet."));
    assert_eq!(ours.collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(output.status.success(), "{said}");
}

#[test]
fn little_of_the_machine_is_exposed() {
    let Some(program) = find_program("systemd-analyze") else {
        skip!("needs systemd-analyze");
    };
    let tree = TempTree::new();
    let units = installed(&tree, |text| text);
    let threshold = format!("--threshold={EXPOSURE_MAX}");
    let arguments = ["security", "--offline=yes", "--no-pager", &threshold];
    let (output, said) = analyze(&program, &arguments, &units[..1]);
    if said.contains("unrecognized option") {
        skip!("needs a systemd-analyze that knows --offline");
    }
    assert!(said.contains("Overall exposure level"), "{said}");
    assert!(output.status.success(), "{said}");
}

/// What the unit promises in words that systemd does not check.
#[test]
fn the_service_and_its_socket_fit_together() {
    let [service, socket] = UNITS.map(shipped);
    let has = |text: &str, line: &str| text.lines().any(|found| found == line);
    for line in [
        "Type=notify",
        "KillSignal=SIGTERM",
        "ExecReload=/bin/kill -HUP $MAINPID",
        "User=vervet",
        "NoNewPrivileges=yes",
    ] {
        assert!(has(&service, line), "{line}");
    }
    assert!(has(&socket, "Service=vervet.service"));
    assert!(has(&socket, "FileDescriptorName=http"));
    // Longer than the default drain timeout.
    let stop = service.lines().find_map(|line| line.strip_prefix("TimeoutStopSec="));
    let seconds: u32 = stop.unwrap().strip_suffix('s').unwrap().parse().unwrap();
    assert!(seconds > 30, "a drain of 30 s is cut after {seconds} s");
}
