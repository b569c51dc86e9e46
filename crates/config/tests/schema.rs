//! The schema accepts and rejects the same documents as the reader.

use crate::common::{Document, environment, read};
use jsonschema::Validator;
use serde_json::Value as Json;
use vervet_config::{Section, schema};

fn validator() -> Validator {
    let schema = schema(Document::declaration());
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// A document of TOML as the JSON that an editor holds against the schema.
fn json(text: &str) -> Json {
    text.parse::<toml::Table>().map(|table| serde_json::to_value(table).unwrap()).unwrap()
}

/// Both the reader and the schema take a document, or neither does.
#[track_caller]
fn check(text: &str, is_taken: bool) {
    let reading = read(text);
    assert_eq!(reading.value.is_some(), is_taken, "{text}\n{}", reading.to_text());
    let validator = validator();
    let instance = json(text);
    let errors: Vec<_> = validator.iter_errors(&instance).map(|error| error.to_string()).collect();
    assert_eq!(errors.is_empty(), is_taken, "{text}\n{errors:#?}");
}

#[test]
fn refuses_unknown_directives() {
    check("worker = 2", false);
    check("[limits]\nx = 1", false);
    check("[[site]]\nroot = 'a'\ncors = { x = 1 }", false);
    check("[log.a]\nfile = 'a'\nx = 1", false);
}

#[test]
fn refuses_wrong_types() {
    check("workers = true", false);
    check("workers = 1.5", false);
    check("trusted = 5", false);
    check("trusted = ['a', 5]", false);
    check("limits = 'x'", false);
    check("site = { root = 'a' }", false);
    check("[[site]]\nroot = 'a'\ncors = 5", false);
    check("[[site]]\nroot = 'a'\ndefault = 'yes'", false);
    check("[log]\na = 5", false);
}

#[test]
fn rejects_values_out_of_bounds() {
    check("workers = 0", false);
    check("workers = 65", false);
    check("[limits]\nconnections = 0", false);
    check("[limits]\nshare = 1.5", false);
    check("[[site]]\nroot = 'a'\nports = [80, 0]", false);
    check("[[site]]\nroot = 'a'\nports = 0", false);
    check("[log.a]\nfile = 'a'\nlevel = 9223372036854775807", true);
}

#[test]
fn refuses_wrong_words_times_and_sizes() {
    check("[limits]\noverload = 'x'", false);
    check("[limits]\ncontent = '1k'", false);
    check("[limits]\ncontent = -1", false);
    check("[[site]]\nroot = 'a'\ncors = { max_age = 5 }", false);
    check("[[site]]\nroot = 'a'\ncors = { max_age = '5' }", false);
}

#[test]
fn rejects_missing_required_directives() {
    check("[[site]]\nhosts = 'a'", false);
    check("[log.a]\nlevel = 1", false);
}

#[test]
fn takes_all_forms() {
    check("", true);
    check("workers = 2\ntrusted = ['a']\ninclude = 'b'", true);
    check("[limits]\ncontent = 1024\nconnections = 1\noverload = 'wait'\nshare = 1", true);
    check("[limits]\ncontent = '64KiB'\nshare = 0.25", true);
    check("[[site]]\nroot = 'a'\nhosts = 'one'\nports = 80\ntype = 'x'", true);
    check("[[site]]\nroot = 'a'\nhosts = ['one']\nports = [80]\ncors = '*'", true);
    check("[[site]]\nroot = 'a'\ncors = ['a', 'b']", true);
    check("[[site]]\nroot = 'a'\n[site.cors]\norigins = 'a'\nmax_age = '1h30m'", true);
    check("[log]\na = 'b'\nc = { file = 'd' }", true);
}

#[test]
fn takes_variables_for_numbers_words_and_times() {
    assert_eq!(environment("WORKERS").as_deref(), Some("4"));
    check("workers = '${WORKERS}'\ntrusted = '${HOST}'", true);
    check(
        "[limits]\nconnections = '${WORKERS}'\noverload = '${NONE:-wait}'\ncontent = '${NONE:-1KiB}'",
        true,
    );
    check(
        "[[site]]\nroot = '${HOST}'\ndefault = '${NONE:-true}'\ncors = { max_age = '${WORKERS}s' }",
        true,
    );
}

#[test]
fn contains_documentation_defaults_and_bounds() {
    let schema = schema(Document::declaration());
    let workers = &schema["properties"]["workers"];
    assert_eq!(workers["description"], "How many workers there are. From 1 to 64.");
    assert_eq!(workers["default"], 1);
    assert_eq!(workers["oneOf"][0]["maximum"], 64);
    let limits = &schema["$defs"]["Limits"];
    assert_eq!(limits["description"], "What one client may cost.");
    let words = &limits["properties"]["overload"]["oneOf"];
    assert_eq!(words[0]["const"], "reject");
    assert_eq!(words[0]["description"], "503 with Retry-After.");
    assert_eq!(schema["$defs"]["Site"]["required"], serde_json::json!(["root"]));
    assert_eq!(schema["$defs"]["Log"]["oneOf"][0]["properties"]["level"]["default"], -1);
}

vervet_config::section! {
    /// Rules.
    struct Rule short(names) {
        /// Names.
        names: Vec<String>,
    }
}

vervet_config::section! {
    /// Lists in lists.
    struct Lists {
        /// Rules.
        rules: Vec<Rule>,
    }
}

#[test]
fn takes_short_forms_of_lists_in_lists() {
    let schema = schema(Lists::declaration());
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (text, is_taken) in [
        ("rules = 'a'", true),
        ("rules = ['a', { names = 'b' }, ['c', 'd']]", true),
        ("rules = 5", false),
        ("rules = { names = 'a' }", false),
    ] {
        let reading = vervet_config::read_text::<Lists>("lists.toml", text);
        assert_eq!(reading.value.is_some(), is_taken, "{text}\n{}", reading.to_text());
        assert_eq!(validator.is_valid(&json(text)), is_taken, "{text}");
    }
}
