//! Editors take what the server takes: the schema that is committed fits every configuration that
//! the documentation and the packages show, and finds mistakes.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value as Json;

/// Pages whose blocks of `toml` are configurations, whole or in part.
const PAGES: &[&str] = &[
    "README.md",
    "docs/guide.md",
    "docs/logs.md",
    "docs/migrate-from-nginx.md",
    "docs/protect.md",
];

/// Configurations.
const FILES: &[&str] = &["examples/pages/vervet.toml", "packaging/container/vervet.toml"];

fn read(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(file)).unwrap()
}

fn validator() -> Validator {
    let schema = serde_json::from_str(&read("docs/reference/vervet.schema.json")).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn blocks(page: &str) -> Vec<String> {
    let parts = page.split("```toml\n").skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

fn errors(validator: &Validator, text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap();
    let document: Json = serde_json::to_value(table).unwrap();
    let errors = validator.iter_errors(&document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn mistakes_are_found() {
    let validator = validator();
    for text in [
        "lisen = \"127.0.0.1:8080\"",
        "workers = \"many\"",
        "[[site]]\nrout = []",
        "[[site]]\n[[site.route]]\nstatus = \"four hundred\"",
    ] {
        assert!(!errors(&validator, text).is_empty(), "{text}");
    }
}

#[test]
fn documented_files_fit_the_schema() {
    let validator = validator();
    let pages = PAGES.iter().flat_map(|page| blocks(&read(page)));
    let texts: Vec<_> = pages.chain(FILES.iter().map(|file| read(file))).collect();
    assert!(texts.len() >= 20, "{}", texts.len());
    for text in texts {
        assert_eq!(errors(&validator, &text), Vec::<String>::new(), "{text}");
    }
}
