//! An action or a filter is its own file and one line of a registry: no other file of the sources
//! names its section.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;

const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The begin or end of a word in ASCII: the server needs no Unicode tables of the `regex` crate.
const WORD_END: &str = r"(?-u:\b)";

/// Files that name a section because another directive has the same form.
const OTHER_USES: [(&str, &[&str]); 2] = [
    // The `root` of a site is served as `files` are.
    ("ServeFiles", &["plan/routes.rs", "settings/site.rs"]),
    // A listener has `access` rules, too.
    ("Access", &["plan/planned.rs", "settings/listen.rs"]),
];

/// All sources by their paths.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![Path::new(SRC).to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(SRC).unwrap().to_string_lossy();
                found.insert(name.into_owned(), std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Whether a source imports the section of a path, from its module or from a module next to its
/// own.
fn names(source: &str, path: &str) -> bool {
    let (module, section) = path.rsplit_once("::").unwrap();
    let last = module.rsplit("::").next().unwrap();
    let import =
        format!(r"{WORD_END}(?:{last}|super)::(?:\{{[^}}]*{WORD_END})?{section}{WORD_END}");
    Regex::new(&import).unwrap().is_match(source)
}

#[track_caller]
fn check(registry: &str, expected: &[&str]) {
    let sources = sources();
    let entry = r"(?m)^ +([a-z_]+): (?:Vec<)?\$crate::([a-z_:]+::([A-Z][A-Za-z]+))>?,$";
    let entries: Vec<[&str; 3]> = Regex::new(entry)
        .unwrap()
        .captures_iter(&sources[registry])
        .map(|found| found.extract().1)
        .collect();
    let directives: Vec<_> = entries.iter().map(|[directive, ..]| *directive).collect();
    assert_eq!(directives, expected);
    for [directive, path, section] in entries {
        let declaration = Regex::new(&format!("pub struct {section}{WORD_END}")).unwrap();
        let is_own = |source: &str| declaration.is_match(source);
        let other = OTHER_USES.iter().find(|(known, _)| *known == section);
        let other = other.map_or(&[][..], |(_, files)| files);
        let folder = path.rsplit_once("::").unwrap().0.replace("::", "/");
        let reexport = format!("{folder}/mod.rs");
        let strangers: Vec<_> = sources
            .iter()
            .filter(|(_, source)| names(source, path) && !is_own(source))
            .map(|(file, _)| file.as_str())
            .filter(|file| ![registry, &reexport].contains(file) && !other.contains(file))
            .collect();
        assert!(strangers.is_empty(), "`{directive}` is named by {strangers:?}");
    }
}

#[test]
fn an_action_touches_its_file_and_the_registry() {
    let actions =
        ["files", "alias", "user_folders", "page", "respond", "status", "redirect", "rewrite"];
    check("actions/mod.rs", &actions);
}

#[test]
fn a_filter_touches_its_file_and_the_registry() {
    let filters = [
        "access",
        "deny",
        "referer",
        "cors",
        "rate",
        "concurrency",
        "auth",
        "security",
        "fields",
        "compression",
    ];
    check("filters/mod.rs", &filters);
}
