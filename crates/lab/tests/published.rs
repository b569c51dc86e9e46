//! The reports of `docs/reports`: they are small enough to keep, are what is written from their
//! records, and name neither a folder nor the host of the machine that they were made on.

use std::fs;
use std::path::{Path, PathBuf};

use vervet_lab::present::report_page;
use vervet_lab::record::{COMPRESSED_RECORD_FILE, open_record, record_to_json};
use vervet_lab::statistics::Analysis;

/// The largest file of a report in the repository, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Folders of one machine, in two parts, so that this file does not contain them.
const FOLDERS: [&str; 5] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/"),
];

#[track_caller]
fn check_names_no_folder(text: &str, file: &Path) {
    for folder in FOLDERS {
        let at = text.find(folder);
        let around = at.map(|at| {
            let from = text.floor_char_boundary(at.saturating_sub(60));
            &text[from..text.ceil_char_boundary(at + 60)]
        });
        assert_eq!(around, None, "{folder} in {}", file.display());
    }
}

fn check(lab: &Path) {
    let record = open_record(lab).unwrap();
    assert!(record.ended_unix_ms.is_some(), "{}: interrupted", lab.display());
    assert_eq!(record.head.environment.value("host name"), None);
    let json = String::from_utf8(record_to_json(&record).unwrap()).unwrap();
    check_names_no_folder(&json, lab);
    for name in ["report.html", "report.md", COMPRESSED_RECORD_FILE] {
        let file = lab.join(name);
        let bytes = fs::read(&file).unwrap();
        assert!(bytes.len() as u64 <= FILE_BYTES_MAX, "{}", file.display());
        check_names_no_folder(&String::from_utf8_lossy(&bytes), &file);
    }
    // Thousands of histograms of servers take a minute; those of tasks take none.
    if record.is_of_tasks() {
        let analysis = Analysis::new(&record).unwrap();
        assert!(!report_page(&record, &analysis).sections.is_empty());
    }
}

#[test]
fn published_reports_are_small_and_name_no_machine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    let entries = fs::read_dir(folder).unwrap();
    let labs = entries.map(|entry| entry.unwrap().path());
    let labs: Vec<PathBuf> = labs.filter(|path| path.is_dir()).collect();
    assert!(!labs.is_empty());
    for lab in &labs {
        check(lab);
    }
}
