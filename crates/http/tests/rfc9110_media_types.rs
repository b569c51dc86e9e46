//! Media types: RFC 9110 §8.3.

use vervet_http::media_type::{DEFAULT, MediaType, by_file_name, is_compressible};

#[track_caller]
fn check(name: &str, expected: Option<&str>) {
    assert_eq!(by_file_name(name.as_bytes()), expected, "{name:?}");
}

#[test]
fn unknown_names_have_no_type() {
    for name in [
        "",
        ".",
        "README",
        ".png",
        "img/.png",
        "a.",
        "a.unknown",
        "a.htmlx",
        "a.averyveryverylongextension",
        "a.png/b",
    ] {
        check(name, None);
    }
    assert_eq!(by_file_name(b"a.\xff\xfe"), None);
    assert_eq!(DEFAULT, "application/octet-stream");
}

#[test]
fn the_last_extension_decides() {
    check("archive.tar.gz", Some("application/gzip"));
    check("page.html.txt", Some("text/plain; charset=utf-8"));
    check("PHOTO.JPG", Some("image/jpeg"));
    check("img/photo.Jpeg", Some("image/jpeg"));
    check("a..b.png", Some("image/png"));
    check(".hidden.css", Some("text/css; charset=utf-8"));
    check("site.webmanifest", Some("application/manifest+json"));
    assert_eq!(by_file_name(b"\xff.png"), Some("image/png"));
}

#[test]
fn the_types_of_today() {
    for (name, expected) in [
        ("a.html", "text/html; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.wasm", "application/wasm"),
        ("a.md", "text/markdown; charset=utf-8"),
        ("a.svg", "image/svg+xml"),
        ("a.avif", "image/avif"),
        ("a.webp", "image/webp"),
        ("a.jxl", "image/jxl"),
        ("a.ico", "image/vnd.microsoft.icon"),
        ("a.woff2", "font/woff2"),
        ("a.mp4", "video/mp4"),
        ("a.webm", "video/webm"),
        ("a.opus", "audio/opus"),
        ("a.pdf", "application/pdf"),
        ("a.zip", "application/zip"),
        ("a.zst", "application/zstd"),
        ("a.7z", "application/x-7z-compressed"),
        ("a.zip", "application/zip"),
    ] {
        check(name, Some(expected));
    }
}

#[test]
fn compresses_what_shrinks() {
    for media_type in [
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/avif",
        "video/mp4",
        "audio/mpeg",
        "font/woff2",
        "font/woff",
        "application/zip",
        "application/gzip",
        "application/octet-stream",
        "application/pdf",
        "",
        "text",
        "/",
        "nonsense",
    ] {
        assert!(!is_compressible(media_type), "{media_type:?}");
    }
    for media_type in [
        "text/html; charset=utf-8",
        "TEXT/CSS",
        "text/javascript",
        "application/json",
        "application/ld+json",
        "image/svg+xml",
        "application/wasm",
        "font/ttf",
        "application/manifest+json",
        "application/atom+xml",
        "application/JSON; charset=utf-8",
    ] {
        assert!(is_compressible(media_type), "{media_type:?}");
    }
}

#[test]
fn media_types_are_parsed() {
    // §8.3.1
    for bad in [
        "",
        "text",
        "text/",
        "/html",
        "te xt/html",
        "text/html/x",
        "text /html",
        "\u{fc}/html",
        ";q=1",
    ] {
        assert_eq!(MediaType::parse(bad.as_bytes()), None, "{bad:?}");
    }
    let parsed = MediaType::parse(b"Text/HTML;Charset=\"utf-8\" ; a ;b=\"c;d\"").unwrap();
    assert_eq!((parsed.main(), parsed.subtype()), (&b"Text"[..], &b"HTML"[..]));
    assert_eq!(parsed.parameter(b"charset"), Some(&b"utf-8"[..]));
    assert_eq!(parsed.parameter(b"a"), Some(&b""[..]));
    assert_eq!(parsed.parameter(b"b"), Some(&b"c;d"[..]));
    assert_eq!(parsed.parameter(b"c"), None);
    assert_eq!(parsed.parameters().count(), 3);
}
