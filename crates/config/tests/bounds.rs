//! The bounds of what is read, at their edges.

use crate::common::{Document, environment, read};
use vervet_config::{DEPTH_MAX, Documents, FILES_MAX, Reading, SOURCE_BYTES_MAX, UNKNOWN_MAX};

/// The first finding of a document, or nothing when there is none.
fn first(reading: &Reading<Document>) -> &str {
    let found = reading.diagnostics.iter().next();
    found.map_or("", |one| one.message.as_str())
}

#[test]
fn a_file_has_a_greatest_size() {
    let comment = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
    assert_eq!(first(&read(&comment(SOURCE_BYTES_MAX))), "");
    let more = SOURCE_BYTES_MAX + 1;
    let expected = format!("the file has {more} bytes, at most {SOURCE_BYTES_MAX} are allowed");
    assert_eq!(first(&read(&comment(more))), expected);
}

#[test]
fn a_configuration_has_a_greatest_number_of_files() {
    let with = |files: usize| {
        let mut documents = Documents::new(&environment);
        documents.add("vervet.toml", "include = '*'");
        let include = documents.wanted().unwrap();
        let names = (0..files).map(|index| (index.to_string(), Vec::new()));
        documents.supply(&include, names.collect());
        documents.read::<Document>()
    };
    assert_eq!(first(&with(FILES_MAX - 1)), "");
    let expected = format!("a configuration has at most {FILES_MAX} files");
    assert_eq!(first(&with(FILES_MAX)), expected);
}

/// A table may have any number of directives; of unknown ones, the first are reported each.
#[test]
fn a_table_has_a_greatest_number_of_findings() {
    let messages = |unknown: usize| {
        let reading =
            read(&(0..unknown).map(|key| format!("k{key} = 1\n")).collect::<Vec<_>>().concat());
        let found = reading.diagnostics.iter();
        found.map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    let all = messages(UNKNOWN_MAX);
    assert!(all.iter().all(|message| message.starts_with("unknown directive `k")), "{all:?}");
    for (unknown, more) in [(UNKNOWN_MAX + 1, 1), (50_000, 50_000 - UNKNOWN_MAX)] {
        let messages = messages(unknown);
        let expected = format!("{more} more unknown directives from here on");
        assert_eq!(messages.len(), all.len() + 1);
        assert!(messages.contains(&expected), "{unknown}");
    }
}

#[test]
fn names_have_a_greatest_depth() {
    let name = |parts: u32| vec!["x"; parts as usize].join(".") + " = 1";
    assert_eq!(first(&read(&name(DEPTH_MAX))), "unknown directive `x`");
    let expected = format!("a name has at most {DEPTH_MAX} parts, this one has {}", DEPTH_MAX + 1);
    assert_eq!(first(&read(&name(DEPTH_MAX + 1))), expected);
}

#[test]
fn lists_have_a_greatest_depth() {
    let list = |depth: u32| {
        let depth = depth as usize;
        format!("trusted = {}{}", "[".repeat(depth), "]".repeat(depth))
    };
    let messages = |depth| {
        let reading = read(&list(depth));
        let found = reading.diagnostics.iter();
        found.map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    let too_deep = "cannot recurse further; max recursion depth met".to_owned();
    assert!(!messages(DEPTH_MAX).contains(&too_deep));
    assert!(messages(DEPTH_MAX + 1).contains(&too_deep));
}
