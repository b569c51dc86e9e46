//! What is on the disk: truncated journals, files that are not records, records of another form.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::common;
use crate::common::{Lab, head, not_ready};
use flate2::Compression;
use flate2::write::GzEncoder;
use vervet_lab::record::{
    COMPRESSED_RECORD_FILE, Journal, JournalLine, LAB_RECORD_VERSION, LabRecord, StoredRun,
    TruncatedLine, open_record, read_journal, read_record, record_from_json, record_to_json,
    write_record,
};
use vervet_testkit::TempTree;

struct Written {
    _tree: TempTree,
    path: PathBuf,
}

/// A journal with a head and two steps.
fn journal() -> Written {
    let tree = TempTree::new();
    let path = tree.path().join("journal.jsonl");
    let mut journal = Journal::create(&path, &head(&["a", "b"])).unwrap();
    for order in 0..2 {
        let step = Box::new(not_ready(order, "a"));
        journal.append(&JournalLine::Step(step)).unwrap();
    }
    Written { _tree: tree, path }
}

fn add(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

#[track_caller]
fn check_refused(path: &Path, says: &str) {
    let error = read_journal(path).unwrap_err().to_string();
    assert!(error.contains(says), "{error:?} does not say {says:?}");
}

#[test]
fn a_journal_cut_anywhere_gives_its_whole_lines() {
    let written = journal();
    let whole = fs::read(&written.path).unwrap();
    let (full, _) = read_journal(&written.path).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    for cut in 0..whole.len() {
        fs::write(&written.path, &whole[..cut]).unwrap();
        let lines = ends.iter().filter(|&&end| end < cut).count();
        if lines == 0 {
            check_refused(&written.path, "no step was run");
            continue;
        }
        let (record, torn) = read_journal(&written.path).unwrap();
        assert_eq!(record.steps, full.steps[..lines - 1], "cut at {cut}");
        let begin = ends[lines - 1] + 1;
        let expected = (begin < cut)
            .then_some(TruncatedLine { at: begin as u64, bytes: (cut - begin) as u64 });
        assert_eq!(torn, expected, "cut at {cut}");
    }
}

#[test]
fn a_torn_journal_goes_on_where_it_was_whole() {
    let written = journal();
    add(&written.path, b"{\"step\":{\"order\":2,\"sub");
    let (mut journal, record, torn) = Journal::resume(&written.path).unwrap();
    assert_eq!(record.steps.len(), 2);
    assert_eq!(torn.unwrap().bytes, 23);
    journal.append(&JournalLine::Step(Box::new(not_ready(2, "b")))).unwrap();
    journal.append(&JournalLine::End { ended_unix_ms: 5 }).unwrap();
    let (record, torn) = read_journal(&written.path).unwrap();
    assert_eq!(torn, None);
    let orders: Vec<u32> = record.steps.iter().map(|step| step.order).collect();
    assert_eq!(orders, [0, 1, 2]);
    assert_eq!(record.ended_unix_ms, Some(5));
}

#[test]
fn a_journal_is_not_begun_over_another() {
    let written = journal();
    let error = Journal::create(&written.path, &head(&["a"])).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn lines_that_are_none_are_told_with_their_number() {
    let written = journal();
    add(&written.path, b"nonsense\n");
    check_refused(&written.path, "line 4 of the journal is invalid");
}

#[test]
fn a_step_stands_in_a_journal_once() {
    let written = journal();
    let mut line = serde_json::to_vec(&JournalLine::Step(Box::new(not_ready(1, "b")))).unwrap();
    line.push(b'\n');
    add(&written.path, &line);
    check_refused(&written.path, "step 1 occurs twice");
}

#[test]
fn a_head_stands_in_a_journal_first_and_once() {
    let written = journal();
    let text = fs::read_to_string(&written.path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    add(&written.path, format!("{first}\n").as_bytes());
    check_refused(&written.path, "a second head");
    fs::write(&written.path, rest).unwrap();
    check_refused(&written.path, "line 1 of the journal");
}

#[test]
fn another_form_is_refused_before_it_is_read() {
    let later = LAB_RECORD_VERSION + 1;
    let written = journal();
    let line = format!("{{\"begin\":{{\"version\":{later},\"head\":7}}}}\n");
    fs::write(&written.path, line).unwrap();
    let says = format!("journal version {later}, expected {LAB_RECORD_VERSION}");
    check_refused(&written.path, &says);
    for version in [0, later] {
        let json = format!("{{\"version\":{version},\"steps\":\"other\"}}");
        let error = record_from_json(json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("use the release that wrote it"), "{error}");
    }
}

#[test]
fn what_is_no_record_is_said_to_be_none() {
    for text in ["", "[]", "{}", "<html>", "{\"version\":1}", "{\"version\":\"1\"}"] {
        let error = record_from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("invalid record of a lab"), "{text:?}: {error}");
    }
}

#[test]
fn a_record_comes_back_as_it_was_written() {
    let tree = TempTree::new();
    let path = tree.path().join("lab.json");
    let mut record = LabRecord::new(head(&["a", "<b>&\"'"]));
    record.steps.push(not_ready(0, "a"));
    write_record(&path, &record).unwrap();
    assert_eq!(read_record(&path).unwrap(), record);
    let names: Vec<_> =
        fs::read_dir(tree.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["lab.json"], "nothing else is left behind");
}

#[test]
fn a_record_that_is_not_there_is_named() {
    let error = read_record(Path::new("no/such/lab.json")).unwrap_err();
    assert!(error.to_string().starts_with("no/such/lab.json: "), "{error}");
}

#[test]
fn a_run_comes_back_when_it_is_asked_for() {
    let run = common::run(29_231.0, &[(0.4, 10)]);
    let stored = StoredRun::new(&run).unwrap();
    assert_eq!(stored.read().unwrap(), run);
    let mut step = not_ready(0, "a");
    step.run = Some(stored);
    let mut record = LabRecord::new(head(&["a"]));
    record.steps.push(step);
    let json = record_to_json(&record).unwrap();
    assert_eq!(record_from_json(&json).unwrap(), record);
}

#[test]
fn a_run_of_another_version_is_refused_when_it_is_asked_for() {
    let mut run = common::run(1.0, &[(1.0, 1)]);
    run.version = vervet_report::VERSION + 1;
    let error = StoredRun::new(&run).unwrap().read().unwrap_err();
    assert!(error.to_string().contains("the run has version"), "{error}");
}

#[test]
fn a_record_is_found_in_the_folder_of_its_lab() {
    let tree = TempTree::new();
    let record = Lab::new(&["a"]).rates("a", 10, &[100.0, 101.0]).record;
    let journal = tree.join("journal.jsonl");
    let mut lines = Journal::create(&journal, &record.head).unwrap();
    for step in &record.steps {
        lines.append(&JournalLine::Step(Box::new(step.clone()))).unwrap();
    }
    let whole = tree.join("lab.json");
    let compressed = tree.join(COMPRESSED_RECORD_FILE);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&record_to_json(&record).unwrap()).unwrap();
    fs::write(&compressed, packed.finish().unwrap()).unwrap();
    write_record(&whole, &record).unwrap();
    let check = |path: &Path| assert_eq!(open_record(path).unwrap(), record, "{}", path.display());
    for path in [&whole, &compressed, &journal] {
        check(path);
        check(tree.path());
        check(&tree.join("report.html"));
        fs::remove_file(path).unwrap();
    }
    let error = open_record(tree.path()).unwrap_err().to_string();
    assert!(error.contains("no lab.json, lab.json.gz or journal.jsonl"), "{error}");
}
