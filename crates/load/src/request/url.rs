//! URLs on the command line: the socket to connect to, the host and the request target. Names are
//! resolved in `destination`.

use std::fmt;
use std::path::PathBuf;

use vervet_http::target::Authority;

use super::Credentials;

/// The port of `http` where none is written (RFC 9110 §4.2.1).
const PORT: u16 = 80;

/// A parsed URL: the socket, the host and the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The socket to connect to.
    pub peer: Peer,
    /// The value of Host: the hostname and, unless it is 80, the port.
    pub host: String,
    /// Path and query as written, with variables if there are any; not empty, and it begins with
    /// `/`.
    pub target: String,
    /// Username and password, the part before an `@`.
    pub credentials: Option<Credentials>,
}

/// The socket to connect to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A name or an address, without brackets, and a port.
    Tcp {
        /// The hostname or address, without brackets.
        host: String,
        /// The port of the target.
        port: u16,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(formatter, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

/// Why a URL is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// The text is empty.
    Empty,
    /// A control byte, or a space in the host.
    Control,
    /// The scheme is `https`, which is not supported.
    Https,
    /// The scheme is not supported.
    Scheme(String),
    /// The host or the port is invalid.
    Host(String),
    /// The port is 0.
    Port,
    /// `unix:` without a path.
    Socket,
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the URL is empty: expected http://HOST:PORT/PATH"),
            Self::Control => formatter.write_str("the URL has a control character"),
            Self::Https => {
                formatter.write_str("https is not supported: use http and a listener without TLS")
            }
            Self::Scheme(scheme) => write!(
                formatter,
                "unsupported scheme \"{scheme}\": expected http://HOST:PORT/PATH or unix:SOCKET:/PATH"
            ),
            Self::Host(host) => write!(
                formatter,
                "invalid host or port \"{host}\": expected HOST, HOST:PORT or [ADDRESS]:PORT"
            ),
            Self::Port => formatter.write_str("invalid port 0: expected 1 to 65535"),
            Self::Socket => {
                formatter.write_str("the socket path is missing: expected unix:SOCKET:/PATH")
            }
        }
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// Parses `http://HOST:PORT/PATH`, the same without `http://`, or `unix:SOCKET:/PATH`. A user
    /// before the host becomes credentials; a fragment is dropped, as it is never sent.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.is_empty() {
            return Err(UrlError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(UrlError::Control);
        }
        if let Some(rest) = text.strip_prefix("unix:") {
            return Self::parse_unix(rest);
        }
        match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => Self::parse_http(rest),
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => Err(UrlError::Https),
            // In a URL without a scheme, a `://` after a slash belongs to its query.
            Some((scheme, _)) if !scheme.contains(['/', '?', '#']) => {
                Err(UrlError::Scheme(scheme.to_owned()))
            }
            _ => Self::parse_http(text),
        }
    }

    /// Parses a target of a list: a URL, a path on the host of `self`, or `*` for the host itself.
    pub fn join(&self, text: &str) -> Result<Self, UrlError> {
        if !text.starts_with('/') && text != "*" {
            return Self::parse(text);
        }
        if text.chars().any(char::is_control) {
            return Err(UrlError::Control);
        }
        Ok(Self { target: without_fragment(text).to_owned(), ..self.clone() })
    }

    /// Whether both have the same host and socket.
    pub fn has_same_origin(&self, other: &Self) -> bool {
        self.peer == other.peer && self.host.eq_ignore_ascii_case(&other.host)
    }

    fn parse_http(rest: &str) -> Result<Self, UrlError> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(Credentials::decode(user)), host),
            None => (None, authority),
        };
        let malformed = || UrlError::Host(host.to_owned());
        let parsed = Authority::parse(host.as_bytes()).map_err(|_| malformed())?;
        if parsed.host().is_empty() || host.contains(['{', '}']) {
            return Err(malformed());
        }
        let port = parsed.port().unwrap_or(PORT);
        if port == 0 {
            return Err(UrlError::Port);
        }
        let written = &host[..parsed.host().len()];
        let name = written.trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            peer: Peer::Tcp { host: name.to_ascii_lowercase(), port },
            host: match port {
                PORT => written.to_owned(),
                _ => format!("{written}:{port}"),
            },
            target: rooted(without_fragment(target)),
            credentials,
        })
    }

    /// `SOCKET` or `SOCKET:/PATH`, as nginx writes it. The first `:/` divides.
    fn parse_unix(rest: &str) -> Result<Self, UrlError> {
        let (socket, target) = match rest.find(":/") {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, "/"),
        };
        let socket = socket.strip_prefix("//").unwrap_or(socket);
        if socket.is_empty() {
            return Err(UrlError::Socket);
        }
        Ok(Self {
            peer: Peer::Unix(PathBuf::from(socket)),
            host: "localhost".to_owned(),
            target: without_fragment(target).to_owned(),
            credentials: None,
        })
    }
}

fn without_fragment(target: &str) -> &str {
    target.split('#').next().unwrap_or_default()
}

/// The empty path of a URL is `/` (RFC 9110 §4.2.3).
fn rooted(target: &str) -> String {
    if target.starts_with('/') { target.to_owned() } else { format!("/{target}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match Url::parse(text) {
            Ok(url) => {
                let user = url.credentials.map_or(String::new(), |credentials| {
                    format!(" as {}", credentials.field_value())
                });
                format!("{} | {} | {}{user}", url.peer, url.host, url.target)
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn refuses_invalid_urls() {
        check("", "the URL is empty: expected http://HOST:PORT/PATH");
        check("https://a/", "https is not supported: use http and a listener without TLS");
        check(
            "ftp://a/",
            "unsupported scheme \"ftp\": expected http://HOST:PORT/PATH or unix:SOCKET:/PATH",
        );
        check("http://a\r\nb/", "the URL has a control character");
        check("http://a:0/", "invalid port 0: expected 1 to 65535");
        for host in ["", "a b", "a:b", "a:70000", "[::1", "[::z]", "::1", "{user}.example"] {
            let expected = format!(
                "invalid host or port \"{host}\": expected HOST, HOST:PORT or [ADDRESS]:PORT"
            );
            check(&format!("http://{host}/"), &expected);
        }
        check("unix:", "the socket path is missing: expected unix:SOCKET:/PATH");
        check("unix::/a", "the socket path is missing: expected unix:SOCKET:/PATH");
    }

    #[test]
    fn reads_hosts_addresses_and_sockets() {
        check("http://a", "a:80 | a | /");
        check("HTTP://A:80/b?c=d#e", "a:80 | A | /b?c=d");
        check("http://a:8080?x", "a:8080 | a:8080 | /?x");
        check("a:8080/x", "a:8080 | a:8080 | /x");
        check("localhost", "localhost:80 | localhost | /");
        check("a/?to=http://b/", "a:80 | a | /?to=http://b/");
        check("http://[::1]:81/", "[::1]:81 | [::1]:81 | /");
        check("http://[::1]/", "[::1]:80 | [::1] | /");
        check("http://a/{seq}?q={random:1-9}", "a:80 | a | /{seq}?q={random:1-9}");
        check("unix:/run/a.sock", "unix:/run/a.sock | localhost | /");
        check("unix:/run/a.sock:/b?c", "unix:/run/a.sock | localhost | /b?c");
        check("unix:a.sock:/b#c", "unix:a.sock | localhost | /b");
        check("unix:///run/a.sock", "unix:/run/a.sock | localhost | /");
    }

    #[test]
    fn a_user_becomes_credentials() {
        // RFC 7617 §2: Aladdin and "open sesame".
        check(
            "http://Aladdin:open%20sesame@a/",
            "a:80 | a | / as Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        );
        check("http://u@a/", "a:80 | a | / as Basic dTo=");
        check("http://u:p@q@a/", "a:80 | a | / as Basic dTpwQHE=");
    }

    #[test]
    fn a_path_is_one_of_the_same_host() {
        let base = Url::parse("http://a:81/x").unwrap();
        let joined = base.join("/y?z#f").unwrap();
        assert_eq!((joined.target.as_str(), &joined.peer), ("/y?z", &base.peer));
        assert!(base.has_same_origin(&joined));
        assert!(!base.has_same_origin(&base.join("http://b/").unwrap()));
        assert_eq!(base.join("/\n"), Err(UrlError::Control));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            if let Ok(url) = Url::parse(&text) {
                prop_assert!(url.target.starts_with('/'));
                prop_assert!(!url.host.is_empty());
            }
        }

        #[test]
        fn any_text_after_a_host_too(text in ".*") {
            let _ = Url::parse(&format!("http://a{text}"));
            let _ = Url::parse(&format!("unix:{text}"));
        }
    }
}
