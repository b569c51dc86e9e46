//! Tests of messages: what is refused, the bytes of what is not, and who sends them.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::script::{ContentOfAnswer, Scripts as _, Step, Turn};
use crate::template::{Names, Shared, Values};

fn draft(method: &str, target: &str, fields: &[(&str, &str)]) -> Draft {
    let fields = fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    Draft {
        method: method.to_owned(),
        target: target.to_owned(),
        host: "a:81".to_owned(),
        fields: fields.collect(),
        ..Draft::default()
    }
}

fn rendered(draft: &Draft) -> String {
    match draft.compile(&Names::default()) {
        Ok(message) => {
            let mut values = Values::new(Arc::new(Shared::default()), 0, 0);
            let mut out = Vec::new();
            message.render(&mut values, Extra::default(), &mut out);
            if let Some(fixed) = message.as_fixed() {
                assert_eq!(fixed, out);
            }
            String::from_utf8(out).unwrap()
        }
        Err(faults) => {
            let faults = faults.iter().map(|fault| format!("{:?}: {}", fault.part, fault.message));
            faults.collect::<Vec<_>>().join(" | ")
        }
    }
}

fn check(draft: &Draft, expected: &str) {
    assert_eq!(rendered(draft), expected, "{draft:?}");
}

#[test]
fn refuses_header_injection() {
    check(
        &draft("GET", "/", &[("A", "b\r\nC: d")]),
        "Field(0): the value of A has a control character",
    );
    check(
        &draft("GET", "/", &[("A\r\nB", "c"), ("", "x"), ("A B", "")]),
        "Field(0): invalid header name \"A\\r\\nB\": expected letters, digits and hyphens, then a colon | \
         Field(1): invalid header name \"\": expected letters, digits and hyphens, then a colon | \
         Field(2): invalid header name \"A B\": expected letters, digits and hyphens, then a colon",
    );
    check(
        &draft("GET", "/", &[("content-length", "3"), ("Transfer-Encoding", "chunked")]),
        "Field(0): content-length is set automatically; leave it out | \
         Field(1): Transfer-Encoding is set automatically; leave it out",
    );
    check(
        &draft("GET", "/", &[("Host", "a"), ("host", "b")]),
        "Field(1): a request has only one Host header",
    );
    check(&draft("GET", "/a\r\nb", &[]), "Target: the target has a control character");
    check(&draft("GET", "a", &[]), "Target: the target \"a\" does not begin with a slash");
    check(&draft("GET", "*", &[]), "Target: the target \"*\" does not begin with a slash");
    check(&draft("GE T", "/", &[]), "Method: invalid method \"GE T\": expected a word such as GET");
    check(
        &draft("get", "/", &[]),
        "Method: invalid method get: did you mean GET? (methods are case-sensitive)",
    );
    check(&draft("CONNECT", "/", &[]), "Method: CONNECT is not supported");
    let host = Draft { host: "a\nb".to_owned(), ..draft("GET", "/", &[]) };
    check(&host, "Host: the host has a control character");
}

#[test]
fn writes_the_forms_to_their_outputs() {
    let smuggled = Draft {
        framing: Framing::AsWritten,
        content: Content::Text("0\r\n\r\nGET /".to_owned()),
        ..draft("POST", "/", &[("Content-Length", "5"), ("Transfer-Encoding", "chunked")])
    };
    check(
        &smuggled,
        "POST / HTTP/1.1\r\nHost: a:81\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    );
}

#[test]
fn fields_follow_by_rule() {
    check(&draft("", "/", &[]), "GET / HTTP/1.1\r\nHost: a:81\r\n\r\n");
    check(
        &draft("OPTIONS", "*", &[("X-A", " 1 ")]),
        "OPTIONS * HTTP/1.1\r\nHost: a:81\r\nX-A: 1\r\n\r\n",
    );
    check(&draft("DELETE", "/ä", &[("host", "b")]), "DELETE /%C3%A4 HTTP/1.1\r\nhost: b\r\n\r\n");
    check(&draft("PUT", "/", &[]), "PUT / HTTP/1.1\r\nHost: a:81\r\nContent-Length: 0\r\n\r\n");
    let text = Draft { content: Content::Text("n={seq}".to_owned()), ..draft("", "/", &[]) };
    check(&text, "POST / HTTP/1.1\r\nHost: a:81\r\nContent-Length: 3\r\n\r\nn=0");
    let form = Draft {
        content: Content::Form(vec![
            ("a b".to_owned(), "ä&".to_owned()),
            ("n".to_owned(), "{user}".to_owned()),
        ]),
        ..draft("", "/", &[])
    };
    check(
        &form,
        "POST / HTTP/1.1\r\nHost: a:81\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 19\r\n\r\na%20b=%C3%A4%26&n=0",
    );
    let bytes = Draft { content: Content::Bytes(b"{seq}".to_vec()), ..draft("PATCH", "/", &[]) };
    check(&bytes, "PATCH / HTTP/1.1\r\nHost: a:81\r\nContent-Length: 5\r\n\r\n{seq}");
}

#[test]
fn own_fields_replace_common_fields() {
    let mut draft = Draft::get(&Url::parse("http://u:p@a/").unwrap());
    draft.fields.push(("Accept".to_owned(), "a".to_owned()));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    draft.add_defaults(&[pair("X", "1"), pair("accept", "b"), pair("X", "2")]);
    check(
        &draft,
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\nAccept: a\r\n\
         Authorization: Basic dTpw\r\n\r\n",
    );
    draft.fields.push(pair("authorization", "Bearer x"));
    assert!(!rendered(&draft).contains("Basic"));
    assert_eq!(format!("{:?}", draft.credentials), "Some(Credentials)");
}

#[test]
fn a_field_is_split_as_it_is_typed() {
    assert_eq!(split_field("X-A :  b: c "), Ok(("X-A".to_owned(), "b: c".to_owned())));
    assert_eq!(
        split_field("accept"),
        Err("invalid header \"accept\" (did you mean \"Accept\"?): expected NAME: VALUE".to_owned())
    );
    assert!(split_field("a: b\nc").is_err());
    assert!(split_field(": b").is_err());
}

fn turn() -> Turn<'static> {
    Turn { elapsed: Duration::ZERO, answer: None }
}

#[test]
fn the_same_bytes_again_ask_for_no_memory() {
    let message = draft("HEAD", "/x", &[]).compile(&Names::default()).unwrap();
    let only = Weighted { name: "x".to_owned(), weight: 1, message };
    let mut script = Requests::new(vec![only], Arc::new(Shared::default())).user(0);
    let mut out = Vec::with_capacity(1 << 10);
    let info = allocation_counter::measure(|| {
        for _ in 0..1000 {
            out.clear();
            script.next(&turn(), &mut out);
        }
    });
    assert_eq!(info.count_total, 0);
    assert_eq!(out, b"HEAD /x HTTP/1.1\r\nHost: a:81\r\n\r\n");
    let Step::Send(request) = script.next(&turn(), &mut out) else {
        panic!("nothing was asked");
    };
    assert_eq!(request.content, ContentOfAnswer::Never);
}

/// Content may be a gigabyte: it is there once, for the request and for all who ask it.
#[test]
fn content_is_kept_once() {
    const CONTENT_BYTES: u64 = 1 << 20;
    let content = vec![b'x'; usize::try_from(CONTENT_BYTES).unwrap()];
    let draft = Draft { content: Content::Bytes(content), ..draft("PUT", "/", &[]) };
    let entry = || Weighted {
        name: "x".to_owned(),
        weight: 1,
        message: draft.compile(&Names::default()).unwrap(),
    };
    for count in [1, 2] {
        let list: Vec<Weighted> = (0..count).map(|_| entry()).collect();
        let mut kept = None;
        let info = allocation_counter::measure(|| {
            let requests = Requests::new(list, Arc::new(Shared::default()));
            let users: Vec<_> = (0..100).map(|user| requests.user(user)).collect();
            kept = Some((requests, users));
        });
        // The list had them, and gave them up.
        assert!(info.bytes_current < 100_000, "{info:?} for {count}");
        assert!(info.bytes_max < CONTENT_BYTES + 100_000, "{info:?} for {count}");
    }
}

#[test]
fn requests_of_a_list_take_turns_over_users() {
    let entry = |target: &str| Weighted {
        name: target.to_owned(),
        weight: 1,
        message: draft("", target, &[]).compile(&Names::default()).unwrap(),
    };
    let list = vec![entry("/a"), entry("/{seq}")];
    let requests = Requests::new(list, Arc::new(Shared::default()));
    assert_eq!(requests.steps(), ["/a", "/{seq}"]);
    let mut users = [requests.user(0), requests.user(1)];
    let mut out = Vec::new();
    for round in 0..4 {
        let step = users[round % 2].next(&turn(), &mut out);
        assert!(matches!(step, Step::Send(request) if usize::from(request.step) == round % 2));
    }
    let text = String::from_utf8(out).unwrap();
    let targets: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let targets: Vec<&&str> = targets.iter().filter(|target| target.starts_with('/')).collect();
    assert_eq!(targets, [&"/a", &"/0", &"/a", &"/1"]);
}

#[test]
fn long_lists_have_one_name() {
    let message = draft("", "/", &[]).compile(&Names::default()).unwrap();
    let entry = Weighted { name: "x".to_owned(), weight: 1, message };
    let steps = |count| {
        let requests = Requests::new(vec![entry.clone(); count], Arc::new(Shared::default()));
        requests.steps().len()
    };
    assert_eq!(steps(NAMED_REQUESTS_MAX), NAMED_REQUESTS_MAX);
    assert_eq!(steps(NAMED_REQUESTS_MAX + 1), 1);
}
