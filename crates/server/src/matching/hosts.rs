//! Finds the site of a hostname: exact names and addresses before wildcards, the longest wildcard
//! first, then the default site.
//!
//! A look-up costs one hash of the name, and one more for each label if there are wildcards; it
//! allocates nothing for a host in lower case. The plan knows what the site numbers mean.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::net::Ipv6Addr;

use foldhash::fast::RandomState;

use super::flaw::Flaw;

/// The longest name that DNS can hold, in bytes (RFC 1035 §2.3.4, without the root's dot).
pub const HOST_BYTES_MAX: usize = 253;

/// The longest label of a name, in bytes (RFC 1035 §2.3.4).
pub const LABEL_BYTES_MAX: usize = 63;

/// A host of a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// Every hostname, written as `*`.
    Any,
    /// This hostname or IPv4 address, in lower case.
    Exact(Box<str>),
    /// All subdomains, at any depth: `*.example.org` is stored as `example.org`.
    Below(Box<str>),
    /// This IPv6 address, in any spelling.
    Address(Ipv6Addr),
}

impl HostPattern {
    /// Reads `example.org`, `*.example.org`, `127.0.0.1`, `[::1]` or `*`. Case and a final dot do
    /// not count.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let whole = 0..text.len();
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() {
            return Err(Flaw::new(whole, "the hostname is empty"));
        }
        if name == "*" {
            return Ok(Self::Any);
        }
        if let Some(address) = ipv6(name.as_bytes()) {
            return Ok(Self::Address(address));
        }
        if let Some(flaw) = foreign_part(name) {
            return Err(flaw);
        }
        let (wildcard, labels) = match name.strip_prefix("*.") {
            Some(labels) => (2, labels),
            None => (0, name),
        };
        check_labels(labels, wildcard)?;
        if name.len() > HOST_BYTES_MAX {
            return Err(Flaw::new(whole, format!("a hostname has at most {HOST_BYTES_MAX} bytes")));
        }
        let labels = labels.to_ascii_lowercase().into_boxed_str();
        Ok(match wildcard {
            0 => Self::Exact(labels),
            _ => Self::Below(labels),
        })
    }
}

/// What does not belong to a host but is often written with it.
fn foreign_part(name: &str) -> Option<Flaw> {
    let to_end = |at: usize| at..name.len();
    if let Some(at) = name.find("://") {
        let message = "expected a hostname without scheme: remove `http://` or `https://`";
        return Some(Flaw::new(0..at + 3, message));
    }
    if let Some(at) = name.find('/') {
        let message = "expected a hostname without path: set `path` in a route";
        return Some(Flaw::new(to_end(at), message));
    }
    if let Some(at) = name.find(':') {
        let message = "expected a hostname without port: set the port in [[listen]]";
        return Some(Flaw::new(to_end(at), message));
    }
    let beyond = name.char_indices().find(|(_, character)| !character.is_ascii());
    if let Some((at, character)) = beyond {
        let message =
            "write an internationalized hostname in its ASCII form, which begins with `xn--`";
        return Some(Flaw::new(at..at + character.len_utf8(), message));
    }
    None
}

fn check_labels(labels: &str, offset: usize) -> Result<(), Flaw> {
    let mut at = offset;
    for label in labels.split('.') {
        let range = at..at + label.len();
        at = range.end + 1;
        if label.is_empty() {
            return Err(Flaw::new(range, "a label of the hostname is empty"));
        }
        if label.contains('*') {
            let message =
                "`*` is allowed only at the beginning: `*.example.org`, or `*` for all hosts";
            return Err(Flaw::new(range, message));
        }
        if label.len() > LABEL_BYTES_MAX {
            let message = format!("a label of a hostname has at most {LABEL_BYTES_MAX} bytes");
            return Err(Flaw::new(range, message));
        }
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if let Some(wrong) = label.bytes().position(|byte| !is_name_byte(byte)) {
            let wrong = range.start + wrong;
            let message = "a hostname consists of letters, digits, hyphens, underscores and dots";
            return Err(Flaw::new(wrong..wrong + 1, message));
        }
    }
    Ok(())
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Exact(name) => formatter.write_str(name),
            Self::Below(name) => write!(formatter, "*.{name}"),
            Self::Address(address) => write!(formatter, "[{address}]"),
        }
    }
}

type Table<K> = HashMap<K, usize, RandomState>;

/// The sites of one listener by number. The tables come from the configuration and never grow by a
/// request, so the hash need not withstand chosen keys.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    exact: Table<Box<[u8]>>,
    below: Table<Box<[u8]>>,
    addresses: Table<Ipv6Addr>,
    /// The most labels of a name in `below`: longer ends of a host are not looked up.
    labels_max: usize,
    default: Option<usize>,
}

/// The number of the site that already has a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostConflict(pub usize);

impl Hosts {
    /// Creates an empty set of sites.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host to a site. [`HostPattern::Any`] makes it the default site.
    pub fn insert(&mut self, pattern: &HostPattern, site: usize) -> Result<(), HostConflict> {
        let before = match pattern {
            HostPattern::Any => return self.set_default(site),
            HostPattern::Exact(name) => {
                *self.exact.entry(Box::from(name.as_bytes())).or_insert(site)
            }
            HostPattern::Below(name) => {
                self.labels_max = self.labels_max.max(labels(name.as_bytes()));
                *self.below.entry(Box::from(name.as_bytes())).or_insert(site)
            }
            HostPattern::Address(address) => *self.addresses.entry(*address).or_insert(site),
        };
        if before == site { Ok(()) } else { Err(HostConflict(before)) }
    }

    /// Makes a site the default, for hosts that no other site has.
    pub fn set_default(&mut self, site: usize) -> Result<(), HostConflict> {
        match self.default.replace(site) {
            Some(before) if before != site => {
                self.default = Some(before);
                Err(HostConflict(before))
            }
            _ => Ok(()),
        }
    }

    /// The same hosts with new site numbers; hosts of sites without a new number are removed.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(usize) -> Option<usize>) -> Self {
        fn moved<K: Clone + Eq + std::hash::Hash>(
            table: &Table<K>,
            number: &impl Fn(usize) -> Option<usize>,
        ) -> Table<K> {
            let entries = table.iter();
            let entries = entries.map(|(name, site)| Some((name.clone(), number(*site)?)));
            entries.flatten().collect()
        }
        Self {
            exact: moved(&self.exact, &number),
            below: moved(&self.below, &number),
            addresses: moved(&self.addresses, &number),
            labels_max: self.labels_max,
            default: self.default.and_then(number),
        }
    }

    /// The site for a host without port: of any case, with or without a final dot.
    pub fn site(&self, host: &[u8]) -> Option<usize> {
        self.named(host).or(self.default)
    }

    /// Like [`Hosts::site`], without the default site.
    pub fn named(&self, host: &[u8]) -> Option<usize> {
        if self.exact.is_empty() && self.below.is_empty() && self.addresses.is_empty() {
            return None;
        }
        if let Some(address) = ipv6(host) {
            return self.addresses.get(&address).copied();
        }
        let host = host.strip_suffix(b".").unwrap_or(host);
        if host.len() > HOST_BYTES_MAX {
            return None;
        }
        let host = lower_case(host);
        self.exact.get(&*host).copied().or_else(|| self.beneath(&host))
    }

    /// The longest wildcard: ends of the name are looked up from the longest that can be there.
    fn beneath(&self, host: &[u8]) -> Option<usize> {
        if self.below.is_empty() {
            return None;
        }
        let mut left = labels(host);
        let dots = memchr::memchr_iter(b'.', host);
        dots.filter(|_| {
            left -= 1;
            left <= self.labels_max
        })
        .find_map(|dot| self.below.get(&host[dot + 1..]).copied())
    }
}

/// A host in lower case, which it usually is.
pub(crate) fn lower_case(host: &[u8]) -> Cow<'_, [u8]> {
    if host.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

fn labels(name: &[u8]) -> usize {
    memchr::memchr_iter(b'.', name).count() + 1
}

fn ipv6(host: &[u8]) -> Option<Ipv6Addr> {
    let address = match host {
        [b'[', address @ .., b']'] => address,
        // Only an address has a colon here.
        _ if memchr::memchr(b':', host).is_some() => host,
        _ => return None,
    };
    str::from_utf8(address).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SITES: &[&[&str]] = &[
        &["example.org", "Alias.Example.ORG."],
        &["*.example.org"],
        &["*.deep.example.org", "[2001:DB8::1]"],
        &["127.0.0.1", "::1", "x_y"],
        &["*.net"],
    ];

    fn hosts() -> Hosts {
        let mut hosts = Hosts::new();
        for (number, names) in SITES.iter().enumerate() {
            for name in *names {
                hosts.insert(&HostPattern::parse(name).unwrap(), number).unwrap();
            }
        }
        hosts
    }

    #[track_caller]
    fn check(host: &str, expected: Option<usize>) {
        let mut hosts = hosts();
        assert_eq!(hosts.site(host.as_bytes()), expected, "{host:?}");
        hosts.set_default(9).unwrap();
        assert_eq!(hosts.site(host.as_bytes()), expected.or(Some(9)), "{host:?}");
    }

    #[test]
    fn unknown_names_are_nobodys() {
        let long = format!("{}.example.org", "a.".repeat(200));
        let shouted = long.to_uppercase();
        for host in [
            "",
            ".",
            "org",
            "xexample.org",
            "example.org.x",
            "net",
            "[::2]",
            "[::1",
            "::1::",
            "127.0.0.2",
            "example.org..",
            "*",
            "*.example.orgx",
            &long,
            &shouted,
        ] {
            check(host, None);
        }
    }

    #[test]
    fn names_are_found_in_any_case_with_and_without_dot() {
        for host in
            ["example.org", "EXAMPLE.org", "example.org.", "example.ORG.", "alias.example.org"]
        {
            check(host, Some(0));
        }
        check("x_y", Some(3));
        check("127.0.0.1", Some(3));
    }

    #[test]
    fn the_longest_wildcard_wins_after_exact_names() {
        check("a.example.org", Some(1));
        check("a.b.c.example.org", Some(1));
        check("deep.example.org", Some(1));
        check("a.deep.example.org", Some(2));
        check("A.B.DEEP.example.org", Some(2));
        check("alias.example.org", Some(0));
        check("a.b.net", Some(4));
    }

    #[test]
    fn addresses_are_equal_however_they_are_spelled() {
        for host in ["[::1]", "[0:0:0:0:0:0:0:1]", "::1", "[0::0001]"] {
            check(host, Some(3));
        }
        check("[2001:db8:0::1]", Some(2));
    }

    #[test]
    fn a_name_has_one_site() {
        let mut hosts = hosts();
        for (name, taken) in [("EXAMPLE.org", 0), ("*.net.", 4), ("[0::1]", 3)] {
            let pattern = HostPattern::parse(name).unwrap();
            assert_eq!(hosts.insert(&pattern, 7), Err(HostConflict(taken)), "{name}");
            assert_eq!(hosts.insert(&pattern, taken), Ok(()), "{name}");
        }
        assert_eq!(hosts.insert(&HostPattern::Any, 7), Ok(()));
        assert_eq!(hosts.set_default(8), Err(HostConflict(7)));
        assert_eq!(hosts.site(b"nobody"), Some(7));
        assert_eq!(hosts.named(b"nobody"), None);
    }

    #[test]
    fn names_follow_their_sites_and_go_with_them() {
        let mut hosts = hosts();
        hosts.set_default(0).unwrap();
        let moved = hosts.renumbered(|site| (site != 1).then_some(site + 10));
        for (host, site) in [
            ("example.org", 10),
            ("a.deep.example.org", 12),
            ("[::1]", 13),
            ("a.net", 14),
            ("a.example.org", 10),
            ("nobody", 10),
        ] {
            assert_eq!(moved.site(host.as_bytes()), Some(site), "{host}");
        }
        assert_eq!(moved.named(b"a.example.org"), None);
        let without = hosts.renumbered(|site| (site != 0).then_some(site));
        assert_eq!(without.site(b"nobody"), None);
    }

    #[test]
    fn what_is_no_host_is_refused_where_it_is_wrong() {
        let long_label = format!("{}.org", "a".repeat(64));
        let long_name = ["abcdefg"; 32].join(".");
        for (text, range, part) in [
            ("", 0..0, "empty"),
            (".", 0..1, "empty"),
            ("http://example.org", 0..7, "scheme"),
            ("example.org/x", 11..13, "path"),
            ("example.org:80", 11..14, "port"),
            ("b\u{fc}cher.de", 1..3, "xn--"),
            ("a..b", 2..2, "a label of the hostname is empty"),
            ("a.*.b", 2..3, "`*`"),
            ("www*.b", 0..4, "`*`"),
            ("a b", 1..2, "letters"),
            ("[::1", 1..4, "port"),
            (&long_label, 0..64, "63"),
            (&long_name, 0..255, "253"),
        ] {
            let flaw = HostPattern::parse(text).unwrap_err();
            assert!(flaw.message.contains(part), "{text}: {flaw}");
            assert_eq!(flaw.range, range, "{text}: {flaw}");
        }
    }

    #[test]
    fn patterns_are_shown_as_they_are_understood() {
        for (text, shown) in [
            ("Example.ORG.", "example.org"),
            ("*.A.b", "*.a.b"),
            ("0:0::1", "[::1]"),
            ("*", "*"),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            assert_eq!(HostPattern::parse(text).unwrap().to_string(), shown);
        }
    }

    /// Every name compared with every pattern: exact ones first, then the wildcard with most bytes.
    fn scan(patterns: &[String], host: &str) -> Option<usize> {
        let of = |wanted: &str| patterns.iter().position(|pattern| pattern == wanted);
        let mut ends = host.match_indices('.').map(|(dot, _)| format!("*{}", &host[dot..]));
        of(host).or_else(|| ends.find_map(|end| of(&end)))
    }

    fn name() -> impl Strategy<Value = String> {
        let label = prop::sample::select(vec!["a", "b", "ab", "x-y"]);
        prop::collection::vec(label, 1..5).prop_map(|labels| labels.join("."))
    }

    proptest! {
        #[test]
        fn the_tables_say_what_a_scan_says(
            patterns in prop::collection::btree_set(
                (prop::bool::ANY, name()).prop_map(|(below, name)| if below { format!("*.{name}") } else { name }),
                0..20,
            ),
            host in name(),
        ) {
            let patterns: Vec<String> = patterns.into_iter().collect();
            let mut hosts = Hosts::new();
            for (number, pattern) in patterns.iter().enumerate() {
                hosts.insert(&HostPattern::parse(pattern).unwrap(), number).unwrap();
            }
            let expected = scan(&patterns, &host);
            prop_assert_eq!(hosts.site(host.as_bytes()), expected);
            prop_assert_eq!(hosts.site(format!("{}.", host.to_uppercase()).as_bytes()), expected);
        }
    }
}
