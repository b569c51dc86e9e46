//! How documents and findings are shown.

use crate::common::{Document, read};
use serde_json::json;
use vervet_config::{Documents, Style, render_json, render_text, show_json, show_text};

const TEXT: &str = "workers = 2\ntrusted = ['a\"b', 'c$${d}']\n[log]\nmain = 'a.log'\n\"odd name\" = 'b.log'\n[limits]\n\
                    connections = 7\n[[site]]\nroot = '/srv/a'\nhosts = ['a.example']\ncors = '*'\n[[site]]\nroot = '/srv/b'\n";

#[test]
fn shows_each_directive_with_its_origin() {
    let variables = |name: &str| (name == "VERVET_WORKERS").then(|| "3".to_owned());
    let mut documents = Documents::new(&variables);
    documents.add(
        "vervet.toml",
        "trusted = ['a']\n[[site]]\nroot = '/srv'\ncors = '*'\n[log]\na = '/a'\n",
    );
    documents.flag("trusted", "--trusted", "x");
    let reading = documents.read::<Document>();
    let shown = show_text(reading.value.as_ref().unwrap(), &reading.sources);
    let expected = "\
include = []                             # default
workers = 3                              # environment VERVET_WORKERS
trusted = [\"x\"]                          # flag --trusted
heard = []                               # default

[limits]                                 # default
content = \"1MiB\"                         # default
overload = \"reject\"                      # default
share = 0.5                              # default
# not set: connections

[log.a]
file = \"/a\"                              # vervet.toml:6
level = -1                               # default

[[site]]
hosts = []                               # default
ports = [80, 443]                        # default
root = \"/srv\"                            # vervet.toml:3
default = false                          # default
# not set: type

[site.cors]
origins = [\"*\"]                          # vervet.toml:4
max_age = \"10m\"                          # default
";
    assert_eq!(shown, expected);
}

#[test]
fn what_is_shown_reads_as_the_same_document() {
    let first = read(TEXT);
    let shown = show_text(first.value.as_ref().unwrap(), &first.sources);
    let second = read(&shown);
    assert!(second.diagnostics.is_empty(), "{shown}\n{}", second.to_text());
    assert_eq!(first.value, second.value, "{shown}");
}

#[test]
fn shows_json_with_origins() {
    let reading = read("workers = 2\n[[site]]\nroot = '/srv'\n");
    let shown = show_json(reading.value.as_ref().unwrap(), &reading.sources);
    let place = json!({"kind": "file", "file": "vervet.toml", "line": 1, "column": 11});
    assert_eq!(shown["workers"], json!({"value": 2, "origin": place}));
    assert_eq!(
        shown["limits"]["value"]["share"],
        json!({"value": 0.5, "origin": {"kind": "default"}})
    );
    assert_eq!(shown["limits"]["value"]["connections"]["value"], json!(null));
    assert_eq!(shown["site"]["value"][0]["root"]["value"], json!("/srv"));
    assert_eq!(shown["log"]["value"], json!({}));
}

#[test]
fn findings_are_coloured_on_request() {
    let reading = read("wrokers = 2\n");
    let text = |style| render_text(&reading.diagnostics, &reading.sources, style);
    assert!(!text(Style::Plain).contains('\x1b'));
    assert!(text(Style::Coloured).contains("\x1b[1m\x1b[91merror"), "{:?}", text(Style::Coloured));
}

#[test]
fn findings_as_json_have_their_places() {
    let reading = read("\"wörkers\" = 2\n[limits]\noverload = 'rejekt'\n[limits]\n");
    let found = render_json(&reading.diagnostics, &reading.sources);
    let place = |line, column, length| json!({"file": "vervet.toml", "line": line, "column": column, "length": length});
    let is_at = |finding: &serde_json::Value, place: serde_json::Value| {
        let place = place.as_object().unwrap();
        assert!(place.iter().all(|(name, value)| finding[name] == *value), "{finding}");
    };
    is_at(&found[0], place(1, 1, 9));
    is_at(&found[1], place(3, 12, 8));
    assert_eq!(found[1]["message"], "`overload` cannot be `rejekt`");
    assert_eq!(found[1]["nearest"], "reject");
    assert_eq!(found[1]["expected"], "one of `\"reject\"`, `\"wait\"`");
    assert_eq!(found[1]["severity"], "error");
    is_at(&found[2], place(4, 2, 6));
    assert_eq!(found[2]["notes"][0]["message"], "first defined here");
    is_at(&found[2]["notes"][0], place(2, 2, 6));
}
