//! Proactive negotiation: RFC 9110 §12.

use proptest::prelude::*;
use vervet_http::negotiation::Encoding::{self, Brotli, Gzip, Identity, Zstd};
use vervet_http::negotiation::{Quality, choose_encoding, choose_media_type, media_type_quality};

#[test]
fn quality_values() {
    // §12.4.2
    let check = |value: &str, expected: Option<u16>| {
        let found = Quality::parse(value.as_bytes()).map(Quality::thousandths);
        assert_eq!(found, expected, "{value:?}");
    };
    for bad in ["", ".", ".5", "2", "1.001", "1.1", "0.0001", "-1", "0,5", "0.a", "00", "1e0", " 1"]
    {
        check(bad, None);
    }
    check("0", Some(0));
    check("0.", Some(0));
    check("0.001", Some(1));
    check("0.5", Some(500));
    check("0.75", Some(750));
    check("1.000", Some(1000));
    check("1", Some(1000));
}

#[track_caller]
fn check(accept_encoding: &str, expected: Encoding) {
    let found = choose_encoding(Some(accept_encoding.as_bytes()), &[Zstd, Brotli, Gzip]);
    assert_eq!(found, expected, "{accept_encoding:?}");
}

#[test]
fn sends_identity_when_nothing_else_is_wanted() {
    // §12.5.3
    assert_eq!(choose_encoding(None, &[Zstd, Brotli, Gzip]), Identity);
    assert_eq!(choose_encoding(Some(b"gzip"), &[]), Identity);
    assert_eq!(choose_encoding(Some(b"gzip"), &[Zstd]), Identity);
    check("", Identity);
    check("identity", Identity);
    check("deflate, compress", Identity);
    check("gzip;q=0", Identity);
    check("gzip;q=0, br;q=0.000, zstd; Q=0", Identity);
    check("*;q=0", Identity);
    check("br;q=high", Identity);
    check("gzipped", Identity);
    check("gzip;q=0.5, identity", Identity);
    check("*;q=0.8, zstd;q=0, br;q=0.5, gzip;q=0.5", Identity);
}

#[test]
fn sends_identity_rather_than_406_when_all_is_refused() {
    // §12.4.1: "the origin server can either honor the header field by sending a 406 (Not
    // Acceptable) response or disregard the header field"
    check("identity;q=0", Identity);
    check("deflate, identity;q=0", Identity);
    check("*;q=0, compress", Identity);
}

#[test]
fn chooses_the_highest_quality_and_then_our_order() {
    check("gzip, deflate, br, zstd", Zstd);
    check("gzip, deflate, br", Brotli);
    check("gzip", Gzip);
    check("x-gzip", Gzip);
    check("GZIP", Gzip);
    check("gzip;q=0.001", Gzip);
    check("zstd;q=0.5, br;q=0.8, gzip;q=0.7", Brotli);
    check("zstd;q=0.5,gzip;q=0.5", Zstd);
    check("identity;q=0.5, gzip;q=0.5", Gzip);
    check("identity;q=0, gzip;q=0.1", Gzip);
    check("*", Zstd);
    check("*, zstd;q=0", Brotli);
    check("*;q=0, gzip", Gzip);
    check("gzip ; q=0.9 , ,\tbr ;q=0.1", Gzip);
    check("gzip;level=9;q=0.5", Gzip);
    assert_eq!(choose_encoding(Some(b"gzip, br"), &[Identity, Gzip, Brotli]), Gzip);
}

#[test]
fn names_encodings() {
    let tokens = [Identity, Gzip, Brotli, Zstd].map(Encoding::token);
    assert_eq!(tokens, ["identity", "gzip", "br", "zstd"]);
}

#[track_caller]
fn check_quality(accept: &str, media_type: &str, expected: u16) {
    let found = media_type_quality(accept.as_bytes(), media_type).thousandths();
    assert_eq!(found, expected, "{media_type} in {accept:?}");
}

#[test]
fn the_most_specific_media_range_decides() {
    // §12.5.1, both examples
    let example = "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5";
    check_quality(example, "text/plain;format=flowed", 1000);
    check_quality(example, "text/plain", 700);
    check_quality(example, "text/html", 300);
    check_quality(example, "image/jpeg", 500);
    check_quality(example, "text/plain;format=fixed", 400);
    check_quality(example, "text/html;level=3", 300);
}

#[test]
fn media_ranges_that_do_not_contain_the_type() {
    check_quality("text/html", "text/plain", 0);
    check_quality("text/html;q=0, */*", "text/html", 0);
    check_quality("*/html", "text/html", 0);
    check_quality("html", "text/html", 0);
    check_quality("text/html;q=2", "text/html", 0);
    check_quality("text/html;charset=ascii", "text/html; charset=utf-8", 0);
    check_quality("text/html;title=\"\\\",text/plain,\"", "text/plain", 0);
    check_quality("text/html", "nonsense", 0);
    check_quality("", "text/html", 1000);
    check_quality("TEXT/HTML", "text/html; charset=utf-8", 1000);
    check_quality("text/html;charset=\"UTF-8\"", "text/html; charset=utf-8", 1000);
    check_quality(
        "application/json;title=\"a,b;c\";q=0.5, */*;q=0.1",
        "application/json; title=\"a,b;c\"",
        500,
    );
}

#[test]
fn chooses_a_media_type() {
    let offered = ["text/html; charset=utf-8", "application/json"];
    let check = |accept: Option<&str>, expected: Option<usize>| {
        assert_eq!(choose_media_type(accept.map(str::as_bytes), &offered), expected, "{accept:?}");
    };
    check(Some("image/png"), None);
    check(Some("text/html;q=0"), None);
    check(None, Some(0));
    check(Some(""), Some(0));
    check(Some("*/*"), Some(0));
    check(Some("application/json"), Some(1));
    check(Some("text/html;q=0.8, application/json"), Some(1));
    check(Some("application/json;q=0.8, text/html;q=0.8"), Some(0));
    assert_eq!(choose_media_type(None, &[]), None);
}

proptest! {
    #[test]
    fn any_bytes_are_answered_with_something_offered(value in prop::collection::vec(any::<u8>(), 0..60)) {
        let chosen = choose_encoding(Some(&value), &[Gzip]);
        prop_assert!(matches!(chosen, Identity | Gzip));
        let _ = choose_media_type(Some(&value), &["text/html"]);
    }
}
