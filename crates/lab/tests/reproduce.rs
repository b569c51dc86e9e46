//! A lab again: what its record carries is written out as it was, and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::head;
use vervet_lab::record::{Asset, LabRecord};
use vervet_lab::reproduce::write_bundle;
use vervet_testkit::{TempTree, sha256_hex};

fn asset(path: &str, text: &str) -> Asset {
    Asset {
        path: path.to_owned(),
        bytes: text.len() as u64,
        sha256: sha256_hex(text.as_bytes()),
        text: Some(text.to_owned()),
        executable: false,
    }
}

fn record(assets: &[Asset]) -> LabRecord {
    let mut head = head(&["a"]);
    head.lab.sha256 = sha256_hex(head.lab.text.as_bytes());
    head.assets = assets.to_vec();
    LabRecord::new(head)
}

#[track_caller]
fn check_refused(record: &LabRecord, says: &str) {
    let tree = TempTree::new();
    let error = write_bundle(record, tree.path()).unwrap_err().to_string();
    assert!(error.contains(says), "{error:?} does not say {says:?}");
}

#[test]
fn files_come_back_as_they_were() {
    let tree = TempTree::new();
    let mut run = asset("apps/run.sh", "#!/bin/sh\n");
    run.executable = true;
    let record = record(&[asset("apps/app.py", "print()\n"), run]);
    let written = write_bundle(&record, tree.path()).unwrap();
    assert_eq!(fs::read_to_string(&written.lab_file).unwrap(), record.head.lab.text);
    assert_eq!(written.lab_file.file_name().unwrap(), "test.toml");
    assert_eq!(fs::read_to_string(tree.join("apps/app.py")).unwrap(), "print()\n");
    let mode = |path: &str| fs::metadata(tree.join(path)).unwrap().permissions().mode() & 0o111;
    assert_eq!((mode("apps/run.sh"), mode("apps/app.py")), (0o111, 0));
    let list = fs::read_to_string(&written.list).unwrap();
    assert_eq!(list.lines().count(), 3);
    assert!(list.contains(&format!("{}  apps/app.py\n", sha256_hex(b"print()\n"))));
    assert!(written.missing.is_empty());
    // Once more changes nothing.
    assert_eq!(write_bundle(&record, tree.path()).unwrap(), written);
}

#[test]
fn what_is_not_carried_is_named_or_must_be_the_same() {
    let tree = TempTree::new();
    let mut large = asset("large.bin", "large");
    large.text = None;
    let record = record(&[large]);
    assert_eq!(write_bundle(&record, tree.path()).unwrap().missing, ["large.bin"]);
    tree.write("large.bin", "large");
    assert!(write_bundle(&record, tree.path()).unwrap().missing.is_empty());
    tree.write("large.bin", "other");
    let error = write_bundle(&record, tree.path()).unwrap_err().to_string();
    assert!(error.contains("large.bin should have SHA-256"), "{error}");
}

#[test]
fn nothing_is_written_over() {
    let tree = TempTree::new();
    tree.write("test.toml", "mine");
    let error = write_bundle(&record(&[]), tree.path()).unwrap_err().to_string();
    assert!(error.contains("the file or the record was changed"), "{error}");
    assert_eq!(fs::read_to_string(tree.join("test.toml")).unwrap(), "mine");
}

#[test]
fn a_record_that_was_changed_does_not_run_as_the_old_one() {
    let mut changed = record(&[]);
    changed.head.lab.text.push('#');
    check_refused(&changed, "the file or the record was changed");
    let mut file = asset("app.py", "print()");
    file.text = Some("import os".to_owned());
    check_refused(&record(&[file]), "app.py should have SHA-256");
}

#[test]
fn a_record_writes_nowhere_else() {
    for path in ["../up", "/etc/passwd", "a/../../b", "", ".", "./a", "a\nb", "a\0b"] {
        check_refused(&record(&[asset(path, "x")]), "outside of the folder");
    }
    let mut named = record(&[]);
    named.head.lab.name = "../lab.toml".to_owned();
    check_refused(&named, "outside of the folder");
}
