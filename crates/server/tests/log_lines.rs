//! The exact lines of access logs: format strings, built-in formats, and hostile peers.

use std::sync::Arc;

use crate::support::log_writer::{Ended, address, line, memory_plan, written};
use vervet_server::access_log::{Condition, LogWriter, Origin, RequestId, VARIABLES};

/// The line of a simple request of which the server knows everything.
#[track_caller]
fn check(format: &str, expected: &str) {
    let ended = Ended {
        request: "GET /a%20b?x=1&y&y=2 HTTP/1.1\r\nHost: Example.org:80\r\nUser-Agent: curl/8\r\nAccept: a\r\naccept: b\r\n\
                  X-Y: z\r\nCookie: a=1; sid=s3cret\r\nCookie: b=2\r\n\r\n",
        response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
        fault: Some("peer went"),
        ..Ended::default()
    };
    let line = line(format, &ended, |info| {
        info.path = b"/a b";
        info.host = b"example.org";
        info.listener = "public";
        info.client = Some(address("2001:db8::1"));
        info.user = Some(b"ann");
        info.request_id = RequestId::given(b"abc-1");
        info.connection_requests = Some(3);
    });
    assert_eq!(line, expected, "{format}");
}

#[test]
fn each_variable_writes_its_value() {
    check("{client}", "2001:db8::1");
    check("{peer} {port}", "192.0.2.9 4711");
    check("{user}", "ann");
    check("{request}", "GET /a%20b?x=1&y&y=2 HTTP/1.1");
    check("{method} {target} {version}", "GET /a%20b?x=1&y&y=2 HTTP/1.1");
    check("{path}", "/a b");
    check("{query}|{query:x}|{query:y}|{query:z}", "x=1&y&y=2|1||-");
    check("{scheme}://{host}", "http://example.org");
    check("{status} {bytes} {duration_ms} {duration}", "200 13 7 0.007");
    check("{site}", "shop \\x221\\x22");
    check("{route}", "/a*");
    check("{listener} {connection_requests}", "public 3");
    check("{request_id}", "abc-1");
    check("{field:user-agent}|{field:Accept}|{field:x-y}|{field:none}", "curl/8|a, b|z|-");
    check("{cookie:sid} {cookie:b} {cookie:c}", "s3cret 2 -");
    check("{response:content-type} {response:none}", "text/plain -");
    check("{fault}", "peer went");
    check("{sample}", "1");
}

#[test]
fn times_are_written_in_every_style() {
    check("{time}", "21/Nov/2026:19:30:00 +0000");
    check("{time:common}", "21/Nov/2026:19:30:00 +0000");
    check("{time:iso}", "2026-11-21T19:30:00Z");
    check("{time:unix}", "1795289400");
    check("{time:clock}", "19:30:00");
    // Within the second that is given, the milliseconds are those of now.
    for (format, length) in [("{time:iso_ms}", 24), ("{time:unix_ms}", 14)] {
        assert_eq!(line(format, &Ended::default(), |_| {}).len(), length);
    }
}

#[test]
fn text_is_literal_and_doubled_braces_are_one() {
    check("{{{status}}} a\tb", "{200} a\tb");
    check("no variable: {{}}", "no variable: {}");
}

#[test]
fn every_variable_is_tried_here() {
    let tried = include_str!("log_lines.rs");
    for variable in VARIABLES {
        let plain = tried.contains(&format!("{{{}}}", variable.name));
        let with_argument = tried.contains(&format!("{{{}:", variable.name));
        assert!(plain || with_argument, "{}", variable.name);
    }
}

/// An attempt to forge values, lines and members.
const NASTY: &str =
    "GET /\"|\\%0a HTTP/1.0\r\nReferer: \" 200 9\\\r\nUser-Agent: \u{9b}\tx\"}\r\n\r\n";

#[track_caller]
fn check_nasty(format: &str, expected: &str) {
    let ended = Ended { request: NASTY, ..Ended::default() };
    let line = line(format, &ended, |info| {
        info.path = b"/\n 200";
        info.user = Some(b"a \"b\"\r\n");
        info.request_id = RequestId::given(b"a:b/c");
        info.listener = "a\nb";
    });
    assert_eq!(line, expected, "{format}");
}

#[test]
fn nothing_that_a_peer_sends_ends_a_line_or_a_value() {
    check_nasty("{path} {status}", "/\\x0A\\x20200 200");
    check_nasty("{target}|{status}", "/\\x22\\x7C\\x5C%0a|200");
    check_nasty("\"{user}\"", "\"a \\x22b\\x22\\x0D\\x0A\"");
    check_nasty("{request_id}:{listener}", "a\\x3Ab/c:a\\x0Ab");
    check_nasty("{field:user-agent}", "\\xC2\\x9B\\x09x\\x22}");
    check_nasty(
        "combined",
        "192.0.2.9 - a\\x20\\x22b\\x22\\x0D\\x0A [21/Nov/2026:19:30:00 +0000] \"GET /\\x22|\\x5C%0a HTTP/1.0\" 200 13 \
         \"\\x22 200 9\\x5C\" \"\\xC2\\x9B\\x09x\\x22}\"",
    );
}

#[test]
fn json_has_known_values_and_nothing_else() {
    let with_time = |line: String| {
        let (begin, rest) = line.split_at("{\"time\":\"2026-11-21T19:30:00.".len());
        format!("{begin}NNN{}", &rest[3..])
    };
    let little = line("json", &Ended::default(), |info| {
        info.origin = Origin::default();
    });
    assert_eq!(
        with_time(little),
        concat!(
            r#"{"time":"2026-11-21T19:30:00.NNNZ","client":"192.0.2.9","method":"GET","target":"/a.txt?b=%20c","#,
            r#""version":"HTTP/1.1","host":"example.org","status":200,"bytes":13,"duration_ms":7}"#
        )
    );
    let ended = Ended { request: NASTY, fault: Some("peer \"went\""), ..Ended::default() };
    let much = line("json", &ended, |info| {
        info.client = Some(address("198.51.100.7"));
        info.user = Some(b"ann");
        info.request_id = RequestId::given(b"abc-1");
    });
    let expected = concat!(
        r#"{"time":"2026-11-21T19:30:00.NNNZ","client":"198.51.100.7","peer":"192.0.2.9","method":"GET","#,
        r#""target":"/\"|\\%0a","version":"HTTP/1.0","referer":"\" 200 9\\","user_agent":"\u009B\u0009x\"}","#,
        r#""user":"ann","request_id":"abc-1","status":200,"bytes":13,"duration_ms":7,"site":"shop \"1\"","#,
        r#""route":"/a*","fault":"peer \"went\""}"#
    );
    assert_eq!(with_time(much), expected);
}

#[test]
fn unreadable_requests_get_a_line() {
    let check = |format: &str, expected: &str| {
        let (logs, sink, plan, _) = memory_plan(format, Condition::default());
        let mut writer = LogWriter::new(&Arc::new(plan));
        let refused = Ended { status: 400, peer: None, fault: Some("no Host"), ..Ended::default() };
        writer.finish(&refused.finished(None));
        assert_eq!(written(&logs, &sink), [expected], "{format}");
    };
    check("{client} {user} \"{request}\" {status} {response:a} {site}", "unix: - \"-\" 400 - -");
    check("common", "unix: - - [21/Nov/2026:19:30:00 +0000] \"-\" 400 13");
    check("pretty", "19:30:00  400  -          13  B      7 ms  unix:         - (no Host)");
}
