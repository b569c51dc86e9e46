//! Rows of patterns, wrong ones first.

use super::*;

#[track_caller]
fn check_refused(text: &str, range: std::ops::Range<usize>, part: &str) {
    let flaw = Pattern::parse(text).unwrap_err();
    assert!(flaw.message.contains(part), "{text}: {flaw}");
    assert_eq!(flaw.range, range, "{text}: {flaw}");
}

#[test]
fn what_is_no_pattern_is_refused_where_it_is_wrong() {
    check_refused("", 0..0, "must begin with `/`");
    check_refused("a/b", 0..0, "must begin with `/`");
    check_refused("*", 0..0, "must begin with `/`");
    check_refused("/a/*/b", 3..4, "at the end");
    check_refused("/a/**", 3..4, "once");
    check_refused("/a?b", 2..3, "query");
    check_refused("/a#b", 2..3, "fragment");
    check_refused("/a%20b", 2..5, "the character itself");
    check_refused("/a\tb", 2..3, "control");
    check_refused("//a", 0..2, "`//` never matches");
    check_refused("/a//", 2..4, "`//` never matches");
    check_refused("/a//*", 2..4, "`//` never matches");
    check_refused("/a/../b", 3..5, "resolved");
    check_refused("/.", 1..2, "resolved");
    check_refused("/..*", 1..3, "resolved");
    check_refused("/u/{id}", 3..7, "`:id`");
    check_refused("/u/<id>", 3..7, "`:id`");
    check_refused(
        &format!("/{}", "a".repeat(PATTERN_BYTES_MAX)),
        0..PATTERN_BYTES_MAX + 1,
        "at most",
    );
}

#[test]
fn what_is_no_variable_is_refused_where_it_is_wrong() {
    check_refused("/u/:", 4..4, "a variable name has");
    check_refused("/u/:1", 4..5, "a variable name has");
    check_refused("/u/:a-b", 4..7, "a variable name has");
    check_refused("/u/:(number)", 4..4, "a variable name has");
    check_refused("/u/:id(", 6..7, "missing `)`");
    check_refused("/u/:id(number", 6..13, "missing `)`");
    check_refused("/u/:id()", 7..7, "unknown type ``");
    check_refused("/u/:id(int)", 7..10, "expected one of number, integer, word");
    check_refused("/u/:id(number)x/y", 14..15, "whole segment");
    check_refused("/u/:id*", 3..7, "cannot follow");
    check_refused("/:a/:b/:a", 8..9, "twice");
    check_refused("/:rest", 2..6, "predefined placeholder");
    let many = (0..=CAPTURES_MAX).fold(String::new(), |all, number| format!("{all}/:v{number}"));
    check_refused(&many, many.len() - 3..many.len(), "at most 16");
}

/// The values, joined by commas, with the rest after a bar; `None` where the path does not fit.
#[track_caller]
fn check(pattern: &str, path: &str, expected: Option<&str>) {
    let read = Pattern::parse(pattern).unwrap();
    let found = read.find(path.as_bytes()).map(|matched| {
        let pairs = matched.captures.iter(path.as_bytes());
        let pairs = pairs.map(|(variable, value)| {
            format!("{}={}", variable.name, str::from_utf8(value).unwrap())
        });
        let rest = matched.rest.map(|at| format!("|{}", &path[at..])).unwrap_or_default();
        pairs.collect::<Vec<_>>().join(",") + &rest
    });
    assert_eq!(found.as_deref(), expected, "{pattern} with {path}");
}

#[test]
fn exact_paths_are_exact() {
    check("/", "/a", None);
    check("/a", "/", None);
    check("/a", "/a/", None);
    check("/a/", "/a", None);
    check("/a", "/A", None);
    check("/a/b", "/a", None);
    check("/a", "/a/b", None);
    check("/", "/", Some(""));
    check("/a", "/a", Some(""));
    check("/a/", "/a/", Some(""));
    check("/caf\u{e9} 100%", "/caf\u{e9} 100%", Some(""));
    check("/wiki/Talk:Main", "/wiki/Talk:Main", Some(""));
}

#[test]
fn a_star_takes_what_is_below() {
    check("/static/*", "/static", None);
    check("/static/*", "/statics", None);
    check("/static/*", "/static/", Some("|/"));
    check("/static/*", "/static/a/b.css", Some("|/a/b.css"));
    check("/*", "/", Some("|/"));
    check("/*", "/a/b", Some("|/a/b"));
    check("/~*", "/a", None);
    check("/~*", "/", None);
    check("/~*", "/~bob/x", Some("|/~bob/x"));
    check("/a/img-*", "/a/img-1/x", Some("|/img-1/x"));
    check("/a/img-*", "/a/img", None);
    check("/a/img-*", "/a", None);
}

#[test]
fn variables_take_one_segment_of_their_type() {
    check("/u/:id(number)", "/u/x", None);
    check("/u/:id(number)", "/u/", None);
    check("/u/:id(number)", "/u/7/", None);
    check("/u/:id(number)", "/u/7", Some("id=7"));
    check("/u/:id", "/u/", None);
    check("/u/:id(number)/posts/:slug", "/u/7/posts/", None);
    check("/u/:id(number)/posts/:slug", "/u/7/posts/a/b", None);
    check("/u/:id(number)/posts/:slug", "/u/7/posts/a b", Some("id=7,slug=a b"));
    check("/:day(date)/*", "/2026-02-30/x", None);
    check("/:day(date)/*", "/2026-02-28/x", Some("day=2026-02-28|/x"));
    check("/:a/", "/x/", Some("a=x"));
}

#[test]
fn values_are_found_by_name_and_number() {
    let pattern = Pattern::parse("/:a/:b(number)").unwrap();
    let path = b"/x/7";
    let captures = pattern.find(path).unwrap().captures;
    assert_eq!(captures.get("b", path), Some(b"7".as_slice()));
    assert_eq!(captures.value(0, path), Some(b"x".as_slice()));
    assert_eq!(captures.get("c", path), None);
    assert_eq!(captures.value(2, path), None);
    assert!(!captures.is_empty() && Captures::default().is_empty());
}
