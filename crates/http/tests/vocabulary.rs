//! RFC 9110 §9 and §15: methods and statuses; and the list of violations.

use std::collections::HashSet;

use vervet_http::h1::Violation;
use vervet_http::method::Method;
use vervet_http::status::{Class, Status};

/// §9.1: "The method token is case-sensitive".
#[test]
fn knows_methods_by_their_exact_token() {
    for token in ["", "get", "Get", "GETS", "GE", "M-SEARCH", "unknown"] {
        assert_eq!(Method::from_token(token.as_bytes()), Method::Unknown, "{token}");
    }
    for token in ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"] {
        let method = Method::from_token(token.as_bytes());
        assert_eq!(method.as_str(), token);
        let is_safe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&token);
        assert_eq!(method.is_safe(), is_safe, "{token}");
    }
    assert!(!Method::Unknown.is_safe());
}

/// RFC 9112 §4: three digits, and the first one the class.
#[test]
fn knows_statuses() {
    for code in [0, 99, 1000, u16::MAX] {
        assert_eq!(Status::new(code), None);
    }
    let classes = [
        (100, Class::Informational),
        (199, Class::Informational),
        (200, Class::Success),
        (399, Class::Redirection),
        (400, Class::ClientError),
        (599, Class::ServerError),
        (600, Class::Other),
        (999, Class::Other),
    ];
    for (code, class) in classes {
        assert_eq!(Status::new(code).map(Status::class), Some(class), "{code}");
    }
    let allows = |code| Status::new(code).map(Status::allows_content);
    assert_eq!([100, 101, 199, 204, 304].map(allows), [Some(false); 5]);
    assert_eq!([200, 205, 206, 301, 404, 999].map(allows), [Some(true); 6]);
    let is_final = |code| Status::new(code).map(Status::is_final);
    assert_eq!(
        [100, 103, 101, 200].map(is_final),
        [Some(false), Some(false), Some(true), Some(true)]
    );
    let mut line = Vec::new();
    Status::NOT_FOUND.write_line(&mut line);
    assert_eq!(line, b"HTTP/1.1 404 Not Found\r\n");
}

/// A rejection names the violation and its clause.
#[test]
fn every_violation_says_what_and_where() {
    let mut messages = HashSet::new();
    for violation in Violation::ALL {
        let clause = violation.clause();
        assert!(clause.starts_with("RFC 91") || clause.starts_with("limit "), "{violation:?}");
        assert!(violation.status().code() >= 400, "{violation:?}");
        assert!(messages.insert(violation.message()), "{violation:?}");
        assert!(violation.closes());
    }
    let shown = Violation::HostMissing.to_string();
    assert_eq!(shown, "peer sent no Host in an HTTP/1.1 request (RFC 9112 §3.2)");
}
