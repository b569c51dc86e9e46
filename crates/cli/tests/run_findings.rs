//! Errors of a configuration are reported all at once, by a start and by a reload, and a reload
//! reports files that the sandbox hides from it (FEATURES C4, Y3).

use crate::common::{ADMIN, Run, run};
use vervet_testkit::{Child, PATIENCE, Stream, TempTree, skip, wait_until};

const GOOD: &str = "
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[[site]]
[[site.route]]
path = '/a/*'
files = 'inside'
";

/// One mistake for each look: one of reading, one of planning, and two of opening.
const BAD: &str = "
[[listen]]
address = '127.0.0.1:0'
name = 'main'
backlgo = 5
[[site]]
hosts = ['a.test']
root = 'nowhere'
[[site]]
hosts = ['a.test']
log = ['none']
[[site.route]]
page = 'none.html'
";

const MESSAGES: [&str; 5] = [
    "unknown directive `backlgo`",
    "the host `a.test` belongs to two sites",
    "unknown log `none`",
    "cannot serve ",
    "the template none.html does not exist",
];

#[test]
fn a_reload_reports_all_errors_at_once() {
    let tree = TempTree::new().dir("inside");
    let mut server = Run::start(tree, &[ADMIN, GOOD].concat());
    server.refused(&[ADMIN, BAD].concat());
    for message in MESSAGES {
        assert!(
            wait_until(PATIENCE, || server.said().contains(message)),
            "{message} in {}",
            server.said()
        );
    }
    server.end();
}

#[test]
fn a_start_reports_all_errors_at_once() {
    let tree = TempTree::new();
    tree.write("vervet.toml", BAD);
    let mut child = Child::spawn(run(tree.path()));
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(1));
    let said = child.text(Stream::Stderr);
    for message in MESSAGES {
        assert!(said.contains(message), "{message} in {said}");
    }
}

#[test]
fn a_reload_is_refused_what_lies_outside_of_the_sandbox() {
    let tree = TempTree::new().file("inside/a", "inside");
    let other = TempTree::new().file("outside/a", "outside").file("page.html", "").dir("logs");
    // As another folder than that of the configuration, which may be read.
    let sandbox = format!("{ADMIN}sandbox = {{ landlock = true, write = ['.'] }}\n");
    let mut server = Run::start(tree, &[sandbox.as_str(), GOOD].concat());
    if !server.said().contains("restricted by landlock") {
        server.end();
        skip!("needs a kernel with landlock");
    }
    let place = |name: &str| other.join(name).display().to_string();
    let (root, page, log) = (place("outside"), place("page.html"), place("logs/access.log"));
    let document = format!(
        "{sandbox}[log.all]\nfile = '{log}'\n{GOOD}
        [[site.route]]\npath = '/b/*'\nfiles = '{root}'
        [[site.route]]\npath = '/c'\npage = '{page}'\n"
    );
    let reason = server.refused(&document);
    assert!(reason.contains("outside the sandbox, which was set up at the start"), "{reason}");
    let said = server.said();
    for (path, deed) in [(&root, "read"), (&place("logs"), "written")] {
        let message = format!(
            "{path} cannot be {deed}: it is outside the sandbox, which was set up at the start"
        );
        assert!(said.contains(&message), "{message} in {said}");
    }
    assert!(said.contains("add the folder to `sandbox.read`"), "{said}");
    // What was served is served on, and another folder inside is taken.
    assert_eq!(server.get("a", "/a/a").text(), "inside");
    server.tree.write("inside/sub/b", "deeper");
    server.reload(&[sandbox.as_str(), &GOOD.replace("'inside'", "'inside/sub'")].concat());
    assert_eq!(server.get("a", "/a/b").text(), "deeper");
    server.end();
}
