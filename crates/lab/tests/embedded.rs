//! Records within pages: they come back whole, a page does not grow without bound, and damage is said.

mod common;

use std::fs;

use common::{Lab, closed, run};
use vervet_lab::record::{
    EMBEDDED_BYTES_MAX, Entry, Journal, embed, embed_within, extract, open_figures, open_record,
    write_record,
};
use vervet_testkit::TempTree;

fn lab() -> Lab {
    let mut lab = Lab::new(&["a", "</script><b>"]).rates("a", 10, &[100.0, 101.0]);
    lab.record.head.lab.text = "# </script>\n".repeat(100);
    lab
}

#[track_caller]
fn check_refused(page: &str, says: &str) {
    let error = extract(page).unwrap_err().to_string();
    assert!(error.contains(says), "{error:?} does not say {says:?}");
}

#[test]
fn a_record_comes_back_from_its_page() {
    let record = lab().record;
    let embedded = embed(&record).unwrap();
    assert!(embedded.has_runs);
    assert!(embedded.html.lines().all(|line| line.len() <= 120));
    let page = format!(
        "<!doctype html><script>1</script>{}<p>end</p>",
        embedded.html
    );
    assert_eq!(extract(&page).unwrap(), record);
    assert_eq!(
        extract(&page.replace('\n', "\r\n")).unwrap(),
        record,
        "as editors change lines"
    );
}

#[test]
fn a_page_does_not_grow_without_bound() {
    let record = lab().record;
    let whole = embed(&record).unwrap().html.len();
    assert!(whole < EMBEDDED_BYTES_MAX);
    assert!(embed_within(&record, whole).unwrap().has_runs);
    let bounded = embed_within(&record, whole - 1).unwrap();
    assert!(!bounded.has_runs && bounded.html.len() < whole);
    let found = extract(&bounded.html).unwrap();
    assert_eq!(found.head, record.head, "enough to run it again");
    assert_eq!(found.steps.len(), record.steps.len());
    assert!(found.steps.iter().all(|step| step.run.is_none()));
}

#[test]
fn damage_is_said() {
    let html = embed(&lab().record).unwrap().html;
    check_refused("<p>a page</p>", "there is no record in it");
    check_refused(&html[..html.len() - 20], "it ends within the record");
    check_refused(&html[..30], "there is no record in it");
    let begin = html.find('>').unwrap() + 2;
    check_refused(
        &format!("{}*{}", &html[..begin], &html[begin + 1..]),
        "damaged",
    );
    check_refused(
        &format!("{}AAAA{}", &html[..begin], &html[begin + 4..]),
        "damaged",
    );
    check_refused(&format!("{}{}", &html[..begin], "</script>"), "damaged");
}

#[test]
fn records_are_found_wherever_they_are() {
    let tree = TempTree::new();
    let record = lab().record;
    write_record(&tree.join("lab.json"), &record).unwrap();
    let page = tree.write("report.html", embed(&record).unwrap().html);
    let journal = tree.join("journal.jsonl");
    let mut lines = Journal::create(&journal, &record.head).unwrap();
    for step in &record.steps {
        lines.append(&Entry::Step(Box::new(step.clone()))).unwrap();
    }
    for path in [tree.path(), &tree.join("lab.json"), &page, &journal] {
        assert_eq!(open_figures(path).unwrap(), record, "{}", path.display());
    }
    fs::remove_file(tree.join("lab.json")).unwrap();
    assert_eq!(
        open_record(tree.path()).unwrap(),
        record,
        "an interrupted lab has its journal"
    );
    fs::remove_file(&journal).unwrap();
    let error = open_record(tree.path()).unwrap_err().to_string();
    assert!(
        error.contains("neither lab.json nor journal.jsonl"),
        "{error}"
    );
}

#[test]
fn a_page_without_figures_is_no_source_of_figures() {
    let tree = TempTree::new();
    let bounded = embed_within(&lab().record, 0).unwrap().html;
    let page = tree.write("report.html", bounded);
    assert!(open_record(&page).is_ok());
    let error = open_figures(&page).unwrap_err().to_string();
    assert!(error.contains("give the lab.json beside it"), "{error}");
}

#[test]
fn a_lab_in_which_nobody_was_ready_is_no_such_page() {
    let tree = TempTree::new();
    let lab = Lab::new(&["a"]).step("a", closed(1), |step| {
        step.outcome = vervet_lab::record::Outcome::NotReady {
            reason: "5 s".to_owned(),
        };
    });
    let path = tree.join("lab.json");
    write_record(&path, &lab.record).unwrap();
    assert!(open_figures(&path).is_ok());
    // One run is enough.
    let lab = lab.run("a", closed(1), &run(1.0, &[(1.0, 1)]));
    write_record(&path, &lab.record).unwrap();
    assert!(open_figures(&path).is_ok());
}
