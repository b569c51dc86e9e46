//! Invalid documents, each with the exact text of its findings in `tests/wrong`.
//! `VERVET_REGENERATE=1` writes them.
//!
//! Lines at the beginning of a document give what does not stand in files:
//! `#! variable NAME=VALUE`, and `#! flag --workers=VALUE` for the directive of that name.

use std::path::Path;

use crate::common::Document;
use vervet_config::{Documents, Include};
use vervet_testkit::check_corpus;

/// The fewest documents, so that none is lost unnoticed.
const DOCUMENTS_MIN: usize = 50;

#[test]
fn findings_are_exact() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let count = check_corpus(&folder, "toml", findings);
    assert!(count >= DOCUMENTS_MIN, "{count}");
}

fn findings(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let options = || text.lines().map_while(|line| line.strip_prefix("#! "));
    let variables: Vec<(&str, &str)> =
        options().filter_map(|option| option.strip_prefix("variable ")?.split_once('=')).collect();
    let lookup = |name: &str| {
        let variable = variables.iter().find(|(known, _)| *known == name);
        variable.map(|(_, value)| (*value).to_owned())
    };
    let mut documents = Documents::new(&lookup);
    documents.add(file.file_name().unwrap().to_str().unwrap(), bytes);
    for option in options().filter_map(|option| option.strip_prefix("flag ")) {
        let (flag, value) = option.split_once('=').unwrap();
        documents.flag(flag.trim_start_matches('-'), flag, value);
    }
    while let Some(include) = documents.wanted() {
        supply(&mut documents, &include, file.parent().unwrap());
    }
    let reading = documents.read::<Document>();
    assert!(reading.value.is_none(), "{} is taken", file.display());
    reading.to_text()
}

/// Gives the files of an include; `*` stands for a whole name here.
fn supply(documents: &mut Documents<'_>, include: &Include, folder: &Path) {
    let (within, name) = (include.pattern.parent().unwrap(), include.pattern.file_name().unwrap());
    let Ok(entries) = std::fs::read_dir(folder.join(within)) else {
        return documents.refuse(include, "there is no such folder");
    };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|entry| name == "*" || entry == name);
    names.sort();
    let files = names.into_iter().map(|name| {
        let path = within.join(name);
        (path.to_str().unwrap().to_owned(), std::fs::read(folder.join(&path)).unwrap())
    });
    documents.supply(include, files.collect());
}
