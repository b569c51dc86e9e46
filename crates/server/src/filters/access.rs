//! Allows or denies clients by IP address. On a listener, connections of denied clients are closed
//! before a byte is read; on a site or a route, the response is 403.
//!
//! The first rule in file order that matches the client decides, otherwise the default. If no
//! default is set, clients are denied if any rule is an `allow`, and allowed otherwise.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::{FromText, TextShape, section, words};
use vervet_engine::reactor::Now;
use vervet_http::status::Status;

use super::FilterDirective;
use crate::matching::networks::{Network, NetworkError, Networks};
use crate::resources::{Opened, Resources};
use crate::response::refusal;
use crate::web::{Edits, Pipeline, Request, RequestFilter, Verdict};

words! {
    /// Whether a rule allows or denies.
    pub enum Permission {
        /// Allows the client.
        Allow = "allow",
        /// Denies the client.
        Deny = "deny",
    }
}

section! {
    /// Allows or denies clients by IP address. The first rule in file order that matches the client
    /// decides, regardless of the size of its network. A rule is `"allow"` or `"deny"`, followed by
    /// a network, an address, `unix` (clients of a unix socket, which have no address) or `all`.
    ///
    /// On a listener, the rules apply to the peer of a connection; denied connections are closed
    /// before a byte is read. On a site or route, they apply to the client address of a request
    /// (see `forwarded`); denied clients get 403.
    ///
    /// ```toml
    /// access = ["deny 10.1.0.0/16", "allow 10.0.0.0/8", "allow 2001:db8::/32"]
    /// ```
    pub struct Access short(rules) {
        /// The rules, in the order in which they are checked.
        pub rules: Vec<Rule>,
        /// What happens to clients that no rule matches. If not set, they are denied if any rule is
        /// an `allow`, and allowed otherwise.
        pub default: Option<Permission>,
    }
}

/// The clients that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleClients {
    /// Clients of a network.
    Network(Network),
    /// Clients without an address: those of a unix socket.
    Unix,
    /// All clients, with or without an address.
    All,
}

/// One rule: `allow 10.0.0.0/8`, `deny 2001:db8::/32`, `allow unix`, `deny all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whether it allows or denies.
    pub permission: Permission,
    /// The clients that it applies to.
    pub clients: RuleClients,
}

impl FromText for Rule {
    const SHAPE: TextShape = TextShape { noun: "rule", example: "allow 10.0.0.0/8", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let (permission, clients) = match text.split_once(' ') {
            Some(("allow", clients)) => (Permission::Allow, clients),
            Some(("deny", clients)) => (Permission::Deny, clients),
            _ => return Err("it must begin with `allow` or `deny`, followed by a space".to_owned()),
        };
        let network = |error: NetworkError| error.to_string();
        let clients = match clients {
            "all" => RuleClients::All,
            "unix" => RuleClients::Unix,
            text => RuleClients::Network(text.parse().map_err(network)?),
        };
        Ok(Self { permission, clients })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.permission, self.clients)
    }
}

impl fmt::Display for RuleClients {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(formatter),
            Self::Unix => formatter.write_str("unix"),
            Self::All => formatter.write_str("all"),
        }
    }
}

/// Access rules, prepared for look-ups.
#[derive(Debug)]
pub struct AccessRules {
    /// The number and the permission of the first rule of each network.
    table: Networks<Numbered>,
    /// The first rule for all, unless a rule of the table comes before it.
    all: Option<Numbered>,
    unix: Option<Numbered>,
    default: Permission,
    denied: AtomicU64,
}

type Numbered = (usize, Permission);

impl FilterDirective for Access {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let filter = resources.keeper.share(self, |access| Ok(AccessRules::from(access)))?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl From<&Access> for AccessRules {
    fn from(section: &Access) -> Self {
        Self::new(&section.rules, *section.default)
    }
}

impl AccessRules {
    /// Prepares rules. `default` is for clients that no rule names; `None` derives it from the
    /// rules.
    pub fn new(rules: &[Rule], default: Option<Permission>) -> Self {
        let mut prepared = Self {
            table: Networks::default(),
            all: None,
            unix: None,
            default: default.unwrap_or_else(|| derived_default(rules)),
            denied: AtomicU64::new(0),
        };
        for (number, rule) in rules.iter().enumerate() {
            let numbered = (number, rule.permission);
            match rule.clients {
                RuleClients::All => {
                    prepared.all.get_or_insert(numbered);
                }
                RuleClients::Unix => {
                    prepared.unix.get_or_insert(numbered);
                }
                RuleClients::Network(network) if prepared.table.get(network).is_none() => {
                    prepared.table.insert(network, numbered);
                }
                RuleClients::Network(_) => {}
            }
        }
        prepared
    }

    /// Whether a client is allowed; `None` is a client without an address.
    pub fn admits(&self, address: Option<IpAddr>) -> bool {
        let named = match address {
            Some(address) => {
                self.table.fold_covering(address, None, |first, rule| earlier(first, Some(*rule)))
            }
            None => self.unix,
        };
        earlier(named, self.all).map_or(self.default, |(_, permission)| permission)
            == Permission::Allow
    }

    /// Like [`AccessRules::admits`], and counts denied clients.
    pub fn admit(&self, address: Option<IpAddr>) -> bool {
        let admits = self.admits(address);
        if !admits {
            self.denied.fetch_add(1, Ordering::Relaxed);
        }
        admits
    }

    /// Number of denied clients.
    pub fn denied(&self) -> u64 {
        self.denied.load(Ordering::Relaxed)
    }
}

fn earlier(one: Option<Numbered>, other: Option<Numbered>) -> Option<Numbered> {
    one.into_iter().chain(other).min_by_key(|(number, _)| *number)
}

fn derived_default(rules: &[Rule]) -> Permission {
    if rules.iter().any(|rule| rule.permission == Permission::Allow) {
        Permission::Deny
    } else {
        Permission::Allow
    }
}

impl RequestFilter for AccessRules {
    fn name(&self) -> &'static str {
        "access"
    }

    fn accepts(&self, address: Option<IpAddr>, _: Now) -> bool {
        self.admit(address)
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        if self.admit(request.client()) {
            Verdict::Pass
        } else {
            Verdict::Answer(refusal(Status::FORBIDDEN))
        }
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("access", self.denied())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(text: &str) -> Rule {
        Rule::from_text(text).unwrap()
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        assert_eq!(Rule::from_text(text), Err(expected.to_owned()));
    }

    /// Each client is a row: its address, or `unix`, and whether it may come in.
    #[track_caller]
    fn check(rules: &[&str], default: Option<Permission>, expected: &[(&str, bool)]) {
        let parsed: Vec<Rule> = rules.iter().map(|rule| rule_of(rule)).collect();
        let access = AccessRules::new(&parsed, default);
        for (client, admitted) in expected {
            let address = client.parse().ok();
            assert!(address.is_some() || *client == "unix", "{client}");
            assert_eq!(access.admits(address), *admitted, "{client} by {rules:?}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", "10.0.0.0/8", "permit 10.0.0.0/8", "allow", "Deny all", " deny all"] {
            check_error(text, "it must begin with `allow` or `deny`, followed by a space");
        }
        for text in ["allow  10.0.0.0/8", "deny everybody", "deny All"] {
            let reason = Rule::from_text(text).unwrap_err();
            assert!(!reason.starts_with("it begins"), "{text}: {reason}");
        }
    }

    #[test]
    fn a_list_that_allows_denies_the_rest() {
        check(
            &["allow 10.0.0.0/8"],
            None,
            &[
                ("11.0.0.1", false),
                ("::1", false),
                ("unix", false),
                ("10.9.9.9", true),
                ("::ffff:10.9.9.9", true),
            ],
        );
    }

    #[test]
    fn a_list_that_only_denies_admits_the_rest() {
        check(
            &["deny 10.0.0.0/8", "deny 2001:db8::/32"],
            None,
            &[
                ("10.0.0.1", false),
                ("::ffff:10.0.0.1", false),
                ("2001:db8::5", false),
                ("11.0.0.1", true),
                ("::1", true),
                ("unix", true),
            ],
        );
        check(&[], None, &[("10.0.0.1", true), ("unix", true)]);
    }

    #[test]
    fn the_first_rule_in_file_order_decides_whatever_its_width() {
        let narrow_first = ["deny 10.1.0.0/16", "allow 10.0.0.0/8", "deny all"];
        check(
            &narrow_first,
            None,
            &[("10.1.0.1", false), ("10.2.0.1", true), ("8.8.8.8", false), ("unix", false)],
        );
        let wide_first = ["allow 10.0.0.0/8", "deny 10.1.0.0/16"];
        check(&wide_first, None, &[("10.1.0.1", true), ("10.2.0.1", true), ("8.8.8.8", false)]);
        check(&["allow all", "deny 10.0.0.0/8"], None, &[("10.0.0.1", true)]);
        check(&["deny 10.0.0.0/8", "allow 10.0.0.0/8"], None, &[("10.0.0.1", false)]);
    }

    #[test]
    fn a_default_that_is_given_holds() {
        check(
            &["allow 10.0.0.0/8"],
            Some(Permission::Allow),
            &[("11.0.0.1", true), ("unix", true)],
        );
        check(
            &["deny 10.0.0.0/8"],
            Some(Permission::Deny),
            &[("11.0.0.1", false), ("unix", false)],
        );
        check(&[], Some(Permission::Deny), &[("11.0.0.1", false)]);
    }

    #[test]
    fn a_unix_socket_is_named_by_its_word() {
        check(&["allow unix", "deny all"], None, &[("unix", true), ("127.0.0.1", false)]);
        check(&["deny unix"], None, &[("unix", false), ("127.0.0.1", true)]);
    }

    /// Ten thousand networks with the opposite rules within them: each address finds its own.
    #[test]
    fn ten_thousand_networks_hold_together() {
        let mut rules = Vec::new();
        for number in 0..5_000_u32 {
            let (high, low) = (number >> 8, number & 0xff);
            rules.push(rule_of(&format!("deny 10.{high}.{low}.128/25")));
            rules.push(rule_of(&format!("allow 10.{high}.{low}.0/24")));
        }
        let access = AccessRules::new(&rules, None);
        for number in 0..5_000_u32 {
            let (high, low) = (number >> 8, number & 0xff);
            for (last, expected) in [(0, true), (127, true), (128, false), (255, false)] {
                let address = format!("10.{high}.{low}.{last}").parse().unwrap();
                assert_eq!(access.admits(Some(address)), expected, "{address}");
            }
        }
        assert!(!access.admits(Some("10.200.0.1".parse().unwrap())));
    }

    /// What a document gives is what it shows.
    #[test]
    fn a_document_has_rules_as_texts() {
        let read = |text: &str| vervet_config::read_text::<Access>("test.toml", text);
        for text in [
            "rules = ['allow 10.0.0.1/8']",
            "rules = ['10.0.0.0/8']",
            "default = 'maybe'",
            "rules = 'deny nobody'",
        ] {
            assert!(read(text).value.is_none(), "{text}");
        }
        let section = read("rules = ['deny 10.1.0.0/16', 'allow unix', 'deny all']").value.unwrap();
        let shown: Vec<_> = section.rules.iter().map(Rule::to_string).collect();
        assert_eq!(shown, ["deny 10.1.0.0/16", "allow unix", "deny all"]);
        let rules = AccessRules::from(&section);
        assert!(rules.admits(None) && !rules.admits("10.1.0.1".parse().ok()));
        let section = read("rules = 'deny all'\ndefault = 'allow'").value.unwrap();
        assert!(!AccessRules::from(&section).admits(None));
    }

    #[test]
    fn the_denied_are_counted() {
        let access = AccessRules::new(&[rule_of("deny all")], None);
        assert!(!access.admits(None));
        assert_eq!(access.denied(), 0);
        assert!(!access.admit(None) && !access.admit(Some("::1".parse().unwrap())));
        assert_eq!(access.denied(), 2);
    }
}
