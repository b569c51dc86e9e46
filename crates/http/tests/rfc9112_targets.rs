//! Request targets: RFC 9112 §3.2, and the Host field of RFC 9110 §7.2.

use proptest::prelude::*;
use vervet_http::method::Method::{self, Connect, Get, Options};
use vervet_http::target::TargetError::{
    self, Authority as BadAuthority, Byte, Empty, Form, Scheme,
};
use vervet_http::target::{Authority, RequestTarget, query_pairs};

/// Form, host, port, path and query of a target, written as one line.
fn summary(target: RequestTarget<'_>) -> String {
    let form = match target {
        RequestTarget::Origin(_) => "origin",
        RequestTarget::Absolute { .. } => "absolute",
        RequestTarget::Authority(_) => "authority",
        RequestTarget::Asterisk => "asterisk",
    };
    let text = String::from_utf8_lossy;
    let authority = target.authority();
    let parts = [
        Some(form.to_owned()),
        authority.map(|authority| format!("host={}", text(authority.host()))),
        authority.and_then(|authority| Some(format!("port={}", authority.port()?))),
        target.raw_path().map(|path| format!("path={}", text(path))),
        target.raw_query().map(|query| format!("query={}", text(query))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(raw: &str, method: Method, expected: Result<&str, TargetError>) {
    let found = RequestTarget::parse(raw.as_bytes(), method).map(summary);
    assert_eq!(found.as_deref(), expected.as_ref().copied(), "{raw:?}");
}

#[test]
fn refuses_bytes_that_no_target_may_have() {
    // §3.2: "Recipients of an invalid request-line SHOULD respond with either a 400 (Bad Request)
    // error ..."
    check("", Get, Err(Empty));
    check("/a b", Get, Err(Byte));
    check("/a\tb", Get, Err(Byte));
    check("/a\0b", Get, Err(Byte));
    check("/a\u{7f}", Get, Err(Byte));
    check("/a#fragment", Get, Err(Byte));
    check("/a?q#fragment", Get, Err(Byte));
}

#[test]
fn refuses_a_form_that_the_method_may_not_have() {
    check("index.html", Get, Err(Form));
    check("?q", Get, Err(Form));
    check("*", Get, Err(Form));
    check("*/a", Options, Err(Form));
    check("host:80", Get, Err(Form));
    check("/a", Connect, Err(BadAuthority));
    check("*", Connect, Err(BadAuthority));
    check("http://host/", Connect, Err(BadAuthority));
    check("ftp://host/", Get, Err(Scheme));
    check("://host/", Get, Err(Scheme));
}

#[test]
fn refuses_malformed_authorities_in_absolute_form() {
    for raw in [
        "http://",
        "http:///a",
        "http://:80/",
        "http://user@host/",
        "http://user:password@host/",
        "http://host:port/",
        "http://host:65536/",
        "http://host:-1/",
        "http://host:+80/",
        "http://a\\b/",
        "http://[::1/",
        "http://[::1]80/",
        "http://[]/",
        "http://[1::2::3]/",
        "http://[host]/",
        "http://ho%zzst/",
        "http://ho%4zst/",
    ] {
        check(raw, Get, Err(BadAuthority));
    }
}

#[test]
fn origin_form() {
    // §3.2.1
    check("/", Get, Ok("origin path=/"));
    check("/a/b?c=d&e", Get, Ok("origin path=/a/b query=c=d&e"));
    check("/?", Get, Ok("origin path=/ query="));
    check("/a?b?c", Get, Ok("origin path=/a query=b?c"));
    check("//host/a", Get, Ok("origin path=//host/a"));
    check("/http://host/", Get, Ok("origin path=/http://host/"));
    check("/affe/gr\u{fc}n", Get, Ok("origin path=/affe/gr\u{fc}n"));
    check("/a", Options, Ok("origin path=/a"));
}

#[test]
fn absolute_form() {
    // §3.2.2: "a server MUST accept the absolute-form in requests"
    check("http://host/a?b", Get, Ok("absolute host=host path=/a query=b"));
    check("HTTP://Host:8080/", Get, Ok("absolute host=Host port=8080 path=/"));
    check("https://host", Get, Ok("absolute host=host path=/"));
    check("http://host?q", Get, Ok("absolute host=host path=/ query=q"));
    check("http://host:/a", Get, Ok("absolute host=host path=/a"));
    check("http://[::1]:80/", Get, Ok("absolute host=[::1] port=80 path=/"));
    check("http://[::ffff:1.2.3.4]/", Get, Ok("absolute host=[::ffff:1.2.3.4] path=/"));
}

#[test]
fn authority_form() {
    // RFC 9110 §9.3.6: "A server MUST reject a CONNECT request that targets an empty or invalid
    // port number"
    check("host", Connect, Err(BadAuthority));
    check("host:", Connect, Err(BadAuthority));
    check("host:99999", Connect, Err(BadAuthority));
    check("host:443", Connect, Ok("authority host=host port=443"));
    check("[::1]:443", Connect, Ok("authority host=[::1] port=443"));
}

#[test]
fn asterisk_form() {
    // §3.2.4
    check("*", Options, Ok("asterisk path=*"));
    check("http://host", Options, Ok("absolute host=host path=*"));
    check("http://host:80", Options, Ok("absolute host=host port=80 path=*"));
    check("http://host/", Options, Ok("absolute host=host path=/"));
    check("http://host?q", Options, Ok("absolute host=host path=/ query=q"));
}

#[track_caller]
fn check_host(raw: &str, expected: Option<(&str, Option<u16>)>) {
    let found = Authority::parse(raw.as_bytes()).ok();
    let expected = expected.map(|(host, port)| (host.as_bytes(), port));
    assert_eq!(found.map(|host| (host.host(), host.port())), expected, "{raw:?}");
}

#[test]
fn host_field() {
    for bad in [
        "host:port",
        "host:80:80",
        "[::1]:port",
        "[::1]x",
        "[::1",
        "::1",
        "a b",
        "a/b",
        ":80",
        "a@b",
        "host: 80",
        "caf%C",
    ] {
        check_host(bad, None);
    }
    // RFC 9112 §3.2: a client sends an empty Host when the target has no authority.
    check_host("", Some(("", None)));
    // RFC 3986 §3.2.2: a registered name may have a comma.
    check_host("a,b", Some(("a,b", None)));
    check_host("example.org", Some(("example.org", None)));
    check_host("example.org:", Some(("example.org", None)));
    check_host("127.0.0.1:65535", Some(("127.0.0.1", Some(65535))));
    check_host("[2001:db8::1]:8080", Some(("[2001:db8::1]", Some(8080))));
    check_host("caf%C3%A9", Some(("caf%C3%A9", None)));
}

#[track_caller]
fn check_query(raw: &[u8], expected: &[(&[u8], &[u8])]) {
    let found: Vec<_> = query_pairs(raw).collect();
    let found: Vec<_> = found.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(found, expected, "{}", raw.escape_ascii());
}

#[test]
fn query_pairs_are_decoded_as_forms_encode_them() {
    check_query(b"", &[]);
    check_query(b"&&", &[]);
    check_query(b"=", &[(b"", b"")]);
    check_query(b"100%&%4&%zz=%", &[(b"100%", b""), (b"%4", b""), (b"%zz", b"%")]);
    check_query(b"%25", &[(b"%", b"")]);
    check_query(b"a=1&b&c=", &[(b"a", b"1"), (b"b", b""), (b"c", b"")]);
    check_query(b"q=a+b%2Bc%20d", &[(b"q", b"a b+c d")]);
    check_query(b"a=b=c&a=d", &[(b"a", b"b=c"), (b"a", b"d")]);
    check_query(b"%00=%2F", &[(b"\0", b"/")]);
}

proptest! {
    #[test]
    fn splits_at_the_first_question_mark_and_takes_no_other_byte_than_it_may(
        rest in proptest::collection::vec(prop_oneof![8 => 0x20_u8..=0x80, 1 => any::<u8>(), 2 => Just(b'?')], 0..40)
    ) {
        let raw = [b"/", rest.as_slice()].concat();
        let is_refused = raw.iter().any(|&byte| byte <= b' ' || byte == 0x7f || byte == b'#');
        let mut parts = raw.splitn(2, |&byte| byte == b'?');
        let expected = (parts.next(), parts.next());
        match RequestTarget::parse(&raw, Get) {
            Ok(target) => {
                prop_assert!(!is_refused);
                prop_assert_eq!((target.raw_path(), target.raw_query()), expected);
            }
            Err(error) => {
                prop_assert!(is_refused);
                prop_assert_eq!(error, Byte);
            }
        }
    }
}
