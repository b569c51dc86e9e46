//! Changing a finished response: status and field lines, of shared and of owned heads.

use bytes::Bytes;
use vervet_engine::Response;
use vervet_engine::http::field::FieldError;
use vervet_engine::http::status::Status;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nset-cookie: a=1\r\nX-Y: \t1 \r\nSet-Cookie: b=2\r\n";

fn shared() -> Response {
    Response::encoded(Status::OK, Bytes::from_static(HEAD.as_bytes()))
}

/// The same head, as one that was built by the handler.
fn built() -> Response {
    let mut response = Response::new(Status::OK);
    for line in HEAD.lines().skip(1) {
        let (name, value) = line.split_once(": ").unwrap();
        response.add_field(name, value.as_bytes()).unwrap();
    }
    response
}

/// Expects this head after a change. Known names that the engine writes have the spelling of the
/// registry.
#[track_caller]
fn check(change: impl Fn(&mut Response), expected: &str) {
    for (mut response, spelled) in [(shared(), "set-cookie"), (built(), "Set-Cookie")] {
        change(&mut response);
        let head = str::from_utf8(response.head_bytes()).unwrap();
        assert_eq!(head, expected.replace("set-cookie", spelled));
    }
}

#[test]
fn an_invalid_field_line_changes_nothing() {
    for (name, value, error) in [
        ("X-Y", "a\r\nX-Z: b", FieldError::Value),
        ("X-Y", "a\0", FieldError::Value),
        ("X Y", "a", FieldError::Name),
        ("", "a", FieldError::Name),
        ("X-Y:", "a", FieldError::Name),
        ("content-length", "3", FieldError::Framing),
        ("Transfer-Encoding", "chunked", FieldError::Framing),
        ("Connection", "close", FieldError::Framing),
    ] {
        check(
            |response| {
                assert_eq!(response.set_field(name, value.as_bytes()), Err(error));
                assert_eq!(response.add_field(name, value.as_bytes()), Err(error));
            },
            HEAD,
        );
    }
}

#[test]
fn fields_are_found_whatever_their_case() {
    for response in [shared(), built()] {
        for (name, value) in [
            ("etag", Some("\"a\"")),
            ("SET-COOKIE", Some("a=1")),
            ("x-y", Some("1")),
            ("X", None),
            ("X-Y-Z", None),
            ("HTTP/1.1 200 OK", None),
            ("", None),
            ("1", None),
        ] {
            let found = response.field_value(name);
            assert_eq!(found, value.map(str::as_bytes), "{name}");
            assert_eq!(response.has_field(name), value.is_some(), "{name}");
        }
    }
    assert!(!Response::new(Status::OK).has_field("ETag"));
}

#[test]
fn a_set_field_replaces_all_at_the_position_of_the_first() {
    check(
        |response| response.set_field("SET-COOKIE", b"c=3").unwrap(),
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nSet-Cookie: c=3\r\nX-Y: \t1 \r\n",
    );
    check(
        |response| {
            response.set_field("etag", b"a longer one than it was").unwrap();
        },
        &HEAD.replace("\"a\"", "a longer one than it was"),
    );
    check(|response| response.set_field("X-Z", b"").unwrap(), &format!("{HEAD}X-Z: \r\n"));
}

#[test]
fn added_fields_follow_existing_ones() {
    check(
        |response| {
            response.add_field("X-Y", b"2").unwrap();
            response.add_field("vary", b"*").unwrap();
        },
        &format!("{HEAD}X-Y: 2\r\nVary: *\r\n"),
    );
}

#[test]
fn all_lines_of_a_name_are_removed_and_no_others() {
    check(
        |response| response.remove_field("set-Cookie"),
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nX-Y: \t1 \r\n",
    );
    check(
        |response| {
            for name in ["X-Y", "ETag", "Set-Cookie"] {
                response.remove_field(name);
            }
        },
        "HTTP/1.1 200 OK\r\n",
    );
    check(
        |response| {
            response.remove_field("X");
            response.remove_field("");
        },
        HEAD,
    );
}

#[test]
fn the_status_changes_and_the_lines_stay() {
    let lines = HEAD.split_once("\r\n").unwrap().1;
    check(
        |response| {
            response.set_status(Status::NOT_FOUND);
            assert_eq!(response.status(), Status::NOT_FOUND);
        },
        &format!("HTTP/1.1 404 Not Found\r\n{lines}"),
    );
    check(
        |response| response.set_status(Status::new(799).unwrap()),
        &format!("HTTP/1.1 799 \r\n{lines}"),
    );
}

/// Other owners of a shared head keep it unchanged.
#[test]
fn a_shared_head_is_copied() {
    let head = Bytes::copy_from_slice(HEAD.as_bytes());
    let mut changed = Response::encoded(Status::OK, head.clone());
    changed.set_field("ETag", b"b").unwrap();
    changed.remove_field("Set-Cookie");
    changed.set_status(Status::GONE);
    let other = Response::encoded(Status::OK, head);
    assert_eq!(other.head_bytes(), HEAD.as_bytes());
}
