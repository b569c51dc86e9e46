//! The guide to access and limits: each document in it is served, and each request in it gets the
//! answer that stands there.

use crate::support;
use crate::support::served::Served;
use vervet_testkit::TempTree;

const GUIDE: &str = include_str!("../../../docs/protect.md");

/// `ann`, `open sesame`.
const USERS: &str =
    "ann:$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw\n";

/// The blocks in order: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut parts = GUIDE.split("\n```");
    parts.next();
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        blocks.push(block.split_once('\n').unwrap());
        parts.next();
    }
    blocks
}

fn tree() -> TempTree {
    let names = ["index.html", "private/index.html", "internal/a", "settings.INI", "picture.jpg"];
    let tree = TempTree::new().file("users", USERS);
    names.iter().fold(tree, |tree, name| tree.file(format!("www/{name}"), "content"))
}

/// `METHOD TARGET [with FIELD | as NAME:PASSWORD] -> STATUS [with FIELD | without NAME]`, or `->
/// closed`.
#[track_caller]
fn check(served: &Served, line: &str) {
    let (asked, expected) =
        line.split_once(" -> ").unwrap_or_else(|| panic!("no answer in {line}"));
    let (start, field) = match (asked.split_once(" with "), asked.split_once(" as ")) {
        (Some((start, field)), _) => (start, format!("{field}\r\n")),
        (_, Some((start, credentials))) => (start, support::basic(credentials)),
        _ => (asked, String::new()),
    };
    let mut client = served.connect();
    let request = format!("{start} HTTP/1.1\r\nHost: a\r\n{field}\r\n");
    if expected == "closed" {
        let _ = client.try_send(request);
        client.expect_close();
        return;
    }
    let response = client.exchange(request);
    let status = response.status.to_string();
    let rest = expected.strip_prefix(&status).unwrap_or_else(|| panic!("{line}: {status}"));
    let value = |name: &str| response.field(name);
    match (rest.strip_prefix(" with "), rest.strip_prefix(" without ")) {
        (Some(field), _) => match field.split_once(": ") {
            Some((name, expected)) => assert_eq!(value(name), Some(expected), "{line}"),
            None => assert!(value(field).is_some(), "{line}"),
        },
        (_, Some(name)) => assert_eq!(value(name), None, "{line}"),
        _ => assert_eq!(rest, "", "{line}"),
    }
}

#[test]
fn what_the_guide_shows_is_so() {
    let mut served = None;
    let mut checked = 0;
    for (language, text) in blocks() {
        match language {
            "toml" => served = Some(Served::start(tree(), text)),
            "text" => {
                for line in text.lines() {
                    check(served.as_ref().unwrap(), line);
                    checked += 1;
                }
            }
            // Commands are run by the test of all documentation.
            "sh" => {}
            other => panic!("a block of {other}"),
        }
    }
    assert!(checked > 20, "{checked}");
}
