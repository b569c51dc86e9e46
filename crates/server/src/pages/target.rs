//! Targets of redirects and links in pages: on this site, and on other sites only if the template
//! allows it.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters to encode in a URL, including the backslash: browsers read it as a slash, and
/// `/\host` as another host.
const IN_LOCATION: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Whether a redirection may leave the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Another page of this site.
    Site,
    /// Any `http` or `https` URL.
    Anywhere,
}

/// The value of Location for `to`; `None` if it leads to another site and `reach` does not allow
/// that.
pub(crate) fn location(to: &str, reach: Reach) -> Option<String> {
    let allowed = match scheme(to) {
        Some(scheme) => reach == Reach::Anywhere && is_http(scheme),
        None => reach == Reach::Anywhere || !leads_to_another_host(to),
    };
    allowed.then(|| utf8_percent_encode(to, IN_LOCATION).to_string())
}

/// A URL that a link may have: no scheme at all, or one that does nothing but open a page, a letter
/// or a call.
pub(crate) fn is_link(url: &str) -> bool {
    let url = trimmed(url);
    match scheme(&url) {
        None => true,
        Some(scheme) => {
            is_http(scheme)
                || ["mailto", "tel", "sms"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        }
    }
}

/// As browsers read a URL: without control characters and spaces at its ends, tabs and line ends
/// anywhere.
fn trimmed(url: &str) -> String {
    let url = url.trim_matches(|character: char| character <= ' ');
    url.replace(['\t', '\n', '\r'], "")
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// What stands before a colon that comes before any slash, question mark or hash: a scheme, or what
/// a browser may take for one.
fn scheme(url: &str) -> Option<&str> {
    let end = url.find([':', '/', '?', '#'])?;
    url[end..].starts_with(':').then(|| &url[..end])
}

fn leads_to_another_host(to: &str) -> bool {
    let mut begin = to.chars();
    let is_slash = |character| matches!(character, Some('/' | '\\'));
    is_slash(begin.next()) && is_slash(begin.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(to: &str, reach: Reach, expected: Option<&str>) {
        assert_eq!(location(to, reach).as_deref(), expected, "{to:?}");
    }

    #[test]
    fn other_hosts_are_refused() {
        for to in [
            "http://evil.example/",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            ":x",
            "HTTPS:evil.example",
            "\\:x",
            "a\\b:x",
        ] {
            check(to, Reach::Site, None);
        }
        for to in ["javascript:alert(1)", "data:text/html,x", "ftp://x/", ":x"] {
            check(to, Reach::Anywhere, None);
        }
    }

    #[test]
    fn no_byte_ends_the_field() {
        check("/a\r\nX: y", Reach::Site, Some("/a%0D%0AX:%20y"));
        check("/a\0ü\\", Reach::Site, Some("/a%00%C3%BC%5C"));
    }

    #[test]
    fn pages_of_the_site_are_reached() {
        for to in ["/", "/a/b?c=d&e=%20#f", "b", "../b", "?page=2", "#x", "", "/a:b", "?a=b:c"] {
            check(to, Reach::Site, Some(to));
        }
        check("https://example.org/?a", Reach::Anywhere, Some("https://example.org/?a"));
        check("//example.org/", Reach::Anywhere, Some("//example.org/"));
    }

    #[test]
    fn links_run_no_script() {
        for url in ["javascript:x", " \u{1}JavaScript:x", "java\nscript:x", "vbscript:x", "data:x"]
        {
            assert!(!is_link(url), "{url:?}");
        }
        for url in ["/a", "a?b=c:d", "", "https://x", "HTTP://x", "mailto:a@b", "tel:1", "//x"] {
            assert!(is_link(url), "{url:?}");
        }
    }
}
