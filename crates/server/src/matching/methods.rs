//! The methods that a route accepts, and the value of Allow if no route accepts the method.

use vervet_http::method::Method;

use super::flaw::Flaw;

const KNOWN: [Method; 9] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Put,
    Method::Delete,
    Method::Connect,
    Method::Options,
    Method::Trace,
    Method::Patch,
];

/// A set of methods: known ones as bits, others by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodSet {
    known: u16,
    others: Vec<Box<str>>,
}

impl MethodSet {
    /// Creates a set without methods.
    pub const fn new() -> Self {
        Self { known: 0, others: Vec::new() }
    }

    /// Adds the method of this name. HEAD follows GET (RFC 9110 §9.3.2).
    pub fn insert(&mut self, name: &str) -> Result<(), Flaw> {
        let whole = 0..name.len();
        let is_token_byte =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(Flaw::new(whole, "expected a method name such as GET"));
        }
        let upper = name.to_ascii_uppercase();
        match Method::from_token(name.as_bytes()) {
            Method::Unknown if Method::from_token(upper.as_bytes()) != Method::Unknown => {
                let message = format!("methods are case-sensitive: write {upper}");
                return Err(Flaw::new(whole, message));
            }
            Method::Unknown => {
                if !self.others.iter().any(|other| **other == *name) {
                    self.others.push(Box::from(name));
                }
            }
            Method::Get => self.known |= bit(Method::Get) | bit(Method::Head),
            known => self.known |= bit(known),
        }
        Ok(())
    }

    /// Whether the set contains the method; `token` is its name if it is not a known one.
    pub fn takes(&self, method: Method, token: &str) -> bool {
        match method {
            Method::Unknown => self.others.iter().any(|other| **other == *token),
            known => self.known & bit(known) != 0,
        }
    }

    /// Whether the set contains all methods of another set.
    pub fn includes(&self, other: &Self) -> bool {
        self.known & other.known == other.known
            && other.others.iter().all(|name| self.others.contains(name))
    }

    /// Adds all methods of another set.
    pub fn extend(&mut self, other: &Self) {
        self.known |= other.known;
        for name in &other.others {
            if !self.others.contains(name) {
                self.others.push(name.clone());
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known == 0 && self.others.is_empty()
    }

    /// The value of Allow (RFC 9110 §10.2.1).
    pub fn allow(&self) -> String {
        let known = KNOWN.into_iter().filter(|&known| self.known & bit(known) != 0);
        let mut names: Vec<&str> = known.map(Method::as_str).collect();
        names.extend(self.others.iter().map(|other| &**other));
        names.join(", ")
    }
}

const fn bit(method: Method) -> u16 {
    1 << method as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], allow: &str) {
        let mut methods = MethodSet::new();
        for name in names {
            methods.insert(name).unwrap();
        }
        assert_eq!(methods.allow(), allow);
        assert_eq!(methods.is_empty(), allow.is_empty());
        for token in ["GET", "HEAD", "POST", "OPTIONS", "PURGE", "get", "LINK"] {
            let taken = methods.takes(Method::from_token(token.as_bytes()), token);
            let listed = allow.split(", ").any(|name| name == token);
            assert_eq!(taken, listed, "{token} of {allow}");
        }
    }

    #[test]
    fn what_is_no_method_is_refused() {
        for (name, part) in [
            ("", "method name"),
            ("GET POST", "method name"),
            ("g\u{e9}t", "method name"),
            ("get", "write GET"),
            ("Post", "write POST"),
        ] {
            let flaw = MethodSet::new().insert(name).unwrap_err();
            assert!(flaw.message.contains(part), "{name}: {flaw}");
            assert_eq!(flaw.range, 0..name.len());
        }
    }

    #[test]
    fn head_follows_get_and_strangers_are_told_by_name() {
        check(&[], "");
        check(&["GET"], "GET, HEAD");
        check(&["HEAD"], "HEAD");
        check(&["POST", "PURGE", "GET", "PURGE", "LINK"], "GET, HEAD, POST, PURGE, LINK");
    }

    #[test]
    fn sets_are_joined_without_repetition() {
        let mut one = MethodSet::new();
        one.insert("GET").unwrap();
        one.insert("PURGE").unwrap();
        let mut other = one.clone();
        other.insert("LINK").unwrap();
        other.extend(&one);
        assert_eq!(other.allow(), "GET, HEAD, PURGE, LINK");
    }
}
