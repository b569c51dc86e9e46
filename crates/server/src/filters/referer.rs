//! Hotlink protection: rejects requests whose Referer names another host.
//!
//! Browsers send the page that embeds a file in Referer (RFC 9110 §10.1.3). They may omit it, and
//! other clients may send anything: this saves bandwidth and protects no secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::section;
use vervet_http::field::Known;
use vervet_http::status::Status;

use super::FilterDirective;
use super::host_pattern::HostPattern;
use crate::resources::{Opened, Resources};
use crate::response::refusal;
use crate::web::{Edits, Pipeline, Request, RequestFilter, Verdict};

section! {
    /// Rejects requests from pages of other sites (hotlink protection): if the Referer header names
    /// another host, the response is 403. `paths` and `extensions` select the protected files; if
    /// neither is set, all are protected.
    ///
    /// ```toml
    /// referer = { extensions = ["jpg", "png"], allow = ["*.example.org"] }
    /// ```
    pub struct Referer {
        /// Prefixes of protected paths.
        pub paths: Vec<String>,
        /// Protected file extensions, without the dot and in any case: `["jpg", "png"]`.
        pub extensions: Vec<String>,
        /// Other hosts whose pages are allowed: `"example.org"`, or `"*.example.org"` for all
        /// subdomains.
        pub allow: Vec<HostPattern>,
        /// Whether to allow requests without a Referer, for example from a typed URL or a browser
        /// that omits it.
        pub empty: bool = true,
    }
}

/// Referer rules, prepared for requests.
#[derive(Debug)]
pub struct RefererRules {
    paths: Vec<Vec<u8>>,
    extensions: Vec<Vec<u8>>,
    allow: Vec<HostPattern>,
    /// Whether requests without a Referer are answered.
    empty: bool,
    refused: AtomicU64,
}

/// The page that a request comes from, by its Referer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source<'a> {
    Nobody,
    /// In any case, without port.
    Host(&'a [u8]),
    /// Something that is not the address of a page.
    Unreadable,
}

impl FilterDirective for Referer {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let filter = resources.keeper.share(self, |referer| Ok(RefererRules::new(referer)))?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl RefererRules {
    /// The rules of a section.
    pub fn new(section: &Referer) -> Self {
        Self {
            paths: section.paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
            extensions: section.extensions.iter().map(|name| name.as_bytes().to_vec()).collect(),
            allow: section.allow.to_vec(),
            empty: *section.empty,
            refused: AtomicU64::new(0),
        }
    }

    /// How many requests were refused.
    pub fn refusals(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn protects(&self, path: &[u8]) -> bool {
        let has_begin = self.paths.iter().any(|begin| path.starts_with(begin));
        let extension = extension(path);
        let has_end = self.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known));
        has_begin || has_end || (self.paths.is_empty() && self.extensions.is_empty())
    }

    fn allows(&self, source: Source<'_>, own: &[u8]) -> bool {
        match source {
            Source::Nobody => self.empty,
            Source::Host(host) => {
                host.eq_ignore_ascii_case(own)
                    || self.allow.iter().any(|pattern| pattern.matches(host))
            }
            Source::Unreadable => false,
        }
    }
}

impl RequestFilter for RefererRules {
    fn name(&self) -> &'static str {
        "referer"
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        if !self.protects(&request.path) {
            return Verdict::Pass;
        }
        let fields = &request.head.fields;
        let source = if fields.is_repeated(Known::Referer) {
            Source::Unreadable
        } else {
            fields.get(Known::Referer).map_or(Source::Nobody, source)
        };
        if self.allows(source, &request.host) {
            return Verdict::Pass;
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Verdict::Answer(refusal(Status::FORBIDDEN))
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("referer", self.refusals())]
    }
}

/// The extension of the last segment; empty if it has none.
fn extension(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let dot = name.iter().rposition(|byte| *byte == b'.');
    dot.map_or(&[], |dot| &name[dot + 1..])
}

/// The host of a Referer.
fn source(value: &[u8]) -> Source<'_> {
    if value.is_empty() {
        return Source::Nobody;
    }
    let host = || {
        let scheme = value.iter().position(|byte| *byte == b':')?;
        let is_web =
            [&b"http"[..], b"https"].iter().any(|web| value[..scheme].eq_ignore_ascii_case(web));
        let rest = value[scheme + 1..].strip_prefix(b"//").filter(|_| is_web)?;
        // Browsers take a backslash for a slash, and so end the host there.
        let end = rest.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(rest.len());
        let authority = &rest[..end];
        // RFC 9110 §10.1.3: no user information. With it `own@evil` would be read in two ways.
        if authority.contains(&b'@') {
            return None;
        }
        let digits = authority.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let host = authority[..authority.len() - digits].strip_suffix(b":").unwrap_or(authority);
        (!host.is_empty()).then_some(host)
    };
    host().map_or(Source::Unreadable, Source::Host)
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;

    use super::*;

    fn rules(text: &str) -> RefererRules {
        let read = read_text::<Referer>("test.toml", text);
        RefererRules::new(&read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics)))
    }

    /// Referers of requests to `own.example`, and whether they are answered.
    #[track_caller]
    fn check(text: &str, rows: &[(&str, bool)]) {
        let rules = rules(text);
        for (referer, expected) in rows {
            assert_eq!(
                rules.allows(source(referer.as_bytes()), b"own.example"),
                *expected,
                "{referer}"
            );
        }
    }

    #[track_caller]
    fn check_path(text: &str, rows: &[(&str, bool)]) {
        let rules = rules(text);
        for (path, expected) in rows {
            assert_eq!(rules.protects(path.as_bytes()), *expected, "{path}");
        }
    }

    #[test]
    fn foreign_pages_and_what_looks_like_an_own_one_are_refused() {
        check(
            "",
            &[
                ("http://evil.example/", false),
                ("http://own.example.evil.example/", false),
                ("http://evilown.example/", false),
                ("http://evil.example/http://own.example/", false),
                ("http://evil.example?own.example", false),
                ("http://evil.example#@own.example", false),
                ("http://evil.example\\@own.example/", false),
                ("http://own.example@evil.example/", false),
                ("http://evil.example:80@own.example/", false),
                ("http://own.example:80:80/", false),
                ("ftp://own.example/", false),
                ("//own.example/", false),
                ("own.example", false),
                ("http:own.example", false),
                ("http://", false),
                ("http://:80/", false),
                ("about:blank", false),
                ("http://sub.own.example/", false),
            ],
        );
    }

    #[test]
    fn own_pages_are_answered() {
        check(
            "",
            &[
                ("", true),
                ("http://own.example", true),
                ("https://own.example/a/b?c", true),
                ("HTTP://OWN.EXAMPLE:8080/", true),
                ("http://own.example:/", true),
                ("http://own.example?x", true),
            ],
        );
        check("empty = false", &[("", false), ("http://own.example/", true)]);
    }

    #[test]
    fn hosts_are_allowed_by_name_or_below_one() {
        check(
            "allow = ['friend.example', '*.cdn.example']",
            &[
                ("http://friend.example/", true),
                ("http://Friend.Example:81/", true),
                ("http://www.friend.example/", false),
                ("http://a.cdn.example/", true),
                ("http://a.b.cdn.example/", true),
                ("http://cdn.example/", false),
                ("http://acdn.example/", false),
            ],
        );
    }

    #[test]
    fn paths_and_extensions_say_what_is_protected() {
        check_path("", &[("/", true), ("/x", true)]);
        let both = "paths = ['/img/']\nextensions = ['jpg', 'PNG']";
        check_path(
            both,
            &[
                ("/img/x", true),
                ("/a.jpg", true),
                ("/a.JPG", true),
                ("/a.png", true),
                ("/a.jpg.txt", false),
                ("/jpg", false),
                ("/a.jpg/b", false),
                ("/im", false),
                ("/", false),
            ],
        );
    }
}
