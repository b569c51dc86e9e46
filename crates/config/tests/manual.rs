//! The manual page: made from the declarations, and taken by the program that shows it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::Document;
use vervet_config::{Section, manual};
use vervet_testkit::{find_program, skip};

fn page() -> String {
    manual(Document::declaration(), "vervet.toml", "configuration of Vervet")
}

#[test]
fn each_section_is_a_chapter() {
    let page = page();
    let chapters: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    let expected = [
        "NAME",
        "DESCRIPTION",
        "\"the top level\"",
        "[limits]",
        "[log.NAME]",
        "[[site]]",
        "[site.cors]",
        "[[heard]]",
    ];
    assert_eq!(chapters, expected, "{page}");
}

#[test]
fn the_formatter_has_nothing_to_say() {
    let Some(groff) = find_program("groff") else {
        skip!("needs groff");
    };
    let mut child = Command::new(groff)
        .args(["-man", "-Tutf8", "-ww", "-z"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(page().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}
