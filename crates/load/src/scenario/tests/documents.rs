//! Documents that are wrong: each mistake with its place, all at once.

use proptest::prelude::*;

use super::*;
use crate::scenario::{REDIRECTS_MAX, RESOURCES_MAX, SCENARIOS_MAX, STEPS_MAX, THINK_MAX};

fn check_wrong(text: &str, expected: &[&str]) {
    check_wrong_with(text, Some("http://h:81"), expected);
}

fn check_wrong_with(text: &str, base: Option<&str>, expected: &[&str]) {
    let findings = parse_with(text, base).unwrap_err();
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{text}");
}

/// A document of one step.
fn step(keys: &str) -> String {
    format!("[[scenario]]\n[[scenario.step]]\nrequest = \"/\"\n{keys}\n")
}

/// One mistake in a step with these keys, and its place.
fn check_step(keys: &str, expected: &str) {
    check_wrong(&step(keys), &[&format!("s.toml:{expected}")]);
}

#[test]
fn mistakes_of_the_language_are_told() {
    check_wrong(
        "a = \n[[scenario]\nb = 1\n",
        &[
            "s.toml:1:5: string values must be quoted, expected literal string",
            "s.toml:2:12: unclosed array table, expected `]`",
        ],
    );
}

#[test]
fn all_mistakes_come_at_once() {
    check_wrong_with(
        "base = 'https://h'\ncolour = 1\nscenarios = []\n[[scenario]]\nwaight = 2\nweight = 0\ncookies = 'vist'\nredirects = 21\n\
         fields = { A = 1, 'B C' = 'x' }\n\
         [[scenario.step]]\nname = 'x'\n\
         [[scenario.step]]\nrequest = 'GET /{sek}'\nthink = '3s..1s'\nform = { a = '{x}' }\ncontent = 'y'\n\
         expect = { status = 99, json = { a = 1 }, statuss = 1, contains = '' }\n\
         capture = { '1a' = { regex = '(' }, b = { }, c = { json = '/a', field = 'B' } }\n\
         resources = ['x', 3, 'http://g/']\n",
        None,
        &[
            "s.toml:1:8: https is not spoken; ask over http, where the server listens without TLS",
            "s.toml:2:1: a document has no \"colour\"; it has base, feed, fields, scenario",
            "s.toml:3:1: a document has no \"scenarios\" (did you mean \"scenario\"?)",
            "s.toml:5:1: a scenario has no \"waight\" (did you mean \"weight\"?)",
            "s.toml:6:10: weight is 0; expected 1 to 10000",
            "s.toml:7:11: \"vist\" is no way to keep cookies (did you mean \"visit\"?); expected visit, user or none",
            "s.toml:8:13: redirects is 21; expected 0 to 20",
            "s.toml:9:16: A is a number; expected a text",
            "s.toml:9:27: \"B C\" is no field name; expected letters, digits and hyphens, then a colon",
            "s.toml:10:1: a step has no request; expected request = \"GET /path\"",
            "s.toml:13:17: no variable sek (did you mean \"seq\"?); a brace that is meant as such is written {{",
            "s.toml:14:9: \"3s..1s\" is no think time; expected one such as \"2s\" or \"500ms..3s\", at most 3600 s",
            "s.toml:15:8: a step has one of content, content_file and form",
            "s.toml:17:21: expected a status such as 200, \"2xx\" or [200, 404]",
            "s.toml:17:34: \"a\" is no JSON pointer; expected one such as \"/items/0/id\"",
            "s.toml:17:43: expect has no \"statuss\" (did you mean \"status\"?)",
            "s.toml:17:67: contains is empty",
            "s.toml:18:13: \"1a\" cannot be written in braces; expected letters, digits, _ and -, a letter first",
            "s.toml:18:30: the regular expression is wrong: error: unclosed group",
            "s.toml:18:41: b: expected field, regex, field with regex, or json",
            "s.toml:18:50: c: expected field, regex, field with regex, or json",
            "s.toml:19:14: the target \"x\" does not begin with a slash",
            "s.toml:19:19: a resource is a number; expected a text",
        ],
    );
}

#[test]
fn wrong_expectations_are_told_with_what_is_right() {
    let check = check_step;
    check(
        "expect = { status = 99 }",
        "4:21: expected a status such as 200, \"2xx\" or [200, 404]",
    );
    check(
        "expect = { json = { a = 1 } }",
        "4:21: \"a\" is no JSON pointer; expected one such as \"/items/0/id\"",
    );
    check(
        "expect = { json = { '/a' = [1] } }",
        "4:28: the value is a list; expected a text, a number, true or false",
    );
    check("expect = { contains = '' }", "4:23: contains is empty");
    check(
        "expect = { statuss = 1 }",
        "4:12: expect has no \"statuss\" (did you mean \"status\"?)",
    );
    check(
        "expect = { bytes = -1 }",
        "4:20: bytes is -1; expected 0 to 18446744073709551614",
    );
    check("expect = 3", "4:10: expect is a number; expected a table");
}

#[test]
fn wrong_captures_are_told_with_what_is_right() {
    let check = check_step;
    check(
        "capture = { '1a' = { field = 'A' } }",
        "4:13: \"1a\" cannot be written in braces; expected letters, digits, _ and -, a letter first",
    );
    check(
        "capture = { a = { regex = '(' } }",
        "4:27: the regular expression is wrong: error: unclosed group",
    );
    for source in [
        "{ }",
        "{ json = '/a', field = 'B' }",
        "{ json = '/a', regex = 'B' }",
    ] {
        check(
            &format!("capture = {{ a = {source} }}"),
            "4:17: a: expected field, regex, field with regex, or json",
        );
    }
}

#[test]
fn wrong_requests_are_told_with_what_is_right() {
    let check = check_step;
    check(
        "resources = 'x'",
        "4:13: resources is a text; expected a list",
    );
    check(
        "resources = [3]",
        "4:14: a resource is a number; expected a text",
    );
    check(
        "resources = ['x']",
        "4:14: the target \"x\" does not begin with a slash",
    );
    check(
        "resources = ['http://g/']",
        "4:14: g is not h:81: one run asks one server",
    );
    check(
        "content = 'a{sek}'",
        "4:13: no variable sek (did you mean \"seq\"?); a brace that is meant as such is written {{",
    );
    check(
        "content = \"\\n{sek}\"",
        "4:11: no variable sek (did you mean \"seq\"?); a brace that is meant as such is written {{",
    );
    check(
        "content_file = 'gone'",
        "4:16: cannot read gone: no such file",
    );
    check(
        "fields = { A = 'b\tc', D = \"e\\r\\nf\" }",
        "4:27: the value of D has a control character, which would end the line",
    );
    check(
        "fields = { Content-Length = '3' }",
        "4:29: Content-Length is written by rule, from the content; leave it out",
    );
    check(
        "think = '3601s'",
        "4:9: \"3601s\" is no think time; expected one such as \"2s\" or \"500ms..3s\", at most 3600 s",
    );
    assert_eq!(THINK_MAX.as_secs(), 3600);
    assert!(parse(&step("think = '1s..3600s'")).is_ok());
}

#[test]
fn what_is_captured_later_is_not_known_yet() {
    check_wrong(
        "[[scenario]]\n[[scenario.step]]\nrequest = '/{token}'\ncapture = { token = { field = 'A' } }\n\
         [[scenario.step]]\nrequest = '/{token}'\n",
        &[
            "s.toml:3:13: no variable token; there are seq, random, uuid, user; a brace that is meant as such is written {{",
        ],
    );
}

#[test]
fn what_is_missing_is_told() {
    check_wrong_with(
        "",
        None,
        &[
            "s.toml: no server; give its URL, or write base = \"http://HOST:PORT\"",
            "s.toml: there is no scenario; expected [[scenario]] with [[scenario.step]] below it",
        ],
    );
    check_wrong(
        "[[scenario]]\nname = 'a'\n",
        &["s.toml:1:1: a scenario has no step; expected [[scenario.step]] below it"],
    );
    check_wrong(
        "[[scenario]]\nstep = []\n",
        &["s.toml:2:8: a scenario needs a step"],
    );
    check_wrong(
        "feed = { order = 'rondom' }\n[[scenario]]\nstep = [{ request = '/' }]\n",
        &[
            "s.toml:1:8: the feed has no file; expected file = \"NAME.csv\"",
            "s.toml:1:18: \"rondom\" is no order (did you mean \"random\"?); expected sequential, random or once",
        ],
    );
    check_wrong(
        "feed = { file = 'bad.csv' }\n[[scenario]]\nstep = [{ request = '/' }]\n",
        &["s.toml:1:17: bad.csv:2:1: 2 values, but 1 columns have a name"],
    );
}

#[test]
fn documents_are_bounded() {
    let most = |count: usize, name: &str| {
        let list = vec![name; count].join(", ");
        parse(&format!("[[scenario]]\nstep = [{list}]\n"))
    };
    assert!(most(STEPS_MAX, "{ request = '/' }").is_ok());
    let findings = most(STEPS_MAX + 1, "{ request = '/' }").err().unwrap();
    assert!(
        findings[0].message.starts_with("more than 10000 steps"),
        "{findings:?}"
    );
    let scenarios = |count| parse(&"[[scenario]]\nstep = [{ request = '/' }]\n".repeat(count));
    assert!(scenarios(SCENARIOS_MAX).is_ok());
    assert!(scenarios(SCENARIOS_MAX + 1).is_err());
    let resources = |count| {
        parse(&step(&format!(
            "resources = [{}]",
            vec!["'/'"; count].join(",")
        )))
    };
    assert!(resources(RESOURCES_MAX).is_ok());
    assert!(resources(RESOURCES_MAX + 1).is_err());
    let redirects = |count| {
        parse(&format!(
            "[[scenario]]\nredirects = {count}\nstep = [{{ request = '/' }}]\n"
        ))
    };
    assert!(redirects(REDIRECTS_MAX).is_ok());
    assert!(redirects(REDIRECTS_MAX + 1).is_err());
}

#[test]
fn the_server_of_the_command_line_comes_first() {
    let text = "base = 'https://shop.example'\n[[scenario]]\nstep = [{ request = '/' }]\n";
    assert_eq!(parse(text).unwrap().base().host, "h:81");
    let text = text.replace("https", "http");
    assert_eq!(parse_with(&text, None).unwrap().base().host, "shop.example");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn any_values_are_read_or_refused(
        key in "request|name|fields|content|content_file|form|think|capture|expect|resources",
        value in "'[ -&(-~]{0,20}'|[0-9]{1,25}|-1|1.5|true|2026-01-01|\\[('a'|1)?\\]|\\{ (a|json|status|regex) = ('/a'|1|\\{ a = 'b' \\}) \\}",
    ) {
        let _ = parse(&format!("[[scenario]]\n[[scenario.step]]\nrequest = '/'\n{key} = {value}\n"));
        let _ = parse(&format!("[[scenario]]\n[[scenario.step]]\n{key} = {value}\n"));
        let _ = parse(&format!("{key} = {value}\n[[scenario]]\n{key} = {value}\n"));
    }
}
