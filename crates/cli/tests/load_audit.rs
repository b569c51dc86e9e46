//! Rules of the audit that look at the kernel, provoked in a network of its own: its counters count
//! this run alone.

use std::process::Command;

use serde_json::Value;
use vervet_testkit::{find_program, skip};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// Listens with room for one connection, accepts none, and has the program load that. The loopback
/// device of a new network is down.
const SCRIPT: &str = r#"
import fcntl, socket, struct, subprocess, sys
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1)
url = "http://127.0.0.1:%d/" % listener.getsockname()[1]
subprocess.run([sys.argv[1], "load", url, *sys.argv[2:]])
"#;

fn finding<'a>(run: &'a Value, rule: &str) -> &'a Value {
    let findings = run["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == rule);
    found.unwrap_or_else(|| panic!("{rule} says nothing: {findings:#?}"))
}

/// The kernel asks again after a second for the connections that it refused a place.
#[test]
fn listen_overflows_and_retransmits_are_reported() {
    let (Some(unshare), Some(python)) = (find_program("unshare"), find_program("python3")) else {
        skip!("needs unshare of util-linux and python3");
    };
    let alone = Command::new(&unshare).args(["--net", "true"]).output();
    if !alone.unwrap().status.success() {
        skip!("needs root: a network of its own");
    }
    let mut command = Command::new(unshare);
    command.arg("--net").arg(python).args(["-c", SCRIPT, BINARY]);
    command.args(["-c", "16", "-d", "3s", "-q", "--format", "json"]);
    let output = command.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    let run: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}"));
    assert!(run["kernel"]["listen_overflows"].as_u64() > Some(0), "{run}");
    assert!(run["kernel"]["retransmitted_syns"].as_u64() > Some(0), "{run}");
    for rule in ["listen_overflows", "retransmits"] {
        assert_eq!(finding(&run, rule)["verdict"], "failed", "{run}");
    }
}
