//! The part of a raw path that the `*` of a route matches.

use std::borrow::Cow;

use vervet_http::target::percent_encode_path;

/// What stands in `raw_path` from the byte `at` of its decoded form `path` on, percent-encoded,
/// beginning with `/`.
///
/// Where the raw path is not its own decoded form, the rest is encoded again from the decoded one:
/// so it holds no dot segment, no empty segment and no second spelling that a rule in between has
/// not seen.
#[inline]
pub fn raw_rest<'a>(raw_path: &'a [u8], path: &[u8], at: usize) -> Cow<'a, [u8]> {
    if std::ptr::eq(raw_path, path) || raw_path == path {
        return Cow::Borrowed(&raw_path[at.min(raw_path.len())..]);
    }
    let rest = path.get(at..).unwrap_or_default();
    Cow::Owned(percent_encode_path(rest).into_owned().into_bytes())
}

#[cfg(test)]
mod tests {
    use vervet_http::target::NormalPath;

    use super::*;

    #[track_caller]
    fn check(raw: &str, at: usize, expected: &str) {
        let path = NormalPath::decode(raw.as_bytes()).unwrap();
        let rest = raw_rest(raw.as_bytes(), path.as_bytes(), at);
        assert_eq!(str::from_utf8(&rest).unwrap(), expected, "{raw}");
        let again = NormalPath::decode(&rest).unwrap();
        assert_eq!(again.as_bytes(), &path.as_bytes()[at..], "{raw}");
    }

    #[test]
    fn the_rest_of_a_crooked_path_is_straight() {
        check("/a/../static//x/y", 7, "/x/y");
        check("/static/./x%20y%3Fz", 7, "/x%20y%3Fz");
        check("/st%61tic/%C3%A9", 7, "/%C3%A9");
        check("/static/%5C%5Cevil", 7, "/%5C%5Cevil");
    }

    #[test]
    fn the_rest_of_a_straight_path_is_part_of_it() {
        check("/static/css/x.css", 7, "/css/x.css");
        check("/static/", 7, "/");
        check("/", 0, "/");
        let raw = b"/static/x".as_slice();
        assert!(matches!(raw_rest(raw, raw, 7), Cow::Borrowed(_)));
    }
}
