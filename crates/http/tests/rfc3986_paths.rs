//! Paths on their way to a file: RFC 3986 §2.1 and §5.2.4, in the order that keeps authorization
//! rules whole.

use proptest::prelude::*;
use vervet_http::target::PathError::{
    self, AboveRoot, Byte, EncodedSlash, NotAbsolute, Nul, Triplet,
};
use vervet_http::target::{NormalPath, percent_encode_path};

#[track_caller]
fn check(raw: &[u8], expected: Result<&[u8], PathError>) {
    let found = NormalPath::decode(raw);
    let found = found.as_ref().map(NormalPath::as_bytes).map_err(|error| *error);
    assert_eq!(found, expected, "{}", raw.escape_ascii());
}

#[test]
fn rejects_paths_that_do_not_begin_at_the_root() {
    check(b"", Err(NotAbsolute));
    check(b"*", Err(NotAbsolute));
    check(b"a/b", Err(NotAbsolute));
    check(b"%2Fa", Err(NotAbsolute));
}

#[test]
fn refuses_bytes_that_must_be_encoded() {
    for byte in (0..=b' ').chain([0x7f, b'#', b'?']) {
        check(&[b'/', byte], Err(Byte));
        check(&[b'/', b'%', b'4', b'1', byte], Err(Byte));
    }
}

#[test]
fn refuses_malformed_triplets() {
    for raw in ["/%", "/%4", "/%4g", "/%g4", "/%%41", "/a%/b", "/%u0041", "/%+1"] {
        check(raw.as_bytes(), Err(Triplet));
    }
}

#[test]
fn refuses_an_encoded_nul_or_slash() {
    check(b"/index.html%00.png", Err(Nul));
    check(b"/%00", Err(Nul));
    check(b"/admin%2Fusers", Err(EncodedSlash));
    check(b"/admin%2fusers", Err(EncodedSlash));
    check(b"/..%2f..%2fetc/passwd", Err(EncodedSlash));
    check(b"/a/%2e%2e%2f", Err(EncodedSlash));
}

#[test]
fn refuses_to_climb_above_the_root() {
    for raw in [
        "/..",
        "/../",
        "/../etc/passwd",
        "/a/../../etc/passwd",
        "/%2e%2e/etc/passwd",
        "/%2E./etc/passwd",
        "/.%2e/etc/passwd",
        "/a/%2e%2e/..",
        "//..",
        "/./..",
        "/a/../../a",
    ] {
        check(raw.as_bytes(), Err(AboveRoot));
    }
}

#[test]
fn decodes_once_only() {
    check(b"/%252e%252e/a", Ok(b"/%2e%2e/a"));
    check(b"/%252F", Ok(b"/%2F"));
    check(b"/%2500", Ok(b"/%00"));
    check(b"/a%3Fb%23c", Ok(b"/a?b#c"));
}

#[test]
fn removes_dot_segments() {
    // §5.2.4
    check(b"/a/b/c/./../../g", Ok(b"/a/g"));
    check(b"/.", Ok(b"/"));
    check(b"/a/.", Ok(b"/a/"));
    check(b"/a/..", Ok(b"/"));
    check(b"/a/b/..", Ok(b"/a/"));
    check(b"/a/%2e%2E/b", Ok(b"/b"));
    check(b"/a/%2e/b", Ok(b"/a/b"));
    check(b"/a/../b/../c/", Ok(b"/c/"));
}

#[test]
fn collapses_empty_segments_before_dots_count() {
    check(b"//", Ok(b"/"));
    check(b"//a", Ok(b"/a"));
    check(b"/a//b", Ok(b"/a/b"));
    check(b"/a///", Ok(b"/a/"));
    check(b"/a//../b", Ok(b"/b"));
}

#[test]
fn leaves_names_with_dots_and_backslashes_alone() {
    for same in [
        "/a..b",
        "/..a",
        "/a..",
        "/...",
        "/.well-known/x",
        "/a.",
        "/\\..\\a",
        "/a\\b",
        "/c:/x",
        "/~a",
        "/a;b=c",
        "/",
    ] {
        check(same.as_bytes(), Ok(same.as_bytes()));
    }
    check(b"/..%5c..%5ca", Ok(b"/..\\..\\a"));
    check(b"/%5c", Ok(b"/\\"));
}

#[test]
fn decodes_bytes_that_need_not_be_utf_8() {
    check(b"/%C3%BC", Ok("/\u{fc}".as_bytes()));
    check("/\u{fc}".as_bytes(), Ok("/\u{fc}".as_bytes()));
    check(b"/%ff%FE", Ok(b"/\xff\xfe"));
    // Overlong UTF-8 of a slash is two bytes of a name, never a slash.
    check(b"/%c0%af", Ok(b"/\xc0\xaf"));
    check(b"/a%20b", Ok(b"/a b"));
    check(b"/a%0Ab", Ok(b"/a\nb"));
}

#[test]
fn returns_the_segments() {
    let path = NormalPath::decode(b"/a/%62/").unwrap();
    assert_eq!(path.segments().collect::<Vec<_>>(), [b"a", b"b"]);
    let path = NormalPath::decode(b"/").unwrap();
    assert_eq!(path.segments().count(), 0);
}

#[track_caller]
fn check_encoded(path: &[u8], expected: &str) {
    assert_eq!(percent_encode_path(path), expected);
}

#[test]
fn encodes_characters_special_in_html_or_fields() {
    check_encoded(b"/\r\nSet-Cookie: a", "/%0D%0ASet-Cookie%3A%20a");
    check_encoded(b"<script>\"'&", "%3Cscript%3E%22%27%26");
    check_encoded(b"javascript:x", "javascript%3Ax");
    check_encoded(b"/\\host", "/%5Chost");
    check_encoded(b"/100%?#;", "/100%25%3F%23%3B");
    check_encoded("/\u{fc} \u{7f}".as_bytes(), "/%C3%BC%20%7F");
    check_encoded(b"/\xff", "/%FF");
    check_encoded(b"/a-b_c.d~e@f+g,h=i!j$k(l)", "/a-b_c.d~e@f+g,h=i!j$k(l)");
}

/// Raw paths made of the pieces that have broken servers.
fn hostile_path() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"/"[..]),
        Just(&b"."[..]),
        Just(&b".."[..]),
        Just(&b"%2e"[..]),
        Just(&b"%2E"[..]),
        Just(&b"%2f"[..]),
        Just(&b"%00"[..]),
        Just(&b"\\"[..]),
        Just(&b"%5c"[..]),
        Just(&b"%25"[..]),
        Just(&b"%"[..]),
        Just(&b"a"[..]),
        Just(&b"\xc0\xae"[..]),
        Just(&b"/../"[..]),
        Just(&b"/./"[..]),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let mut path = b"/".to_vec();
        path.extend(pieces.concat());
        path
    })
}

proptest! {
    #[test]
    fn a_normal_path_never_climbs(raw in hostile_path()) {
        if let Ok(path) = NormalPath::decode(&raw) {
            let bytes = path.as_bytes();
            prop_assert_eq!(bytes.first(), Some(&b'/'));
            prop_assert!(!bytes.contains(&0));
            let mut segments: Vec<_> = bytes[1..].split(|&byte| byte == b'/').collect();
            // The last segment of a directory is the empty one after its slash.
            let last = segments.pop().unwrap();
            prop_assert!(last != b"." && last != b"..");
            for segment in segments {
                prop_assert!(!matches!(segment, b"" | b"." | b".."));
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(raw in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = NormalPath::decode(&raw);
    }

    #[test]
    fn decoding_takes_back_encoding(
        names in prop::collection::vec(prop::collection::vec(1u8.., 1..9), 0..5)
    ) {
        let name_is_plain = |name: &Vec<u8>| !name.contains(&b'/') && name != b"." && name != b"..";
        prop_assume!(names.iter().all(name_is_plain));
        let mut path = b"/".to_vec();
        path.extend(names.join(&b'/'));
        let encoded = percent_encode_path(&path);
        let decoded = NormalPath::decode(encoded.as_bytes());
        prop_assert_eq!(decoded.as_ref().map(NormalPath::as_bytes), Ok(path.as_slice()));
    }

    #[test]
    fn a_normal_path_is_its_own_normal_form(raw in hostile_path()) {
        if let Ok(path) = NormalPath::decode(&raw) {
            let encoded = percent_encode_path(path.as_bytes());
            let again = NormalPath::decode(encoded.as_bytes());
            prop_assert_eq!(again.as_ref(), Ok(&path));
        }
    }
}
