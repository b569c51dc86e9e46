//! RFC 9112 §2 and §3: the beginning of a request.

use crate::common;
use crate::common::{check, check_refused, check_with};
use vervet_http::h1::HeadLimits;

/// §2.2: "a server that is expecting to receive and parse a request-line SHOULD ignore at least one
/// empty line (CRLF) received prior to the request-line". One, as a bound.
#[test]
fn skips_one_empty_line_and_no_more() {
    check_refused("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 LeadingEmptyLines");
    check_refused("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 BareLf");
    check_refused("\r\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 BareCr");
    check("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["GET /", "end"]);
}

/// §2.2: a recipient MAY recognise a single LF as a line terminator. We do not, see
/// `Violation::BareLf`.
#[test]
fn refuses_bare_lf_everywhere() {
    for head in [
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\nContent-Length: 5\r\n\r\n",
        "GET /\nX HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        check_refused(head, "400 BareLf");
    }
}

/// §2.2: "A recipient of such a bare CR MUST consider that element to be invalid".
#[test]
fn refuses_bare_cr_everywhere() {
    for head in [
        "GET / HTTP/1.1\rHost: a\r\n\r\n",
        "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\r\n\r\n",
        "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
    ] {
        check_refused(head, "400 BareCr");
    }
}

/// §3: `request-line = method SP request-target SP HTTP-version`; "MAY instead parse on
/// whitespace-delimited word boundaries", which we do not.
#[test]
fn refuses_other_spacing() {
    for line in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET / x HTTP/1.1",
        "GET HTTP/1.1",
        "GET",
    ] {
        check_refused(&format!("{line}\r\nHost: a\r\n\r\n"), "400 RequestLine");
    }
    check_refused("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "400 MethodToken");
    check_refused("GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", "400 VersionMissing");
}

/// §3.1: the method is a token. Handlers decide about unknown methods (501).
#[test]
fn takes_any_token_for_a_method() {
    for head in [
        " GET / HTTP/1.1",
        "\tGET / HTTP/1.1",
        "\u{16}\u{3}\u{1}",
        "G\"T / HTTP/1.1",
        "GE(T / HTTP/1.1",
        "G\u{e9}T / HTTP/1.1",
    ] {
        check_refused(&format!("{head}\r\nHost: a\r\n\r\n"), "400 MethodToken");
    }
    check("get / HTTP/1.1\r\nHost: a\r\n\r\n", &["get /", "end"]);
    check("M-SEARCH * HTTP/1.1\r\nHost: a\r\n\r\n", &["M-SEARCH *", "end"]);
}

/// §3.2: "No whitespace is allowed in the request-target", nor is anything outside visible ASCII
/// (RFC 3986 §2).
#[test]
fn refuses_bytes_outside_visible_ascii_in_the_target() {
    for target in ["/\u{e9}", "/\u{7f}", "/\u{1}", "/\0"] {
        check_refused(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"), "400 TargetByte");
    }
    check(
        "GET /%20?a=b&c|d{\"e\"} HTTP/1.1\r\nHost: a\r\n\r\n",
        &[r#"GET /%20?a=b&c|d{\"e\"}"#, "end"],
    );
    check("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", &["OPTIONS *", "end"]);
    check("GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", &["GET http://a/b", "end"]);
}

/// §2.3: `HTTP-version = HTTP-name "/" DIGIT "." DIGIT`, and the name is case-sensitive.
#[test]
fn refuses_versions_that_are_none() {
    for version in [
        "http/1.1",
        "Http/1.1",
        "HTTP/1",
        "HTTP/1.",
        "HTTP/1.10",
        "HTTP/11.1",
        "HTTP/1,1",
        "HTTP1.1",
        "HTTP/ 1.1",
        "HTTP/a.b",
        "1.1",
        "HTTPS/1.1",
    ] {
        let refused =
            if version.contains(' ') { "400 RequestLine" } else { "400 VersionMalformed" };
        check_refused(&format!("GET / {version}\r\nHost: a\r\n\r\n"), refused);
    }
    check_refused("GET /\r\nHost: a\r\n\r\n", "400 VersionMissing");
    check_refused("GET / \r\nHost: a\r\n\r\n", "400 VersionMissing");
    check_refused("GET /\r\n\r\n", "400 VersionMissing");
}

/// RFC 9110 §15.6.6: "the server does not support ... the major version".
#[test]
fn answers_505_to_other_versions() {
    for version in ["HTTP/0.9", "HTTP/1.2", "HTTP/1.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"] {
        check_refused(&format!("GET / {version}\r\nHost: a\r\n\r\n"), "505 VersionUnsupported");
    }
    check_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 VersionUnsupported");
}

/// Nothing that follows makes an invalid request line valid: it is refused when it ends, and its
/// client does not wait for the timeout of the head.
#[test]
fn refuses_an_invalid_line_at_its_end() {
    for (line, refused) in [
        ("GET /", "400 VersionMissing"),
        ("GET  / HTTP/1.1", "400 RequestLine"),
        ("G(T / HTTP/1.1", "400 MethodToken"),
        ("GET /\u{7f} HTTP/1.1", "400 TargetByte"),
        ("GET / HTTP/1.1x", "400 VersionMalformed"),
        ("GET / HTTP/3.0", "505 VersionUnsupported"),
    ] {
        check_refused(&format!("{line}\r\n"), refused);
        check_refused(&format!("\r\n{line}\r\n"), refused);
        check_refused(&format!("{line}\r\nHost: a\n"), refused);
        check(&format!("{line}\r"), &[]);
    }
    check_with(b"GET /abcdefghijklmnop HTTP/1.1\r\n", TIGHT, &["414 TargetTooLong"]);
    check_with(b"GET /abcdefghijklmno HTTP/1.1\r\nHost", TIGHT, &[]);
    check("GET / HTTP/1.1\r\nHost: a\r\nX", &[]);
}

const TIGHT: HeadLimits =
    HeadLimits { head_bytes_max: 200, fields_max: 3, target_bytes_max: 16, trailer_bytes_max: 40 };

/// §3: "A server that receives a request-target longer than any URI it wishes to parse MUST respond
/// with a 414".
#[test]
fn bounds_the_target() {
    let request =
        |bytes: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(bytes - 1));
    check_with(request(17).as_bytes(), TIGHT, &["414 TargetTooLong"]);
    check_with(request(100).as_bytes(), TIGHT, &["414 TargetTooLong"]);
    check_with(request(16).as_bytes(), TIGHT, &["GET /xxxxxxxxxxxxxxx", "end"]);
    let endless = format!("GET /{}", "x".repeat(300));
    check_with(endless.as_bytes(), TIGHT, &["414 TargetTooLong"]);
}

/// The default limits: 8 KiB of target.
#[test]
fn bounds_the_target_by_default() {
    let request =
        |bytes: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(bytes - 1));
    let read = |text: String| common::read(&[text.as_bytes()], HeadLimits::DEFAULT);
    assert_eq!(read(request((8 << 10) + 1)), ["414 TargetTooLong"]);
    assert_eq!(read(request(8 << 10)).len(), 2);
}

/// RFC 6585 §5: 431 for a head that is too large in all or has too many fields.
#[test]
fn bounds_the_head() {
    let start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    let request = |bytes: usize| format!("{start}{}\r\n\r\n", "x".repeat(bytes - start.len() - 4));
    check_with(request(201).as_bytes(), TIGHT, &["431 HeadTooLarge"]);
    check_with(request(200).as_bytes(), TIGHT, &["GET /", "end"]);
    check_with(format!("{start}{}", "x".repeat(300)).as_bytes(), TIGHT, &["431 HeadTooLarge"]);
}

#[test]
fn bounds_the_number_of_fields() {
    let request = |fields: usize| {
        format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(fields - 1))
    };
    check_with(request(4).as_bytes(), TIGHT, &["431 FieldsTooMany"]);
    check_with(request(3).as_bytes(), TIGHT, &["GET /", "end"]);
    let read = |text: String| common::read(&[text.as_bytes()], HeadLimits::DEFAULT);
    assert_eq!(read(request(129)), ["431 FieldsTooMany"]);
    assert_eq!(read(request(128)), ["GET /", "end"]);
}
