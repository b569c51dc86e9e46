//! The reports of `docs/reports`: they are small enough to keep, their records can be read, and they name neither a folder
//! nor the host of the machine that made them. Without any report there is nothing to hold.

use std::fs;
use std::path::{Path, PathBuf};

use vervet_lab::present::{report_html, report_page};
use vervet_lab::record::{LabRecord, extract, record_to_json};
use vervet_lab::statistics::Analysis;

/// A page that is kept in a repository, in bytes.
const PAGE_BYTES_MAX: u64 = 1 << 20;

/// Folders of one machine, in two parts, so that this file does not hold them.
const PLACES: [&str; 5] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/"),
];

fn published() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    let entries = fs::read_dir(folder).unwrap();
    let pages = entries.map(|entry| entry.unwrap().path().join("report.html"));
    pages.filter(|page| page.is_file()).collect()
}

fn record(page: &Path) -> LabRecord {
    extract(&fs::read_to_string(page).unwrap()).unwrap()
}

#[track_caller]
fn check_names_no_machine(text: &str, what: &Path) {
    for place in PLACES {
        let at = text.find(place);
        let around = at.map(|at| {
            let from = text.floor_char_boundary(at.saturating_sub(60));
            &text[from..text.ceil_char_boundary(at + 60)]
        });
        assert_eq!(around, None, "{place} in {}", what.display());
    }
}

#[test]
fn reports_name_no_folder_and_no_host() {
    for page in published() {
        let record = record(&page);
        let json = String::from_utf8(record_to_json(&record).unwrap()).unwrap();
        check_names_no_machine(&json, &page);
        for beside in ["report.html", "report.md"] {
            let path = page.with_file_name(beside);
            check_names_no_machine(&fs::read_to_string(&path).unwrap(), &path);
        }
        assert_eq!(record.head.environment.value("host name"), None);
    }
}

#[test]
fn reports_are_small_and_say_the_same_again() {
    for page in published() {
        assert!(fs::metadata(&page).unwrap().len() <= PAGE_BYTES_MAX);
        let record = record(&page);
        assert!(
            record.ended_unix_ms.is_some(),
            "{}: the lab was interrupted",
            page.display()
        );
        let analysis = Analysis::of(&record).unwrap();
        assert!(!report_page(&record, &analysis).sections.is_empty());
        // What is drawn from the record of the page carries that record on, as it is.
        let again = report_html(&record, &analysis).unwrap();
        assert_eq!(extract(&again).unwrap(), record);
    }
}
