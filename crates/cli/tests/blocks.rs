//! Who is blocked and let in again while the server runs (F1).

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use vervet_testkit::{Child, RawClient, TempTree};

const DOCUMENT: &str = "\
admin = 'unix:admin.sock'
listen = '127.0.0.1:0'

[[site]]
root = 'www'
";

/// What the admin service answers: status and content.
fn admin(tree: &TempTree, line: &str) -> (u16, String) {
    let mut client = RawClient::connect_unix(tree.join("admin.sock"));
    let response = client.exchange(format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    (response.status, response.text().to_owned())
}

#[test]
fn a_network_is_shut_out_and_let_in_again() {
    let tree = TempTree::new().file("vervet.toml", DOCUMENT).file("www/index.html", "in");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    let own = std::fs::metadata("/proc/self").unwrap().uid();
    command.current_dir(tree.path()).args(["run", "--set", &format!("user={own}")]);
    let mut child = Child::spawn(command);
    let address = child.wait_for_address();
    let mut kept = RawClient::connect(address);
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_eq!(kept.exchange(request).text(), "in");

    let refused = admin(&tree, "PUT /-/blocks?network=nowhere");
    assert_eq!(refused.0, 400, "{refused:?}");
    assert_eq!(admin(&tree, "PUT /-/blocks").0, 400);
    assert_eq!(admin(&tree, "DELETE /-/blocks?network=127.0.0.1").0, 404);
    let blocked = admin(&tree, "PUT /-/blocks?network=127.0.0.0/8&for=1h&reason=a+test");
    assert_eq!(blocked, (200, "127.0.0.0/8 is blocked\n".to_owned()));
    let list = admin(&tree, "GET /-/blocks").1;
    assert!(list.contains("\"reason\": \"a test\""), "{list}");

    // Who is there already is closed with its next request, others before a byte of theirs is read.
    assert_eq!(kept.exchange(request).status, 403);
    kept.expect_close();
    RawClient::connect(address).expect_close();

    let part = admin(&tree, "DELETE /-/blocks?network=127.0.0.1");
    assert_eq!(part.0, 409, "{part:?}");
    assert_eq!(admin(&tree, "DELETE /-/blocks?network=127.0.0.0/8").0, 200);
    assert_eq!(RawClient::connect(address).exchange(request).text(), "in");
}
