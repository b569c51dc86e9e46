//! The requests that another server, Monkey, shipped as its tests, as far as the parser decides
//! them. Where our status differs from Monkey's, the row states the reason.

use crate::common;
use crate::common::{check, check_refused};

#[test]
fn bad_requests_are_400() {
    check_refused("GET / HTTP/1.1\r\n\r\n", "400 HostMissing");
    check_refused("GET / HTTP/1.1\r\nHost: localhost:x80\r\n\r\n", "400 HostMalformed");
    check_refused("GET / HTTP/1.1\r\nHost: localhost:80x\r\n\r\n", "400 HostMalformed");
    check_refused("GET / HTTP/1.1\r\nHost: [::1]:x\r\n\r\n", "400 HostMalformed");
    check_refused("GET /\r\nHost: localhost\r\n\r\n", "400 VersionMissing");
    check_refused("GET / \r\nHost: localhost\r\n\r\n", "400 VersionMissing");
}

/// Monkey: 400. RFC 9112 §3 asks for 414.
#[test]
fn a_target_over_the_limit_is_414() {
    let target = format!("/{}", "a".repeat(9000));
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
    let pieces: Vec<&[u8]> = request.as_bytes().chunks(100).collect();
    for pieces in [&pieces[..], &[request.as_bytes()]] {
        assert_eq!(
            common::read(pieces, vervet_http::h1::HeadLimits::DEFAULT),
            ["414 TargetTooLong"]
        );
    }
}

/// Monkey: 413. RFC 6585 §5 has 431 for fields; 413 is for content.
#[test]
fn fields_over_the_limit_are_431() {
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(33 << 10));
    let pieces: Vec<&[u8]> = request.as_bytes().chunks(100).collect();
    for pieces in [&pieces[..], &[request.as_bytes()]] {
        assert_eq!(
            common::read(pieces, vervet_http::h1::HeadLimits::DEFAULT),
            ["431 HeadTooLarge"]
        );
    }
}

/// Monkey: 411 for any POST without a length. RFC 9112 §6.3, 7: it has no content, and a resource
/// may take that.
#[test]
fn a_post_without_length_is_read() {
    check("POST / HTTP/1.1\r\nHost: a\r\n\r\n", &["POST /", "end"]);
    check("POST / HTTP/1.0\r\nHost: a\r\n\r\n", &["POST / (1.0)", "end", "close"]);
}

/// 413 before any content is read.
#[test]
fn a_huge_length_is_413() {
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n";
    check_refused(request, "413 ContentLengthTooLarge");
}

/// Monkey: 505 for `http/1.1` as well. RFC 9112 §2.3: the name is case-sensitive, so that is
/// malformed: 400.
#[test]
fn other_versions_are_505() {
    for version in ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9.1"] {
        check_refused(&format!("GET / {version}\r\nHost: a\r\n\r\n"), "505 VersionUnsupported");
    }
    check_refused("GET / http/1.1\r\nHost: a\r\n\r\n", "400 VersionMalformed");
}

/// 501 is for handlers that select by method: the parser accepts any token.
#[test]
fn an_unknown_method_is_read() {
    check("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", &["BREW /", "end"]);
}

#[test]
fn good_requests_are_read() {
    check("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &["GET /", "end"]);
    check(
        "GET / HTTP/1.1\r\nhOsT: localhost:80\r\nCONNECTION: CLOSE\r\n\r\n",
        &["GET /", "end", "close"],
    );
    check("HEAD / HTTP/1.1\r\nHost: [::1]\r\n\r\n", &["HEAD /", "end"]);
    check("GET /%2e%2e/%41 HTTP/1.1\r\nHost: a\r\n\r\n", &["GET /%2e%2e/%41", "end"]);
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=b",
        &["POST / +3", "content a=b", "end"],
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na=b",
        &["POST / +9", "content a=b"],
    );
}
