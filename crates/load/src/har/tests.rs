//! Tests of recordings: what is refused, what is left out, and that what is kept runs.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::request::{Common, Url};
use crate::scenario::{Inputs, Scenario};
use crate::script::{Answer, Scripts as _, Step, Turn, Verdict};
use crate::share::Share;

/// An entry that began so many milliseconds after the first and took ten.
fn entry(at: u32, method: &str, url: &str, status: u16) -> Value {
    json!({
        "startedDateTime": format!("2026-11-22T10:00:{:02}.{:03}Z", at / 1000, at % 1000),
        "time": 10.0,
        "request": {
            "method": method, "url": url, "httpVersion": "h2",
            "headers": [
                { "name": ":authority", "value": "x" },
                { "name": "User-Agent", "value": "Browser/1" },
                { "name": "Sec-Fetch-Mode", "value": "navigate" },
                { "name": "Connection", "value": "keep-alive" },
                { "name": "Cookie", "value": "secret=1" },
            ],
        },
        "response": { "status": status, "content": { "mimeType": "text/html" } },
    })
}

fn with(mut entry: Value, pointer: &str, value: Value) -> Value {
    let (above, key) = pointer.rsplit_once('/').unwrap();
    entry.pointer_mut(above).unwrap()[key] = value;
    entry
}

fn har(entries: &[Value]) -> Vec<u8> {
    let pages = json!([{ "id": "p1", "title": "Home\n# page" }, { "id": "p2", "title": "Basket" }]);
    let log = json!({ "log": { "version": "1.2", "pages": pages, "entries": entries } });
    serde_json::to_vec_pretty(&log).unwrap()
}

fn check_wrong(text: &[u8], hosts: Hosts, expected: &[&str]) {
    let findings = convert("r.har", text, hosts).unwrap_err();
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

fn parse(document: &str) -> Scenario {
    let base = Url::parse("http://localhost:8080").unwrap();
    let inputs = Inputs {
        common: Common { base: Some(&base), ..Common::default() },
        feed: None,
        seed: 0,
        share: Share::WHOLE,
        read: &mut |_| Err("no file is named".to_owned()),
    };
    let mut reading = Scenario::read("r.toml", document, inputs);
    let scenario = reading.value.take();
    scenario.unwrap_or_else(|| panic!("{}\n{document}", reading.to_text()))
}

#[test]
fn refuses_invalid_recordings() {
    check_wrong(
        b"",
        Hosts::First,
        &["r.har:1:0: not a valid HAR 1.2 document: EOF while parsing a value"],
    );
    check_wrong(
        b"{\"log\":\n {\"pages\": []}}",
        Hosts::First,
        &["r.har:2:14: not a valid HAR 1.2 document: missing field `entries`"],
    );
    check_wrong(&har(&[]), Hosts::First, &["r.har: 0 entries; expected 1 to 10000"]);
    check_wrong(
        &har(&[
            with(entry(0, "GET", "http://a/", 200), "/startedDateTime", json!("now")),
            entry(0, "GET", "http://a:b/", 200),
        ]),
        Hosts::First,
        &[
            "r.har: entry 1: invalid startedDateTime \"now\": expected a time such as 2026-11-22T10:00:00.000Z",
            "r.har: entry 2: \"http://a:b/\": invalid host or port \"a:b\": expected HOST, HOST:PORT or [ADDRESS]:PORT",
        ],
    );
    check_wrong(
        &har(&[entry(0, "GET", "data:text/html,x", 200)]),
        Hosts::First,
        &["r.har: no entry can be replayed"],
    );
    let many = vec![entry(0, "GET", "http://a/", 200); ENTRIES_MAX + 1];
    check_wrong(&har(&many), Hosts::First, &["r.har: 10001 entries; expected 1 to 10000"]);
}

#[test]
fn other_hosts_are_left_out_or_refused() {
    let text = har(&[
        entry(0, "GET", "https://shop/", 200),
        entry(0, "GET", "https://ads/", 200),
        entry(0, "GET", "https://ads/x", 200),
        entry(0, "GET", "wss://shop/", 101),
        entry(0, "GET", "https://shop/y", 0),
    ]);
    let converted = convert("r.har", &text, Hosts::First).unwrap();
    assert_eq!(
        converted.notes,
        [
            "1 Cookie headers are left out: each user gets its own cookies",
            "1 entries of WebSockets are left out",
            "2 entries of ads are left out",
            "1 entries without a response are left out",
        ]
    );
    let message = "r.har: ads is not shop: a run has one target host (leave out --single-host to skip other hosts)";
    check_wrong(&text, Hosts::All, &[message]);
}

/// A visit to a shop: pages with resources, a form, data for scripts, a redirect.
fn shop() -> Vec<u8> {
    let url = |path: &str| format!("https://shop.example{path}");
    let on = |page: &str, entry: Value| with(entry, "/pageref", json!(page));
    let picture = |at, path: &str| {
        let status = if at == 30 { 304 } else { 200 };
        let entry = entry(at, "GET", &url(path), status);
        on("p1", with(entry, "/response/content/mimeType", json!("image/png")))
    };
    let mut entries = vec![on("p1", entry(0, "GET", &url("/?q={a}"), 200))];
    entries.extend((1..=15).map(|n| picture(n * 10, &format!("/{n}.png"))));
    let post = on("p1", entry(1160, "POST", &url("/login"), 302));
    let form = json!({
        "mimeType": "application/x-www-form-urlencoded", "text": "user=ann&word=a%20b",
        "params": [{ "name": "user", "value": "ann" }, { "name": "word", "value": "a%20b" }],
    });
    entries.push(with(post, "/request/postData", form));
    entries.push(on("p2", entry(1180, "GET", &url("/basket"), 200)));
    let api = on("p2", entry(4190, "PUT", &url("/api/items/3"), 201));
    let data = json!({ "mimeType": "application/json", "text": "{\"n\": {\"a\": 1}}\n" });
    let api = with(api, "/request/postData", data);
    let headers = json!([
        { "name": "user-agent", "value": "Browser/1" }, { "name": "User-Agent", "value": "Browser/1" },
        { "name": "Content-Type", "value": "application/json" }, { "name": "Content-Length", "value": "16" },
    ]);
    entries.push(with(api, "/request/headers", headers));
    entries.push(on("p2", entry(4500, "GET", &url("/api/items"), 200)));
    // Recorders write entries in the order in which they ended.
    entries.reverse();
    har(&entries)
}

#[test]
fn a_recording_of_twenty_requests_becomes_a_document() {
    let converted = convert("shop.har", &shop(), Hosts::First).unwrap();
    let pictures: Vec<String> = (1..=15).map(|n| format!("  \"/{n}.png\",\n")).collect();
    let pictures = pictures.concat();
    let expected = format!(
        "# Converted from shop.har.\n\
         # 4 Cookie headers are left out: each user gets its own cookies\n\n\
         base = \"http://shop.example\"\n\n\
         [[scenario]]\n\n\
         # Home # page\n[[scenario.step]]\nname = \"GET /\"\nrequest = \"GET /?q={{{{a}}\"\n\
         fields = {{ User-Agent = \"Browser/1\" }}\nresources = [\n{pictures}]\n\
         expect = {{ status = 200 }}\nthink = \"1000ms\"\n\n\
         [[scenario.step]]\nname = \"POST /login\"\nrequest = \"POST /login\"\n\
         fields = {{ User-Agent = \"Browser/1\" }}\nform = {{ user = \"ann\", word = \"a b\" }}\n\
         expect = {{ status = 302 }}\n\n\
         # Basket\n[[scenario.step]]\nname = \"GET /basket\"\nrequest = \"GET /basket\"\n\
         fields = {{ User-Agent = \"Browser/1\" }}\nexpect = {{ status = 200 }}\nthink = \"3000ms\"\n\n\
         [[scenario.step]]\nname = \"PUT /api/items/3\"\nrequest = \"PUT /api/items/3\"\n\
         fields = {{ user-agent = \"Browser/1, Browser/1\", Content-Type = \"application/json\" }}\n\
         content = \"\"\"\n{{{{\"n\": {{{{\"a\": 1}}}}\n\"\"\"\n\
         expect = {{ status = 201 }}\nthink = \"300ms\"\n\n\
         [[scenario.step]]\nname = \"GET /api/items\"\nrequest = \"GET /api/items\"\n\
         fields = {{ User-Agent = \"Browser/1\" }}\nexpect = {{ status = 200 }}\n"
    );
    assert_eq!(converted.document, expected);
}

#[test]
fn a_recording_of_twenty_requests_runs() {
    let converted = convert("shop.har", &shop(), Hosts::First).unwrap();
    let scenario = parse(&converted.document);
    let mut script = scenario.user(0);
    let (mut asked, mut waited) = (Vec::new(), Duration::ZERO);
    while asked.len() < 20 {
        let turn = Turn { elapsed: waited, answer: None };
        let mut out = Vec::new();
        match script.next(&turn, &mut out) {
            Step::End => panic!("ended after {asked:?}"),
            Step::Wait(time) => waited += time,
            Step::Send(_) => {
                let text = String::from_utf8(out).unwrap();
                let line = text.lines().next().unwrap().replace(" HTTP/1.1", "");
                let status = match line.split('/').next().unwrap() {
                    "POST " => 302,
                    "PUT " => 201,
                    _ => 200,
                };
                let answer = Answer { status, fields: b"", content: b"", content_bytes: 0 };
                assert_eq!(script.judge(&answer), Verdict::Passed, "{line}");
                asked.push((line, text));
            }
        }
    }
    assert_eq!(asked[0].0, "GET /?q={a}");
    assert_eq!(asked[15].0, "GET /15.png");
    assert!(asked[16].1.ends_with("\r\n\r\nuser=ann&word=a%20b"), "{}", asked[16].1);
    assert!(asked[18].1.ends_with("\r\n\r\n{\"n\": {\"a\": 1}}\n"), "{}", asked[18].1);
    assert!(asked[19].1.starts_with("GET /api/items HTTP/1.1\r\nHost: localhost:8080\r\n"));
    assert!(asked.iter().all(|(_, text)| !text.contains("secret")));
    assert_eq!(waited, Duration::from_millis(4300));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = convert("r.har", &text, Hosts::First);
    }

    #[test]
    fn what_is_converted_can_be_read(
        target in "/[ -~é]{0,20}",
        name in "[A-Za-z\"\\\\. -]{1,9}",
        value in "\\PC{0,20}",
        content in "(\\PC|\n|\r|'|\"){0,40}",
        title in ".{0,20}",
        time in any::<f64>(),
    ) {
        let entry = entry(0, "POST", &format!("http://a{target}"), 200);
        let entry = with(entry, "/time", json!(time));
        let entry = with(entry, "/request/headers", json!([{ "name": name, "value": value }]));
        let params = json!([{ "name": name, "value": value }, { "name": "x", "value": content }]);
        let form = json!({ "mimeType": "application/x-www-form-urlencoded", "params": params });
        let text = json!({ "mimeType": "text/plain", "text": content });
        let entries = vec![with(entry.clone(), "/request/postData", form), with(entry, "/request/postData", text)];
        let log = json!({ "log": { "pages": [{ "id": "", "title": title }], "entries": entries } });
        // A host with a strange path may be refused; what is taken has to run.
        if let Ok(converted) = convert("r.har", log.to_string().as_bytes(), Hosts::First) {
            parse(&converted.document);
        }
    }
}
