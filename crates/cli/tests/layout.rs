//! `vervet run FOLDER`: sites without configuration (C5).

use std::os::unix::fs::MetadataExt as _;

use vervet_testkit::{Child, RawClient, TempTree};

const VERVET: &str = env!("CARGO_BIN_EXE_vervet");

/// Who the server is to be: root has to say so.
fn user() -> String {
    let own = std::fs::metadata("/proc/self").unwrap();
    format!("user={}", own.uid())
}

#[test]
fn a_folder_of_hosts_is_served_as_it_lies_there() {
    let tree = TempTree::new()
        .file("one.test/www/index.html", "one")
        .file("default/www/index.html", "any")
        .file("_off.test/www/index.html", "off")
        .file("notes.txt", "");
    let mut command = std::process::Command::new(VERVET);
    command.arg("run").arg(tree.path()).args(["--set", "listen=127.0.0.1:0", "--set", &user()]);
    let mut child = Child::spawn(command);
    let address = child.wait_for_address();
    let is_note = |line: &str| line.contains("notes.txt is not a site: not a folder");
    child.wait_for_line(is_note);
    for (host, expected) in [("one.test", "one"), ("off.test", "any"), ("x", "any")] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let response = RawClient::connect(address).exchange(request);
        assert_eq!(response.text(), expected, "{host}");
    }
}
