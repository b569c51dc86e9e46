//! Conditional requests: RFC 9110 §13 and the entity tags of §8.8.3.

use vervet_http::conditional::Verdict::{self, NotModified, PreconditionFailed, Proceed};
use vervet_http::conditional::{Preconditions, Validators, evaluate, if_range_matches};
use vervet_http::etag::{Comparison, EntityTag, Strength, list_matches};
use vervet_http::method::Method::{self, Get, Put};

/// Sun, 06 Nov 1994 08:49:37 GMT
const MODIFIED: u64 = 784_111_777;
const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const OLDER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
const THIRTIETH_OF_FEBRUARY: &str = "Wed, 30 Feb 2000 08:49:37 GMT";
const YEAR_9999: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

fn tag(value: &str) -> EntityTag<'_> {
    let Some(tag) = EntityTag::parse(value.as_bytes()) else {
        panic!("{value:?} is not an entity tag");
    };
    tag
}

/// Evaluates field lines such as `If-Match: *` against the representation `"v1"` of [`MODIFIED`].
#[track_caller]
fn check(method: Method, lines: &[(&str, &str)], expected: Verdict) {
    let current = Validators { etag: Some(tag("\"v1\"")), last_modified: Some(MODIFIED) };
    check_against(Some(&current), method, lines, expected);
}

#[track_caller]
fn check_against(
    current: Option<&Validators<'_>>,
    method: Method,
    lines: &[(&str, &str)],
    expected: Verdict,
) {
    let value = |name| {
        let line = lines.iter().find(|(known, _)| *known == name);
        line.map(|(_, value)| value.as_bytes())
    };
    let preconditions = Preconditions {
        if_match: value("If-Match"),
        if_none_match: value("If-None-Match"),
        if_modified_since: value("If-Modified-Since"),
        if_unmodified_since: value("If-Unmodified-Since"),
    };
    assert_eq!(evaluate(method, &preconditions, current), expected, "{lines:?}");
}

#[test]
fn if_match() {
    // §13.1.1: "An origin server MUST use the strong comparison function"
    check(Get, &[("If-Match", "\"v2\"")], PreconditionFailed);
    check(Get, &[("If-Match", "W/\"v1\"")], PreconditionFailed);
    check(Get, &[("If-Match", "v1")], PreconditionFailed);
    check(Get, &[("If-Match", "")], PreconditionFailed);
    check(Put, &[("If-Match", "\"v2\", \"v3\"")], PreconditionFailed);
    check_against(None, Put, &[("If-Match", "*")], PreconditionFailed);
    check_against(None, Put, &[("If-Match", "\"v1\"")], PreconditionFailed);
    check(Put, &[("If-Match", "*")], Proceed);
    check(Put, &[("If-Match", "\"v1\"")], Proceed);
    check(Put, &[("If-Match", "\"v0\",\"v1\"")], Proceed);
}

#[test]
fn if_none_match() {
    // §13.1.2: "A recipient MUST use the weak comparison function"
    check(Get, &[("If-None-Match", "\"v1\"")], NotModified);
    check(Get, &[("If-None-Match", "W/\"v1\"")], NotModified);
    check(Get, &[("If-None-Match", "\"v0\" , ,\"v1\"")], NotModified);
    check(Get, &[("If-None-Match", "*")], NotModified);
    check(Put, &[("If-None-Match", "*")], PreconditionFailed);
    check(Put, &[("If-None-Match", "\"v1\"")], PreconditionFailed);
    check(Get, &[("If-None-Match", "v1")], Proceed);
    check(Get, &[("If-None-Match", "\"v1")], Proceed);
    check(Get, &[("If-None-Match", "\"V1\"")], Proceed);
    check(Get, &[("If-None-Match", "\"v2\"")], Proceed);
    check(Get, &[("If-None-Match", "")], Proceed);
    check_against(None, Put, &[("If-None-Match", "*")], Proceed);
}

#[test]
fn if_modified_since() {
    // §13.1.3
    check(Get, &[("If-Modified-Since", SAME)], NotModified);
    check(Get, &[("If-Modified-Since", LATER)], NotModified);
    check(Get, &[("If-Modified-Since", YEAR_9999)], NotModified);
    check(Get, &[("If-Modified-Since", "Sun Nov  6 08:49:37 1994")], NotModified);
    check(Get, &[("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT")], NotModified);
    check(Get, &[("If-Modified-Since", OLDER)], Proceed);
    // "A recipient MUST ignore the If-Modified-Since header field if the received field value is
    // not a valid HTTP-date"
    check(Get, &[("If-Modified-Since", "nonsense")], Proceed);
    check(Get, &[("If-Modified-Since", "")], Proceed);
    check(Get, &[("If-Modified-Since", THIRTIETH_OF_FEBRUARY)], Proceed);
    // "... the field value has more than one member, or if the request method is neither GET nor
    // HEAD."
    check(Get, &[("If-Modified-Since", &format!("{SAME}, {SAME}"))], Proceed);
    check(Put, &[("If-Modified-Since", SAME)], Proceed);
    let undated = Validators::default();
    check_against(Some(&undated), Get, &[("If-Modified-Since", SAME)], Proceed);
}

#[test]
fn if_unmodified_since() {
    // §13.1.4
    check(Get, &[("If-Unmodified-Since", OLDER)], PreconditionFailed);
    check(Put, &[("If-Unmodified-Since", OLDER)], PreconditionFailed);
    check(Put, &[("If-Unmodified-Since", SAME)], Proceed);
    check(Put, &[("If-Unmodified-Since", LATER)], Proceed);
    check(Put, &[("If-Unmodified-Since", "nonsense")], Proceed);
    check(Put, &[("If-Unmodified-Since", THIRTIETH_OF_FEBRUARY)], Proceed);
}

#[test]
fn precedence() {
    // §13.2.2, step by step
    let rows = [
        // 1 before 2: with If-Match, the date is ignored.
        (("If-Match", "\"v1\""), ("If-Unmodified-Since", OLDER), Proceed),
        (("If-Match", "\"v2\""), ("If-Unmodified-Since", LATER), PreconditionFailed),
        // 1 and 2 before 3.
        (("If-Match", "\"v2\""), ("If-None-Match", "\"v1\""), PreconditionFailed),
        (("If-Match", "\"v1\""), ("If-None-Match", "\"v1\""), NotModified),
        (("If-Unmodified-Since", OLDER), ("If-None-Match", "\"v1\""), PreconditionFailed),
        // 3 before 4: with If-None-Match, the date is ignored.
        (("If-None-Match", "\"v2\""), ("If-Modified-Since", LATER), Proceed),
        (("If-None-Match", "\"v1\""), ("If-Modified-Since", OLDER), NotModified),
        (("If-None-Match", "v1"), ("If-Modified-Since", LATER), Proceed),
    ];
    for (first, second, expected) in rows {
        check(Get, &[first, second], expected);
        check(Get, &[second, first], expected);
    }
    check(Get, &[], Proceed);
    check_against(None, Get, &[], Proceed);
}

#[test]
fn if_range() {
    // §13.1.5
    let check = |value: &str, etag: &str, age_s: u64, expected: bool| {
        let current =
            Validators { etag: EntityTag::parse(etag.as_bytes()), last_modified: Some(MODIFIED) };
        let found = if_range_matches(value.as_bytes(), &current, MODIFIED + age_s);
        assert_eq!(found, expected, "{value:?}");
    };
    check("\"v2\"", "\"v1\"", 60, false);
    check("W/\"v1\"", "W/\"v1\"", 60, false);
    check("W/\"v1\"", "\"v1\"", 60, false);
    check("\"v1\"", "W/\"v1\"", 60, false);
    check("\"v1\"", "", 60, false);
    check("\"v1\", \"v2\"", "\"v1\"", 60, false);
    check("*", "\"v1\"", 60, false);
    check("", "\"v1\"", 60, false);
    check("nonsense", "\"v1\"", 60, false);
    check("\"v1\"", "\"v1\"", 60, true);
    // "exact match", not "the same or later"
    check(OLDER, "\"v1\"", 60, false);
    check(LATER, "\"v1\"", 60, false);
    check(SAME, "\"v1\"", 60, true);
    check("Sunday, 06-Nov-94 08:49:37 GMT", "\"v1\"", 60, true);
    // §8.8.2.2: weak as long as the file may change again within the second.
    check(SAME, "\"v1\"", 0, false);
    check(SAME, "\"v1\"", 1, true);
}

#[test]
fn entity_tags_are_parsed() {
    // §8.8.3
    for bad in [
        "", "v1", "\"v1", "v1\"", "w/\"v1\"", "W/v1", "W\"v1\"", "\"v\"1\"", "\"v 1\"", " \"v1\"",
        "\"v1\" ",
    ] {
        assert_eq!(EntityTag::parse(bad.as_bytes()), None, "{bad:?}");
    }
    assert_eq!(EntityTag::parse(b"\"\x7f\""), None);
    for (value, strength, opaque) in [
        ("\"\"", Strength::Strong, ""),
        ("\"xyzzy\"", Strength::Strong, "xyzzy"),
        ("W/\"xyzzy\"", Strength::Weak, "xyzzy"),
        ("\"a,b\\\"", Strength::Strong, "a,b\\"),
        ("\"\u{fc}\"", Strength::Strong, "\u{fc}"),
    ] {
        let parsed = tag(value);
        assert_eq!((parsed.strength(), parsed.opaque()), (strength, opaque.as_bytes()));
        let mut written = Vec::new();
        parsed.write(&mut written);
        assert_eq!(written, value.as_bytes());
    }
}

#[test]
fn entity_tags_are_compared() {
    // §8.8.3.2, the table
    for (first, second, strong, weak) in [
        ("W/\"1\"", "W/\"1\"", false, true),
        ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ] {
        assert_eq!(tag(first).matches(tag(second), Comparison::Strong), strong);
        assert_eq!(tag(first).matches(tag(second), Comparison::Weak), weak);
    }
}

#[test]
fn lists_of_entity_tags_are_read_around_commas_in_tags() {
    let check = |list: &str, current: &str, expected: bool| {
        let current = Some(tag(current));
        let found = list_matches(list.as_bytes(), current, Comparison::Weak);
        assert_eq!(found, expected, "{list:?}");
    };
    check("\"a,b\"", "\"a\"", false);
    check("\"a\" \"b\"", "\"b\"", false);
    check("\"a\";\"b\"", "\"b\"", false);
    check("nonsense, \"b\"", "\"b\"", false);
    check("*, \"b\"", "\"a\"", false);
    check("\"a,b\"", "\"a,b\"", true);
    check("\"x\",\"a,b\\\",W/\"c\"", "\"c\"", true);
    check(", ,\"a\"", "\"a\"", true);
    check(" * ", "\"a\"", true);
}
