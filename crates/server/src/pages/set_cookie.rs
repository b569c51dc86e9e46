//! Cookies that a page sets (RFC 6265 §4.1), with secure attributes by default.

use std::fmt::{self, Write};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use vervet_http::field::is_token;

/// Characters to encode in a value (RFC 6265 §4.1.1), and the percent sign, so that decoding
/// restores the value.
const IN_VALUE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b',').add(b';').add(b'\\').add(b'%');

/// The longest name and value together, in bytes: what browsers keep (RFC 6265 §6.1).
const COOKIE_BYTES_MAX: usize = 4096;

/// To which requests from other sites a browser adds the cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameSite {
    Strict,
    Lax,
    None,
}

impl SameSite {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Strict, Self::Lax, Self::None]
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(word))
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// A cookie to be set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// The lifetime in seconds; `None` for until the browser is closed.
    pub(crate) max_age: Option<i64>,
    pub(crate) path: &'a str,
    pub(crate) domain: Option<&'a str>,
    pub(crate) same_site: SameSite,
    pub(crate) http_only: bool,
    pub(crate) secure: bool,
}

/// Why a cookie cannot be set. Each is the template's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CookieFault {
    Name,
    TooLong,
    Path,
    Domain,
    NoneWithoutSecure,
    SecurePrefix,
    HostPrefix,
}

impl fmt::Display for CookieFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Name => "a cookie name consists of letters, digits and !#$%&'*+-.^_`|~",
            Self::TooLong => "the name and value of a cookie can have at most 4096 bytes",
            Self::Path => "the path of a cookie must begin with / and contain no semicolon",
            Self::Domain => "the domain of a cookie must be a hostname",
            Self::NoneWithoutSecure => "browsers reject same_site=\"none\" without secure=true",
            Self::SecurePrefix => "a cookie whose name begins with __Secure- needs secure=true",
            Self::HostPrefix => "a cookie whose name begins with __Host- needs secure=true, path=\"/\" and no domain",
        })
    }
}

impl<'a> NewCookie<'a> {
    /// A cookie that is sent only with requests from this site and that scripts cannot read.
    pub(crate) fn new(name: &'a str, value: &'a str) -> Self {
        Self {
            name,
            value,
            max_age: None,
            path: "/",
            domain: None,
            same_site: SameSite::Lax,
            http_only: true,
            secure: false,
        }
    }

    /// A cookie that deletes the cookie of this name.
    pub(crate) fn deleted(name: &'a str) -> Self {
        let is_prefixed = name.starts_with("__Host-") || name.starts_with("__Secure-");
        Self { max_age: Some(0), secure: is_prefixed, ..Self::new(name, "") }
    }

    /// The value of Set-Cookie.
    pub(crate) fn field_value(&self) -> Result<String, CookieFault> {
        self.check()?;
        let mut out = String::with_capacity(96);
        let encoded = utf8_percent_encode(self.value, IN_VALUE);
        let _ = write!(out, "{}={encoded}", self.name);
        if out.len() > COOKIE_BYTES_MAX {
            return Err(CookieFault::TooLong);
        }
        match self.max_age {
            Some(seconds) if seconds > 0 => {
                let _ = write!(out, "; Max-Age={seconds}");
            }
            // Expires for those who do not know Max-Age.
            Some(_) => out.push_str("; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
            None => {}
        }
        let _ = write!(out, "; Path={}", self.path);
        if let Some(domain) = self.domain {
            let _ = write!(out, "; Domain={domain}");
        }
        let _ = write!(out, "; SameSite={}", self.same_site.as_str());
        if self.secure {
            out.push_str("; Secure");
        }
        if self.http_only {
            out.push_str("; HttpOnly");
        }
        Ok(out)
    }

    fn check(&self) -> Result<(), CookieFault> {
        if !is_token(self.name.as_bytes()) {
            return Err(CookieFault::Name);
        }
        let is_path_byte = |byte: u8| byte.is_ascii_graphic() && byte != b';';
        if !self.path.starts_with('/') || !self.path.bytes().all(is_path_byte) {
            return Err(CookieFault::Path);
        }
        let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if self.domain.is_some_and(|domain| domain.is_empty() || !domain.bytes().all(is_host_byte))
        {
            return Err(CookieFault::Domain);
        }
        if self.same_site == SameSite::None && !self.secure {
            return Err(CookieFault::NoneWithoutSecure);
        }
        if self.name.starts_with("__Secure-") && !self.secure {
            return Err(CookieFault::SecurePrefix);
        }
        let is_of_host = self.secure && self.path == "/" && self.domain.is_none();
        if self.name.starts_with("__Host-") && !is_of_host {
            return Err(CookieFault::HostPrefix);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cookie: NewCookie<'_>, expected: Result<&str, CookieFault>) {
        assert_eq!(cookie.field_value().as_deref().map_err(|fault| *fault), expected);
    }

    #[test]
    fn what_browsers_would_drop_is_refused() {
        let plain = NewCookie::new("a", "1");
        for name in ["", "a b", "a=b", "a;b", "ü", "a\r\n"] {
            check(NewCookie { name, ..plain }, Err(CookieFault::Name));
        }
        for path in ["", "x", "/;x", "/a b", "/\n"] {
            check(NewCookie { path, ..plain }, Err(CookieFault::Path));
        }
        for domain in ["", "a;b", "a b"] {
            let domain = Some(domain);
            check(NewCookie { domain, ..plain }, Err(CookieFault::Domain));
        }
        let same_site = SameSite::None;
        check(NewCookie { same_site, ..plain }, Err(CookieFault::NoneWithoutSecure));
        check(NewCookie::new("__Secure-a", ""), Err(CookieFault::SecurePrefix));
        check(NewCookie::new("__Host-a", ""), Err(CookieFault::HostPrefix));
        let elsewhere = NewCookie { secure: true, path: "/a", ..NewCookie::new("__Host-a", "") };
        check(elsewhere, Err(CookieFault::HostPrefix));
    }

    #[test]
    fn length_is_held_at_the_edge() {
        let value = "x".repeat(COOKIE_BYTES_MAX - 2);
        assert!(NewCookie::new("a", &value).field_value().is_ok());
        let value = "x".repeat(COOKIE_BYTES_MAX - 1);
        check(NewCookie::new("a", &value), Err(CookieFault::TooLong));
    }

    #[test]
    fn cookies_are_careful_by_default() {
        check(NewCookie::new("a", "1"), Ok("a=1; Path=/; SameSite=Lax; HttpOnly"));
        check(
            NewCookie::new("a", "x; y=\"ü\"%\r\n"),
            Ok("a=x%3B%20y=%22%C3%BC%22%25%0D%0A; Path=/; SameSite=Lax; HttpOnly"),
        );
    }

    #[test]
    fn attributes_are_written_as_asked() {
        let all = NewCookie {
            max_age: Some(3600),
            path: "/shop",
            domain: Some("example.org"),
            same_site: SameSite::None,
            http_only: false,
            secure: true,
            ..NewCookie::new("a", "1")
        };
        check(all, Ok("a=1; Max-Age=3600; Path=/shop; Domain=example.org; SameSite=None; Secure"));
    }

    #[test]
    fn a_deleted_cookie_has_expired() {
        check(
            NewCookie::deleted("a"),
            Ok(
                "a=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; SameSite=Lax; HttpOnly",
            ),
        );
        assert!(NewCookie::deleted("__Host-a").field_value().is_ok());
    }
}
