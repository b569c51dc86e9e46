//! Conditional requests and ranges over files (FEATURES B3, B4).

use crate::support::{NOW_S, Site, date, text};
use vervet_engine::http::method::Method;
use vervet_testkit::TempTree;

// 2027-01-15 08:00:00 UTC is NOW_S; files are a day older.
const MODIFIED: &str = "Thu, 14 Jan 2027 08:00:00 GMT";
const EARLIER: &str = "Thu, 14 Jan 2027 07:59:59 GMT";
const LATER: &str = "Thu, 14 Jan 2027 08:00:01 GMT";

fn site() -> Site {
    Site::new(
        TempTree::new()
            .file("small.txt", "0123456789")
            .file("large.bin", text(70_000))
            .file("empty.bin", ""),
    )
}

fn check(fields: &[(&str, &str)], status: u16, content: &[u8]) {
    let mut site = site();
    let shown = site.ask("/small.txt", fields);
    assert_eq!((shown.status, &*shown.content), (status, content), "{fields:?}");
}

#[test]
fn nonsense_is_ignored() {
    let whole = b"0123456789";
    for fields in [
        [("if-modified-since", "yesterday")],
        [("if-modified-since", "Sat, 30 Feb 2027 08:00:00 GMT")],
        [("if-unmodified-since", "soon")],
        [("if-none-match", "\"other\"")],
        [("range", "bytes=5-2")],
        [("range", "lines=0-1")],
        [("range", "bytes=a-b")],
        [("if-range", "\"other\"")],
    ] {
        check(&fields, 200, whole);
    }
    check(&[("range", "bytes=0-1"), ("if-range", "\"other\"")], 200, whole);
    check(&[("range", "bytes=0-1"), ("if-range", EARLIER)], 200, whole);
}

#[test]
fn dates_decide() {
    assert_eq!(site().get("/small.txt").field("last-modified"), Some(MODIFIED));
    check(&[("if-modified-since", EARLIER)], 200, b"0123456789");
    check(&[("if-modified-since", MODIFIED)], 304, b"");
    check(&[("if-modified-since", LATER)], 304, b"");
    check(&[("if-modified-since", "Fri, 31 Dec 9999 23:59:59 GMT")], 304, b"");
    check(&[("if-unmodified-since", MODIFIED)], 200, b"0123456789");
    assert_eq!(site().ask("/small.txt", &[("if-unmodified-since", EARLIER)]).status, 412);
    check(&[("range", "bytes=2-3"), ("if-range", MODIFIED)], 206, b"23");
}

#[test]
fn tags_decide_before_dates() {
    let mut site = site();
    let etag = site.get("/small.txt").etag().to_owned();
    let list = format!("\"x\", {etag}");
    let weak = format!("W/{etag}");
    for (fields, status) in [
        ([("if-none-match", "*"), ("if-modified-since", EARLIER)], 304),
        ([("if-none-match", &etag), ("if-modified-since", EARLIER)], 304),
        ([("if-none-match", &list), ("if-modified-since", EARLIER)], 304),
        ([("if-none-match", &weak), ("if-modified-since", EARLIER)], 304),
        ([("if-none-match", "\"x\""), ("if-modified-since", LATER)], 200),
        ([("if-match", &etag), ("if-unmodified-since", EARLIER)], 200),
        ([("if-match", "\"x\""), ("if-unmodified-since", LATER)], 412),
        ([("if-match", &weak), ("if-unmodified-since", LATER)], 412),
        ([("range", "bytes=0-0"), ("if-range", &etag)], 206),
        ([("range", "bytes=0-0"), ("if-range", &weak)], 200),
    ] {
        assert_eq!(site.ask("/small.txt", &fields).status, status, "{fields:?}");
    }
    let unchanged = site.ask("/small.txt", &[("if-none-match", &etag)]);
    // RFC 9110 §15.4.5: what a 200 would have carried of these.
    let whole = site.get("/small.txt");
    for name in ["etag", "last-modified", "cache-control", "vary"] {
        assert!(whole.field(name).is_some(), "{name}");
        assert_eq!(unchanged.field(name), whole.field(name));
    }
    assert_eq!(unchanged.field("content-type"), None);
}

#[test]
fn a_date_in_the_future_is_not_told() {
    let mut site = site();
    date(&site.tree.join("small.txt"), NOW_S + 5000);
    assert_eq!(
        site.get("/small.txt").field("last-modified"),
        Some("Fri, 15 Jan 2027 08:00:00 GMT")
    );
}

#[test]
fn a_range_beyond_the_end_tells_the_length() {
    for (target, length) in [("/small.txt", 10), ("/large.bin", 70_000)] {
        let shown = site().ask(target, &[("range", "bytes=70000-")]);
        assert_eq!(shown.status, 416);
        assert_eq!(shown.field("content-range"), Some(format!("bytes */{length}").as_str()));
        assert_eq!(shown.field("etag"), None);
    }
    let empty = site().ask("/empty.bin", &[("range", "bytes=0-")]);
    assert_eq!((empty.status, empty.content.len()), (200, 0));
}

#[test]
fn one_range_is_cut_out() {
    let large = text(70_000);
    for (target, whole) in [("/small.txt", &b"0123456789"[..]), ("/large.bin", &large)] {
        let length = whole.len();
        for (range, from, to) in [
            ("bytes=0-", 0, length),
            ("bytes=-1", length - 1, length),
            ("bytes=3-7", 3, 8),
            ("bytes=9-9", 9, 10),
            ("bytes=5-99999999999999999999", 5, length),
            ("bytes=-99999999", 0, length),
        ] {
            let shown = site().ask(target, &[("range", range)]);
            assert_eq!(shown.status, 206, "{range}");
            assert_eq!(shown.content, whole[from..to], "{range}");
            let expected = format!("bytes {from}-{}/{length}", to - 1);
            assert_eq!(shown.field("content-range"), Some(expected.as_str()));
            assert!(shown.field("etag").is_some() && shown.field("content-type").is_some());
        }
    }
}

#[test]
fn several_ranges_come_in_parts() {
    let large = text(70_000);
    for (target, whole) in [("/small.txt", &b"0123456789"[..]), ("/large.bin", &large)] {
        let shown = site().ask(target, &[("range", "bytes=0-1, 4-5, -2")]);
        assert_eq!((shown.status, shown.field("content-range")), (206, None));
        let media_type = shown.field("content-type").unwrap();
        let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let mut expected = Vec::new();
        let length = whole.len();
        for (from, to) in [(0, 2), (4, 6), (length - 2, length)] {
            let part_type = site().get(target).field("content-type").unwrap().to_owned();
            let last = to - 1;
            expected.extend_from_slice(
                format!("\r\n--{boundary}\r\nContent-Type: {part_type}\r\nContent-Range: bytes {from}-{last}/{length}\r\n\r\n")
                    .as_bytes(),
            );
            expected.extend_from_slice(&whole[from..to]);
        }
        expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert!(shown.content == expected, "{target}: {}", String::from_utf8_lossy(&shown.content));
    }
}

#[test]
fn head_knows_no_ranges() {
    let mut site = site();
    let shown = site.request(Method::Head, "/small.txt", &[("range", "bytes=0-1")]);
    assert_eq!((shown.status, shown.content.len()), (200, 10));
    assert_eq!(shown.field("accept-ranges"), Some("bytes"));
}
