//! RFC 9112 §5 and §3.2, RFC 9110 §5: field lines, Host, and what is parsed out of them.

use crate::common::{check, check_refused, with_fields};
use vervet_http::field::{FieldBlock, FieldError, FieldSlots, Known};
use vervet_http::h1::{HeadLimits, Received, RequestHead, Server};

/// §5.1: "No whitespace is allowed between the field name and colon." It "MUST" be answered with
/// 400.
#[test]
fn refuses_space_before_the_colon() {
    for line in ["X : a", "X\t: a", "Content-Length : 5", "Transfer-Encoding : chunked"] {
        check_refused(&with_fields(&format!("{line}\r\n")), "400 FieldSpaceBeforeColon");
    }
}

/// §5.2: "A server that receives an obs-fold in a request message ... MUST either reject the
/// message ... or replace".
#[test]
fn refuses_folded_lines() {
    check_refused(&with_fields("X: a\r\n b\r\n"), "400 FieldFolded");
    check_refused(&with_fields("X: a\r\n\tb\r\n"), "400 FieldFolded");
    check_refused(&with_fields("X: a\r\n \r\n"), "400 FieldFolded");
    check_refused(&with_fields("Transfer-Encoding:\r\n chunked\r\n"), "400 FieldFolded");
}

/// §2.2: whitespace between the start line and the first field: "reject the message as invalid".
#[test]
fn refuses_space_before_the_first_field() {
    check_refused("GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400 FieldLeadingSpace");
    check_refused("GET / HTTP/1.1\r\n\tHost: a\r\n\r\n", "400 FieldLeadingSpace");
}

/// RFC 9110 §5.1: `field-name = token`.
#[test]
fn refuses_names_that_are_no_tokens() {
    for line in [
        ": a",
        "X",
        "X a",
        "X@: a",
        "X[]: a",
        "(X): a",
        "X\"Y\": a",
        "X\0: a",
        "X\u{e9}: a",
        "X/Y: a",
        "X;Y: a",
    ] {
        check_refused(&with_fields(&format!("{line}\r\n")), "400 FieldName");
    }
}

/// RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous".
/// All controls but HTAB.
#[test]
fn refuses_control_bytes_in_values() {
    for byte in ['\0', '\u{1}', '\u{8}', '\u{b}', '\u{c}', '\u{1b}', '\u{1f}', '\u{7f}'] {
        check_refused(&with_fields(&format!("X: a{byte}b\r\n")), "400 FieldValue");
        check_refused(&with_fields(&format!("X: {byte}\r\n")), "400 FieldValue");
    }
    check(&with_fields("X: a\tb \u{e9} !~\r\n"), &["GET /", "end"]);
    check(&with_fields("X:\r\nY: \t \r\n"), &["GET /", "end"]);
}

/// §3.2: "A server MUST respond with a 400 to any HTTP/1.1 request message that lacks a Host header
/// field and to any request message that contains more than one Host header field line or a Host
/// with an invalid field value."
#[test]
fn wants_one_valid_host() {
    check_refused("GET / HTTP/1.1\r\n\r\n", "400 HostMissing");
    check_refused("GET http://a/ HTTP/1.1\r\n\r\n", "400 HostMissing");
    check_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 HostRepeated");
    check_refused("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: b\r\n\r\n", "400 HostRepeated");
    check_refused("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400 HostRepeated");
    for host in [
        "a b", "a, b", "a/b", "a@b", "a:b", "a:80:80", "a:65536", "[::1", "[::1]:x", "::1", ":80",
        "a?b", "a#b",
    ] {
        check_refused(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "400 HostMalformed");
    }
    for host in [
        "",
        "a",
        "a.example",
        "a:",
        "a:80",
        "127.0.0.1:1",
        "[::1]",
        "[2001:db8::1]:65535",
        "xn--a.example",
    ] {
        check(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), &["GET /", "end"]);
    }
    check("GET / HTTP/1.0\r\n\r\n", &["GET / (1.0)", "end", "close"]);
}

/// RFC 9110 §5.3 and §8.3: Content-Type is not a list; two of them could be understood differently
/// by two recipients (gunicorn#3366).
#[test]
fn refuses_two_content_types() {
    check_refused(
        &with_fields("Content-Type: a/b\r\ncontent-type: a/b\r\n"),
        "400 ContentTypeRepeated",
    );
    check(&with_fields("Content-Type: a/b\r\n"), &["GET /", "end"]);
}

fn with_head(input: &str, look: impl FnOnce(&RequestHead<'_>)) {
    let mut slots = FieldSlots::new();
    match Server::new().receive(input.as_bytes(), &mut slots, &HeadLimits::DEFAULT) {
        Ok(Received::Head { head, consumed }) => {
            assert_eq!(consumed, input.len());
            look(&head);
        }
        other => panic!("{other:?}"),
    }
}

/// RFC 9110 §5.1: names are case-insensitive; §5.3: order of lines of one name counts; §5.5: values
/// without OWS.
#[test]
fn finds_fields_by_name() {
    let input = with_fields("x-a: 1\r\nACCEPT: \t one \t\r\nX-A:2\r\nAccept: two,\r\nX-B: \r\n");
    with_head(&input, |head| {
        let fields = &head.fields;
        assert_eq!(fields.len(), 6);
        assert!(!fields.is_empty());
        assert_eq!(fields.get(Known::Accept), Some(&b"one"[..]));
        assert_eq!(fields.get(Known::Range), None);
        assert!(fields.is_repeated(Known::Accept) && !fields.is_repeated(Known::Host));
        assert!(fields.all(Known::Accept).eq([&b"one"[..], b"two,"]));
        assert!(fields.all(Known::Host).eq([b"a"]));
        assert_eq!(fields.all(Known::Range).count(), 0);
        assert!(fields.named("X-a").eq([b"1", b"2"]));
        assert!(fields.named("x-b").eq([b""]));
        assert!(fields.list(Known::Accept).eq([b"one", b"two"]));
        assert!(fields.has_token(Known::Accept, "TWO") && !fields.has_token(Known::Accept, "tw"));
        assert_eq!(fields.iter().nth(1), Some(("x-a", &b"1"[..])));
        assert_eq!(head.host(), Some(&b"a"[..]));
    });
}

/// RFC 9110 §7.8: "A sender of Upgrade MUST also send an "Upgrade" connection option"; "A server
/// MUST ignore an Upgrade header field that is received in an HTTP/1.0 request." Firefox sends
/// `Connection: keep-alive, Upgrade`.
#[test]
fn offers_an_upgrade_only_if_requested() {
    let protocols = |input: &str, expected: Option<&[&[u8]]>| {
        with_head(input, |head| {
            let offered = head.upgrade().map(Iterator::collect::<Vec<_>>);
            assert_eq!(offered.as_deref(), expected, "{input}");
        });
    };
    protocols(&with_fields("Upgrade: websocket\r\n"), None);
    protocols(&with_fields("Connection: upgrade\r\n"), None);
    protocols(&with_fields("Connection: upgraded\r\nUpgrade: websocket\r\n"), None);
    protocols("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", None);
    let firefox = with_fields("Connection: keep-alive, Upgrade\r\nUpgrade: websocket, h2c\r\n");
    protocols(&firefox, Some(&[b"websocket", b"h2c"]));
}

/// RFC 9110 §10.1.1: the expectation counts with content and not in HTTP/1.0.
#[test]
fn detects_expect_continue() {
    let waits = |input: &str, expected: bool| {
        with_head(input, |head| {
            assert_eq!(head.expects_continue(), expected, "{input}");
        });
    };
    waits(&with_fields("Expect: 100-continue\r\n"), false);
    waits(&with_fields("Expect: 100-continued\r\nContent-Length: 1\r\n"), false);
    waits("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", false);
    waits(&with_fields("Expect: 100-Continue\r\nContent-Length: 1\r\n"), true);
    waits(&with_fields("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n"), true);
}

/// RFC 9112 §11.1: what a handler puts into a field cannot become another field or a response.
#[test]
fn lets_no_line_be_injected() {
    let mut block = FieldBlock::new();
    for value in ["a\r\nX: b", "a\nb", "a\rb", "a\0b", "\u{7f}", "\u{1b}"] {
        assert_eq!(block.push(b"X", value.as_bytes()), Err(FieldError::Value));
        assert_eq!(block.push_known(Known::Location, value.as_bytes()), Err(FieldError::Value));
    }
    for name in ["", "X:", "X Y", "X\r\nY", "X\0", "\u{e9}"] {
        assert_eq!(block.push(name.as_bytes(), b"a"), Err(FieldError::Name));
    }
    for name in ["Content-Length", "transfer-encoding", "CONNECTION"] {
        assert_eq!(block.push(name.as_bytes(), b"1"), Err(FieldError::Framing));
    }
    assert_eq!(block, FieldBlock::new());
    block.push(b"x-a", b"1\t\xE9").unwrap();
    block.push_known(Known::ETag, b"\"e\"").unwrap();
    assert_eq!(block.as_bytes(), b"x-a: 1\t\xE9\r\nETag: \"e\"\r\n");
    block.clear();
    assert_eq!(block.as_bytes(), b"");
}
