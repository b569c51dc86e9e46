//! Redirects (RFC 9110 §15.4): the target of a Location on the same host, and the method to use.

/// How a redirect is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectMethod {
    /// By GET, without content: 303, and what browsers do at 301 and 302 after a POST.
    Get,
    /// By the same request again: 307 and 308, and the others after a safe method.
    Same,
}

/// The method to follow a redirect status with, if it is one.
pub(super) fn redirect_method(status: u16, method: &str) -> Option<RedirectMethod> {
    let is_safe = matches!(method, "GET" | "HEAD" | "OPTIONS");
    match status {
        301 | 302 if method == "POST" => Some(RedirectMethod::Get),
        303 if !is_safe => Some(RedirectMethod::Get),
        301..=303 | 307 | 308 => Some(RedirectMethod::Same),
        _ => None,
    }
}

/// Resolves a Location against the request target (RFC 3986 §5.2). `None` if it is invalid, or
/// leads to another host or to https.
pub(super) fn resolve(location: &[u8], base: &[u8], host: &str) -> Option<Vec<u8>> {
    let location = location.split(|&byte| byte == b'#').next()?;
    if !location.iter().all(|&byte| byte.is_ascii_graphic() || byte >= 0x80) {
        return None;
    }
    let location = match after_authority(location, host)? {
        (Reference::Absolute, []) => b"/",
        (Reference::Absolute, rest) if rest[0] == b'?' => return Some([b"/", rest].concat()),
        (_, rest) => rest,
    };
    let (base_path, base_query) = split_query(base);
    let (path, query) = split_query(location);
    let mut target = match path {
        [] if query.is_empty() => return Some([base_path, base_query].concat()),
        [] => base_path.to_vec(),
        [b'/', ..] => without_dots(path),
        _ => {
            let folder = memchr::memrchr(b'/', base_path).map_or(0, |slash| slash + 1);
            without_dots(&[&base_path[..folder], path].concat())
        }
    };
    target.extend_from_slice(query);
    Some(encode(target))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reference {
    /// It named the host.
    Absolute,
    /// It did not.
    Relative,
}

/// The rest after the authority, if that is the same host or missing.
fn after_authority<'a>(location: &'a [u8], host: &str) -> Option<(Reference, &'a [u8])> {
    let rest = if let Some(rest) = location.strip_prefix(b"//") {
        rest
    } else {
        let Some(colon) = memchr::memmem::find(location, b"://") else {
            return Some((Reference::Relative, location));
        };
        let scheme = &location[..colon];
        if scheme.iter().any(|byte| b"/?".contains(byte)) {
            return Some((Reference::Relative, location));
        }
        if !scheme.eq_ignore_ascii_case(b"http") {
            return None;
        }
        &location[colon + 3..]
    };
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    let authority = rest[..end].strip_suffix(b":80").unwrap_or(&rest[..end]);
    authority.eq_ignore_ascii_case(host.as_bytes()).then(|| (Reference::Absolute, &rest[end..]))
}

/// The path, and the query with its question mark.
fn split_query(target: &[u8]) -> (&[u8], &[u8]) {
    target.split_at(memchr::memchr(b'?', target).unwrap_or(target.len()))
}

/// RFC 3986 §5.2.4, for a path that begins with a slash.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|&byte| byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if segment == b".." {
                    kept.pop();
                }
                if is_last {
                    kept.push(b"");
                }
            }
            _ => kept.push(segment),
        }
    }
    kept.iter().flat_map(|segment| [b"/", *segment].concat()).collect()
}

/// What no target can hold, percent-encoded.
fn encode(target: Vec<u8>) -> Vec<u8> {
    if target.iter().all(u8::is_ascii_graphic) {
        return target;
    }
    let encoded = target.into_iter().flat_map(|byte| {
        if byte.is_ascii_graphic() { vec![byte] } else { format!("%{byte:02X}").into_bytes() }
    });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(location: &str, expected: Option<&str>) {
        let found = resolve(location.as_bytes(), b"/a/b/c?d", "h:81");
        let found = found.map(|target| String::from_utf8(target).unwrap());
        assert_eq!(found.as_deref(), expected, "{location:?}");
    }

    #[test]
    fn other_hosts_are_not_followed() {
        check("http://g/", None);
        check("https://h:81/", None);
        check("//g/x", None);
        check("ftp://h:81/", None);
        check("/a\x01b", None);
        check("/a b", None);
    }

    #[test]
    fn references_are_resolved() {
        // The examples of RFC 3986 §5.4 that are about paths.
        check("g", Some("/a/b/g"));
        check("./g", Some("/a/b/g"));
        check("g/", Some("/a/b/g/"));
        check("/g", Some("/g"));
        check("?y", Some("/a/b/c?y"));
        check("g?y", Some("/a/b/g?y"));
        check("", Some("/a/b/c?d"));
        check("#s", Some("/a/b/c?d"));
        check(".", Some("/a/b/"));
        check("..", Some("/a/"));
        check("../g", Some("/a/g"));
        check("../../../g", Some("/g"));
        check("/a/./g/../x", Some("/a/x"));
        check("http://H:81", Some("/"));
        check("http://h:81?q", Some("/?q"));
        check("//h:81/x?http://g/", Some("/x?http://g/"));
        check("/x?to=http://g/", Some("/x?to=http://g/"));
        check("/ä", Some("/%C3%A4"));
        assert_eq!(resolve(b"http://h:80/x", b"/", "h"), Some(b"/x".to_vec()));
    }

    #[test]
    fn the_method_follows_the_status() {
        assert_eq!(redirect_method(200, "GET"), None);
        assert_eq!(redirect_method(304, "GET"), None);
        assert_eq!(redirect_method(302, "POST"), Some(RedirectMethod::Get));
        assert_eq!(redirect_method(302, "GET"), Some(RedirectMethod::Same));
        assert_eq!(redirect_method(303, "PUT"), Some(RedirectMethod::Get));
        assert_eq!(redirect_method(303, "HEAD"), Some(RedirectMethod::Same));
        assert_eq!(redirect_method(307, "POST"), Some(RedirectMethod::Same));
    }

    proptest! {
        #[test]
        fn any_location_leads_to_a_target_or_nowhere(
            location in prop::collection::vec(any::<u8>(), 0..40),
            base in "/[!-~]{0,20}",
        ) {
            if let Some(target) = resolve(&location, base.as_bytes(), "h") {
                prop_assert!(target.starts_with(b"/"));
                prop_assert!(target.iter().all(u8::is_ascii_graphic));
            }
        }
    }
}
