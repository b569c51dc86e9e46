//! Listen addresses and their text form.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::str::FromStr;

/// The maximum path length of a unix socket in bytes: `sun_path` without its closing zero
/// (unix(7)).
pub const UNIX_PATH_BYTES_MAX: usize = 107;

/// An address to listen on. Reads and writes as `127.0.0.1:8080`, `[::1]:8080`, `:8080`,
/// `unix:/path`, `unix:@name`, `fd:3`, `fd:name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// One IP address and port; port 0 lets the system choose.
    Tcp(SocketAddr),
    /// A port on every address, IPv6 and IPv4 with one socket; written `:8080`, `*:8080` or `8080`.
    Any(u16),
    /// A unix socket in the file system.
    Unix(PathBuf),
    /// A unix socket in the abstract namespace, without the `@`.
    Abstract(String),
    /// A descriptor that the parent process left open.
    Descriptor(RawFd),
    /// A descriptor that the parent process named in `LISTEN_FDNAMES`.
    Named(String),
}

impl ListenAddress {
    /// Returns whether the address names an inherited socket, which need not be bound.
    pub fn is_inherited(&self) -> bool {
        matches!(self, ListenAddress::Descriptor(_) | ListenAddress::Named(_))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Tcp(address) => write!(f, "{address}"),
            ListenAddress::Any(port) => write!(f, ":{port}"),
            ListenAddress::Unix(path) => write!(f, "unix:{}", path.display()),
            ListenAddress::Abstract(name) => write!(f, "unix:@{name}"),
            ListenAddress::Descriptor(number) => write!(f, "fd:{number}"),
            ListenAddress::Named(name) => write!(f, "fd:{name}"),
        }
    }
}

/// Why a text is not a listen address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The text has none of the forms.
    Unknown(String),
    /// The IP address has no port.
    PortMissing(String),
    /// The port is not a number from 0 to 65535.
    Port(String),
    /// The path of the unix socket is empty or longer than [`UNIX_PATH_BYTES_MAX`].
    UnixPath(String),
    /// No descriptor, or that of a standard stream, follows `fd:`.
    Descriptor(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::Unknown(text) => write!(
                f,
                "invalid listen address \"{text}\" (for example 127.0.0.1:8080, [::1]:8080, :8080, unix:/run/site.sock, fd:3)"
            ),
            AddressError::PortMissing(text) => {
                write!(f, "\"{text}\" lacks a port (for example {}:8080)", bracketed(text))
            }
            AddressError::Port(text) => {
                write!(f, "invalid port \"{text}\" (expected a number from 0 to 65535)")
            }
            AddressError::UnixPath(path) => write!(
                f,
                "the path \"{path}\" of a unix socket has {} bytes (1 to {UNIX_PATH_BYTES_MAX} fit)",
                path.len()
            ),
            AddressError::Descriptor(text) => write!(
                f,
                "\"fd:{text}\" names no inherited socket (fd:3 and above, or fd:name as in LISTEN_FDNAMES)"
            ),
        }
    }
}

impl std::error::Error for AddressError {}

fn bracketed(text: &str) -> String {
    match text.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => text.to_owned(),
    }
}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<ListenAddress, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return unix(path);
        }
        if let Some(descriptor) = text.strip_prefix("fd:") {
            return inherited(descriptor);
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(ListenAddress::Tcp(address));
        }
        let port = text.strip_prefix(':').or_else(|| text.strip_prefix("*:"));
        if let Some(port) = port.filter(|port| !port.contains(':')) {
            return port_of(port).map(ListenAddress::Any);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return port_of(text).map(ListenAddress::Any);
        }
        Err(misfit(text))
    }
}

fn port_of(text: &str) -> Result<u16, AddressError> {
    // Digits only: the standard parser also takes a plus sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AddressError::Port(text.to_owned()));
    }
    text.parse().map_err(|_| AddressError::Port(text.to_owned()))
}

fn unix(path: &str) -> Result<ListenAddress, AddressError> {
    let name = path.strip_prefix('@').unwrap_or(path);
    if name.is_empty() || path.len() > UNIX_PATH_BYTES_MAX || path.contains('\0') {
        return Err(AddressError::UnixPath(path.to_owned()));
    }
    Ok(match path.strip_prefix('@') {
        Some(name) => ListenAddress::Abstract(name.to_owned()),
        None => ListenAddress::Unix(PathBuf::from(path)),
    })
}

fn inherited(text: &str) -> Result<ListenAddress, AddressError> {
    let no_socket = || AddressError::Descriptor(text.to_owned());
    if text.is_empty() || text.contains(':') {
        return Err(no_socket());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(ListenAddress::Named(text.to_owned()));
    }
    let number = text.parse::<RawFd>().map_err(|_| no_socket())?;
    if number < 3 {
        return Err(no_socket());
    }
    Ok(ListenAddress::Descriptor(number))
}

/// Returns the most helpful error for a text that has none of the forms.
fn misfit(text: &str) -> AddressError {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<IpAddr>().is_ok() {
        return AddressError::PortMissing(bare.to_owned());
    }
    if let Some((host, port)) = text.rsplit_once(':') {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.parse::<Ipv4Addr>().is_ok() || host.parse::<Ipv6Addr>().is_ok() {
            return AddressError::Port(port.to_owned());
        }
    }
    AddressError::Unknown(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a text and returns it formatted, or the error message.
    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let result = text.parse::<ListenAddress>();
        let formatted = result.as_ref().map(ToString::to_string).map_err(ToString::to_string);
        assert_eq!(formatted.as_deref().map_err(String::as_str), expected, "{text}");
        if let Ok(written) = formatted {
            assert_eq!(written.parse(), result, "{written} must read as it was written");
        }
    }

    #[test]
    fn says_what_is_wrong_and_how_to_write_it() {
        check("0.0.0.0", Err("\"0.0.0.0\" lacks a port (for example 0.0.0.0:8080)"));
        check("::1", Err("\"::1\" lacks a port (for example [::1]:8080)"));
        check("[::1]", Err("\"::1\" lacks a port (for example [::1]:8080)"));
        check("127.0.0.1:http", Err("invalid port \"http\" (expected a number from 0 to 65535)"));
        check("127.0.0.1:65536", Err("invalid port \"65536\" (expected a number from 0 to 65535)"));
        check(":65536", Err("invalid port \"65536\" (expected a number from 0 to 65535)"));
        check(":+80", Err("invalid port \"+80\" (expected a number from 0 to 65535)"));
        check(":", Err("invalid port \"\" (expected a number from 0 to 65535)"));
        for text in
            ["", "localhost", "example.org:80", "8080/tcp", "127.0.0.1:80:80", "-1", "/run/x"]
        {
            let unknown = format!(
                "invalid listen address \"{text}\" (for example 127.0.0.1:8080, [::1]:8080, :8080, unix:/run/site.sock, fd:3)"
            );
            check(text, Err(&unknown));
        }
        for text in ["0", "2", "", "3:4", "99999999999"] {
            let error = format!(
                "\"fd:{text}\" names no inherited socket (fd:3 and above, or fd:name as in LISTEN_FDNAMES)"
            );
            check(&format!("fd:{text}"), Err(&error));
        }
    }

    #[test]
    fn tcp() {
        check("127.0.0.1:8080", Ok("127.0.0.1:8080"));
        check("0.0.0.0:0", Ok("0.0.0.0:0"));
        check("[::]:8080", Ok("[::]:8080"));
        check("[::1]:65535", Ok("[::1]:65535"));
    }

    #[test]
    fn every_address_has_three_spellings() {
        for text in [":8080", "*:8080", "8080"] {
            check(text, Ok(":8080"));
        }
    }

    #[test]
    fn unix_paths_up_to_what_the_kernel_takes() {
        check("unix:/run/site.sock", Ok("unix:/run/site.sock"));
        check("unix:site.sock", Ok("unix:site.sock"));
        check("unix:@site", Ok("unix:@site"));
        for prefix in ["", "@"] {
            let longest = format!("{prefix}{}", "p".repeat(UNIX_PATH_BYTES_MAX - prefix.len()));
            check(&format!("unix:{longest}"), Ok(&format!("unix:{longest}")));
            let error =
                format!("the path \"{longest}p\" of a unix socket has 108 bytes (1 to 107 fit)");
            check(&format!("unix:{longest}p"), Err(&error));
        }
        check("unix:", Err("the path \"\" of a unix socket has 0 bytes (1 to 107 fit)"));
    }

    #[test]
    fn inherited_sockets_by_number_and_name() {
        check("fd:3", Ok("fd:3"));
        check("fd:web", Ok("fd:web"));
        check("fd:3b", Ok("fd:3b"));
    }
}
