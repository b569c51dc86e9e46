//! Siblings and compression on the way (FEATURES B8). Bodies are unpacked and compared.

use std::fs;
use std::io::Write;

use crate::support::{NOW_S, Site, date, text, unpacked};
use vervet_engine::http::method::Method;
use vervet_server::Decision;
use vervet_server::compression::{COMPRESS_BYTES_MAX, COMPRESS_BYTES_MIN};
use vervet_server::files::options::Compression;
use vervet_testkit::TempTree;

const BROWSER: &str = "gzip, deflate, br, zstd";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn site() -> Site {
    let kept = usize::try_from(COMPRESS_BYTES_MIN).unwrap();
    Site::new(
        TempTree::new()
            .file("page.html", text(20_000))
            .file("large.css", text(200_000))
            .file("small.css", text(kept - 1))
            .file("edge.css", text(kept))
            .file("picture.png", text(20_000))
            .file(
                "noise.txt",
                (0..3000u32)
                    .flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes())
                    .collect::<Vec<u8>>(),
            )
            .sparse("over.txt", COMPRESS_BYTES_MAX + 1),
    )
}

fn check(target: &str, accept_encoding: &str, coding: Option<&str>) {
    let mut site = site();
    let plain = site.get(target);
    let shown = site.ask(target, &[("accept-encoding", accept_encoding)]);
    assert_eq!(shown.status, 200);
    assert_eq!(shown.field("content-encoding"), coding, "{target} {accept_encoding:?}");
    match coding {
        None => {
            assert!(shown.content == plain.content);
            assert_eq!(shown.etag(), plain.etag());
        }
        Some(coding) => {
            assert!(shown.content.len() < plain.content.len());
            assert!(unpacked(&shown.content, coding) == plain.content);
            assert_ne!(shown.etag(), plain.etag());
            assert_eq!(shown.field("content-type"), plain.field("content-type"));
        }
    }
    assert_eq!(shown.field("vary"), plain.field("vary"), "both variants say what they depend on");
}

#[test]
fn what_gains_nothing_is_sent_as_it_is() {
    for accept in ["", "identity", "deflate", "gzip;q=0", "br;q=0, gzip;q=0, zstd;q=0, *;q=0"] {
        check("/page.html", accept, None);
    }
    check("/picture.png", BROWSER, None);
    check("/small.css", BROWSER, None);
    check("/noise.txt", BROWSER, None);
    let mut site = site();
    let Decision::Done(over) =
        site.decide(Method::Get, "/over.txt", &[("accept-encoding", BROWSER)])
    else {
        panic!("too large to be compressed on the way");
    };
    assert_eq!(over.content_ref().length(), Some(COMPRESS_BYTES_MAX + 1));
    assert_eq!(site.get("/picture.png").field("vary"), None);
    assert_eq!(site.get("/page.html").field("vary"), Some("Accept-Encoding"));
}

#[test]
fn the_peer_chooses_by_quality() {
    for target in ["/page.html", "/large.css", "/edge.css"] {
        for (accept, coding) in [
            (BROWSER, "zstd"),
            ("gzip", "gzip"),
            ("br", "br"),
            ("gzip;q=1, br;q=0.8, zstd;q=0.1", "gzip"),
            ("zstd;q=0, *", "br"),
        ] {
            check(target, accept, Some(coding));
        }
    }
}

#[test]
fn a_result_is_kept_until_the_file_changes() {
    let mut site = site();
    let fields = [("accept-encoding", BROWSER)];
    for target in ["/page.html", "/large.css"] {
        let first = site.ask(target, &fields);
        let again = site.ask(target, &fields);
        assert_eq!((first.later, again.later), (true, false), "compressed once");
        assert!(first.content == again.content && first.head == again.head);
        site.tree.write(&target[1..], text(30_000));
        site.pass_ms(1000);
        let changed = site.ask(target, &fields);
        assert!(changed.later);
        assert_eq!(unpacked(&changed.content, "zstd"), text(30_000));
        assert_ne!(changed.etag(), first.etag());
    }
}

#[test]
fn validators_of_the_compressed_form_decide() {
    let mut site = site();
    let identity = site.get("/page.html").etag().to_owned();
    let compressed = site.ask("/page.html", &[("accept-encoding", "br")]).etag().to_owned();
    for (fields, status) in [
        ([("accept-encoding", "br"), ("if-none-match", &*compressed)], 304),
        ([("accept-encoding", "br"), ("if-none-match", &identity)], 200),
        ([("accept-encoding", "gzip"), ("if-none-match", &compressed)], 200),
        ([("accept-encoding", ""), ("if-none-match", &compressed)], 200),
        ([("accept-encoding", ""), ("if-none-match", &identity)], 304),
        ([("accept-encoding", "br"), ("if-match", &identity)], 412),
    ] {
        assert_eq!(site.ask("/page.html", &fields).status, status, "{fields:?}");
    }
    let unchanged = site.ask("/large.css", &[("accept-encoding", "br"), ("if-none-match", "*")]);
    assert!(!unchanged.later, "nothing is compressed for a 304");
    assert_eq!(unchanged.status, 304);
}

#[test]
fn a_range_of_what_we_compress_is_a_range_of_the_file() {
    let mut site = site();
    let whole = text(20_000);
    for _ in 0..2 {
        let fields = [("accept-encoding", BROWSER), ("range", "bytes=10-19")];
        let shown = site.ask("/page.html", &fields);
        assert_eq!((shown.status, &*shown.content), (206, &whole[10..20]));
        assert_eq!(shown.field("content-encoding"), None);
        site.ask("/page.html", &[("accept-encoding", BROWSER)]);
    }
    let tag = site.ask("/page.html", &[("accept-encoding", BROWSER)]).etag().to_owned();
    let fields = [("accept-encoding", BROWSER), ("range", "bytes=10-19"), ("if-range", &tag)];
    assert_eq!(site.ask("/page.html", &fields).status, 200, "the tag is of other bytes");
}

#[test]
fn an_answer_nobody_has_time_to_compress_is_sent_as_it_is() {
    let mut site = site();
    for target in ["/page.html", "/large.css"] {
        let Decision::Later(job) = site.decide(Method::Get, target, &[("accept-encoding", "br")])
        else {
            panic!("there is no result yet");
        };
        let response = job.decline();
        assert_eq!(response.status().code(), 200);
        assert_eq!(response.content_ref().length(), Some(site.get(target).content.len() as u64));
    }
}

#[test]
fn siblings_are_used_when_new_enough() {
    let content = text(50_000);
    let packed = gzip(&content);
    let tree =
        TempTree::new().file("x.css", &content).file("x.css.gz", &packed).file("y.css.gz", &packed);
    let mut site = Site::with(tree, |options| options.compression = Compression::Siblings);
    let fields = [("accept-encoding", BROWSER)];
    let shown = site.ask("/x.css", &fields);
    assert_eq!((shown.later, shown.field("content-encoding")), (false, Some("gzip")));
    assert!(shown.content == packed, "whole, whatever the length of the original");
    assert_eq!(shown.field("content-type"), Some("text/css; charset=utf-8"));
    assert_ne!(shown.etag(), site.get("/x.css").etag());
    assert_eq!(site.ask("/y.css", &fields).status, 404, "a sibling without its file is nothing");

    let part = site.ask("/x.css", &[("accept-encoding", "gzip"), ("range", "bytes=-5")]);
    assert_eq!((part.status, part.field("content-encoding")), (206, Some("gzip")));
    assert_eq!(part.content, packed[packed.len() - 5..]);
    let expected = format!("bytes {}-{}/{}", packed.len() - 5, packed.len() - 1, packed.len());
    assert_eq!(part.field("content-range"), Some(&*expected));

    date(&site.tree.join("x.css"), NOW_S - 3600);
    site.pass_ms(1000);
    assert_eq!(site.ask("/x.css", &fields).field("content-encoding"), None, "older than the file");
    date(&site.tree.join("x.css.gz"), NOW_S - 3600);
    site.pass_ms(1000);
    assert_eq!(site.ask("/x.css", &fields).field("content-encoding"), Some("gzip"));
    fs::remove_file(site.tree.join("x.css.gz")).unwrap();
    site.pass_ms(1000);
    assert_eq!(site.ask("/x.css", &fields).field("content-encoding"), None);
}

#[test]
fn a_sibling_comes_before_our_own_work_and_a_new_one_is_noticed() {
    let content = text(50_000);
    let mut site = Site::new(TempTree::new().file("x.css", &content));
    let fields = [("accept-encoding", "br, gzip")];
    assert_eq!(site.ask("/x.css", &fields).field("content-encoding"), Some("br"));
    site.tree.write("x.css.gz", gzip(&content));
    date(&site.tree.join("x.css.gz"), NOW_S);
    site.pass_ms(1000);
    let shown = site.ask("/x.css", &fields);
    assert_eq!((shown.later, shown.field("content-encoding")), (false, Some("gzip")));
}

#[test]
fn off_is_off() {
    let tree = TempTree::new().file("x.css", text(5000)).file("x.css.gz", "packed");
    let mut site = Site::with(tree, |options| options.compression = Compression::Off);
    let shown = site.ask("/x.css", &[("accept-encoding", BROWSER)]);
    assert_eq!((shown.field("content-encoding"), shown.field("vary")), (None, None));
    assert_eq!(shown.content, text(5000));
}
