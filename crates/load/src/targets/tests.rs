//! Tests of lists: the findings in wrong lines, and the requests of the others.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::request::Extra;
use crate::template::{Shared, Values};

fn read(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "order.json" => Ok(b"{}".to_vec()),
        _ => Err("no such file".to_owned()),
    }
}

fn parsed(text: &str, base: Option<&Url>) -> Result<(Url, Vec<Weighted>), Vec<Finding>> {
    let fields = [("X-All".to_owned(), "1".to_owned())];
    let common = Common { base, fields: &fields, ..Common::default() };
    parse("t.txt", text, &common, &mut read)
}

fn check_wrong(text: &str, expected: &[&str]) {
    let findings = parsed(text, None).unwrap_err();
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn reports_every_wrong_line() {
    check_wrong(
        "# nothing\n\n",
        &["t.txt: no requests: expected lines such as GET http://HOST:PORT/PATH"],
    );
    check_wrong(
        "Accept: a\n@order.json\n/path\nGET http://a/ x y\n  get http://a/\n\
         GET http://a/{sek}\nX: é{sek}\n@gone\nhttps://a/\nGET http://b/\n\
         http://a/ weight=0\nhttp://a/ weight=x\nB d: c\n",
        &[
            "t.txt:1:1: a header, but no request above it (a URL begins with http://)",
            "t.txt:2:1: a body, but no request above it",
            "t.txt:3:1: a path without a server: give the URL of the server, or write full URLs",
            "t.txt:4:1: expected METHOD URL, URL, or a header NAME: VALUE",
            "t.txt:5:1: invalid method get: did you mean GET? (methods are case-sensitive)",
            "t.txt:6:14: unknown variable sek (did you mean \"seq\"?); write a literal brace as {{",
            "t.txt:7:5: unknown variable sek (did you mean \"seq\"?); write a literal brace as {{",
            "t.txt:8:1: cannot read gone: no such file",
            "t.txt:9:1: https is not supported: use http and a listener without TLS",
            "t.txt:10:5: b is not a: a run has one target host",
            "t.txt:11:11: invalid weight \"0\": expected a whole number from 1 to 10000",
            "t.txt:12:11: invalid weight \"x\": expected a whole number from 1 to 10000",
            "t.txt:13:1: expected METHOD URL, URL, or a header NAME: VALUE",
        ],
    );
}

#[test]
fn lists_are_bounded() {
    let line = "http://a/\n";
    assert_eq!(parsed(&line.repeat(TARGETS_MAX), None).unwrap().1.len(), TARGETS_MAX);
    let findings = parsed(&line.repeat(TARGETS_MAX + 5), None).unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].to_string(), "t.txt:100001:1: more than 100000 requests");
}

#[test]
fn requests_have_fields_content_and_weights() {
    let text = "# shop\nhttp://a:81/\n\nPOST /orders weight=3\n  Content-Type: application/json\n\
                # content\n@order.json\nHEAD http://a:81/x\nx-all: 2\n";
    let (base, targets) = parsed(text, None).unwrap();
    assert_eq!(base.host, "a:81");
    let mut values = Values::new(Arc::new(Shared::default()), 0, 0);
    let lines = targets.iter().map(|target| {
        let mut out = Vec::new();
        target.message.render(&mut values, Extra::default(), &mut out);
        let bytes = String::from_utf8(out).unwrap().replace("\r\n", "|");
        format!("{} {}: {bytes}", target.weight, target.name)
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "1 http://a:81/: GET / HTTP/1.1|Host: a:81|X-All: 1||",
            "3 POST /orders: POST /orders HTTP/1.1|Host: a:81|X-All: 1|Content-Type: application/json|\
             Content-Length: 2||{}",
            "1 HEAD http://a:81/x: HEAD /x HTTP/1.1|Host: a:81|x-all: 2||",
        ]
    );
}

#[test]
fn paths_are_of_the_server_that_is_given() {
    let base = Url::parse("unix:/run/a.sock").unwrap();
    let (url, targets) = parsed("/a\nDELETE /b\n", Some(&base)).unwrap();
    assert_eq!((url, targets.len()), (base.clone(), 2));
    assert!(parsed("http://a/\n", Some(&base)).is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([ -~é]|\n|\r|:|@|/){0,200}") {
        let _ = parsed(&text, None);
    }

    #[test]
    fn any_lines_are_read_or_refused(
        lines in prop::collection::vec("(GET |POST )?(http://a)?/[ -~]{0,9}( weight=[0-9]{1,6})?|@.{0,9}|[a-z]{1,4}:.{0,9}", 0..9)
    ) {
        let _ = parsed(&lines.join("\n"), None);
    }
}
