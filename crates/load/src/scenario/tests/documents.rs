//! Documents that are wrong: each mistake with its place, all at once.

use proptest::prelude::*;

use super::*;
use crate::scenario::{
    CAPTURES_MAX, Document, FIELDS_MAX, REDIRECTS_MAX, RESOURCES_MAX, SCENARIOS_MAX, STEPS_MAX,
    THINK_MAX,
};

fn check_wrong(text: &str, expected: &[&str]) {
    check_wrong_with(text, Some("http://h:81"), expected);
}

fn check_wrong_with(text: &str, base: Option<&str>, expected: &[&str]) {
    let findings = parse_with(text, base).unwrap_err();
    assert_eq!(findings, expected, "{text}");
}

/// A document of one step.
fn step(keys: &str) -> String {
    format!("[[scenario]]\n[[scenario.step]]\nrequest = \"/\"\n{keys}\n")
}

/// One mistake in a step with these keys, and its place.
fn check_step(keys: &str, expected: &str) {
    check_wrong(&step(keys), &[expected]);
}

/// Tables that are compared name by name have a limit of their own, long before the file has.
#[test]
fn header_fields_and_captures_are_bounded() {
    let table = |name: &str, keys: usize, value: &str| {
        let keys = (0..keys).map(|key| format!("k{key} = {value}\n"));
        step(&format!("[scenario.step.{name}]\n{}", keys.collect::<String>()))
    };
    assert!(parse(&table("fields", FIELDS_MAX, "'x'")).is_ok());
    let wrong = table("fields", FIELDS_MAX + 1, "'x'");
    check_wrong(&wrong, &["4:1: 257 header fields, at most 256"]);
    assert!(parse(&table("capture", CAPTURES_MAX, "{ field = 'x' }")).is_ok());
    let wrong = table("capture", CAPTURES_MAX + 1, "{ field = 'x' }");
    check_wrong(&wrong, &["4:1: the scenario captures more than 1000 values"]);
}

#[test]
fn syntax_errors_are_reported() {
    check_wrong(
        "a = \n[[scenario]\nb = 1\n",
        &[
            "1:1: unknown directive `a`; expected one of `base`, `feed`, `fields`, `scenario`",
            "1:5: missing value; expected value",
            "2:12: unclosed array table; expected `]`",
            "3:1: unknown directive `b`; expected one of `name`, `weight`, `cookies`, `redirects`, `fields`, `step`",
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
            "1:8: https is not supported: use http and a listener without TLS",
            "2:1: unknown directive `colour`; expected one of `base`, `feed`, `fields`, `scenario`",
            "3:1: unknown directive `scenarios`; did you mean `scenario`?",
            "5:1: unknown directive `waight`; did you mean `weight`?",
            "6:10: `weight` is out of bounds; expected an integer from 1 to 10000",
            "7:11: `cookies` cannot be `vist`; did you mean `visit`?",
            "8:13: `redirects` is out of bounds; expected an integer from 0 to 20",
            "9:16: `A` is given an integer; expected a text",
            "9:27: invalid header name \"B C\": expected letters, digits and hyphens, then a colon",
            "10:1: the directive `request` is missing; expected `request`, a method and target such as \"GET /path\"",
            "13:17: unknown variable sek (did you mean \"seq\"?); write a literal brace as {{",
            "14:9: `think` cannot be `3s..1s`: it ends before it begins; expected a time or range of times such as \"500ms..3s\"",
            "15:8: unknown variable x: expected one of seq, random, uuid, user; write a literal brace as {{",
            "16:11: the step has two bodies; expected only one of `content`, `content_file` and `form`",
            "17:21: `status` is not a set of status codes; expected a list of integers from 200 to 599 or ranges of statuses such as \"2xx\"",
            "17:34: `a` is not a JSON pointer; expected a pointer such as \"/items/0/id\"",
            "17:43: unknown directive `statuss`; did you mean `status`?",
            "17:67: the text is empty; expected a text of one character or more",
            "18:13: `1a` is not a valid variable name; expected letters, digits, `_` and `-`, beginning with a letter",
            "18:30: invalid regular expression: unclosed group",
            "18:41: the capture has no single source; expected `field`, `regex`, `field` with `regex`, or `json`",
            "18:50: the capture has no single source; expected `field`, `regex`, `field` with `regex`, or `json`",
            "19:14: the target `x` does not begin with a slash",
            "19:19: an element of `resources` is given an integer; expected a method and target such as \"GET /path\"",
        ],
    );
}

#[test]
fn wrong_expectations_are_reported_with_the_expected() {
    let check = check_step;
    check(
        "expect = { status = 99 }",
        "4:21: `status` is not a set of status codes; expected a list of integers from 200 to 599 or ranges of statuses such as \"2xx\"",
    );
    check(
        "expect = { json = { a = 1 } }",
        "4:21: `a` is not a JSON pointer; expected a pointer such as \"/items/0/id\"",
    );
    check(
        "expect = { json = { '/a' = [1] } }",
        "4:28: `/a` is given a list; expected a text, or a number, or `true` or `false`",
    );
    check(
        "expect = { contains = '' }",
        "4:23: the text is empty; expected a text of one character or more",
    );
    check("expect = { statuss = 1 }", "4:12: unknown directive `statuss`; did you mean `status`?");
    check("expect = { bytes = -1 }", "4:20: `bytes` cannot be -1; expected an integer, 0 or more");
    check("expect = 3", "4:10: `expect` is given an integer; expected a table");
}

#[test]
fn wrong_captures_are_reported_with_the_expected() {
    let check = check_step;
    check(
        "capture = { '1a' = { field = 'A' } }",
        "4:13: `1a` is not a valid variable name; expected letters, digits, `_` and `-`, beginning with a letter",
    );
    check("capture = { a = { regex = '(' } }", "4:27: invalid regular expression: unclosed group");
    for source in ["{ }", "{ json = '/a', field = 'B' }", "{ json = '/a', regex = 'B' }"] {
        check(
            &format!("capture = {{ a = {source} }}"),
            "4:17: the capture has no single source; expected `field`, `regex`, `field` with `regex`, or `json`",
        );
    }
}

#[test]
fn wrong_requests_are_reported_with_the_expected() {
    let check = check_step;
    check("resources = 'x'", "4:13: the target `x` does not begin with a slash");
    check(
        "resources = [3]",
        "4:14: an element of `resources` is given an integer; expected a method and target such as \"GET /path\"",
    );
    check("resources = ['x']", "4:14: the target `x` does not begin with a slash");
    check("resources = ['http://g/']", "4:14: g is not h:81: a run has one target host");
    check(
        "content = 'a{sek}'",
        "4:13: unknown variable sek (did you mean \"seq\"?); write a literal brace as {{",
    );
    check(
        "content = \"\\n{sek}\"",
        "4:11: unknown variable sek (did you mean \"seq\"?); write a literal brace as {{",
    );
    check("content_file = 'gone'", "4:16: cannot read gone: no such file");
    check(
        "fields = { A = 'b\tc', D = \"e\\r\\nf\" }",
        "4:27: the value of D has a control character",
    );
    check(
        "fields = { Content-Length = '3' }",
        "4:29: Content-Length is set automatically; leave it out",
    );
    check(
        "think = '3601s'",
        "4:9: `think` cannot be `3601s`: it is longer than 3600 s; expected a time or range of times such as \"500ms..3s\"",
    );
    assert_eq!(THINK_MAX.as_secs(), 3600);
    assert!(parse(&step("think = '1s..3600s'")).is_ok());
}

#[test]
fn later_captures_are_unknown() {
    check_wrong(
        "[[scenario]]\n[[scenario.step]]\nrequest = '/{token}'\ncapture = { token = { field = 'A' } }\n\
         [[scenario.step]]\nrequest = '/{token}'\n",
        &[
            "3:13: unknown variable token: expected one of seq, random, uuid, user; write a literal brace as {{",
        ],
    );
}

#[test]
fn missing_parts_are_reported() {
    check_wrong_with(
        "",
        None,
        &[
            "1:1: the URL of the server is missing; expected `base = \"http://HOST:PORT\"`, or a URL on the command line",
            "1:1: the file has 0 scenarios; expected 1 to 100, each under `[[scenario]]`",
        ],
    );
    check_wrong(
        "[[scenario]]\nname = 'a'\n",
        &["1:1: the scenario has no step; expected `[[scenario.step]]` below it"],
    );
    check_wrong(
        "[[scenario]]\nstep = []\n",
        &["1:1: the scenario has no step; expected `[[scenario.step]]` below it"],
    );
    check_wrong(
        "feed = { order = 'rondom' }\n[[scenario]]\nstep = [{ request = '/' }]\n",
        &[
            "1:8: the directive `file` is missing; expected `file`, a text",
            "1:18: `order` cannot be `rondom`; did you mean `random`?",
        ],
    );
    check_wrong(
        "feed = { file = 'bad.csv' }\n[[scenario]]\nstep = [{ request = '/' }]\n",
        &["1:17: bad.csv:2:1: 2 values, but 1 columns"],
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
    assert!(findings[0].contains("more than 10000 steps"), "{findings:?}");
    let scenarios = |count| parse(&"[[scenario]]\nstep = [{ request = '/' }]\n".repeat(count));
    assert!(scenarios(SCENARIOS_MAX).is_ok());
    assert!(scenarios(SCENARIOS_MAX + 1).is_err());
    let resources =
        |count| parse(&step(&format!("resources = [{}]", vec!["'/'"; count].join(","))));
    assert!(resources(RESOURCES_MAX).is_ok());
    assert!(resources(RESOURCES_MAX + 1).is_err());
    let redirects = |count| {
        parse(&format!("[[scenario]]\nredirects = {count}\nstep = [{{ request = '/' }}]\n"))
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

#[test]
fn declarations_have_no_faults() {
    assert_eq!(vervet_config::faults::<Document>(), [""; 0]);
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
