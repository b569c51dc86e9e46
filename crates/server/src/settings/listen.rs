//! `[[listen]]`: the addresses that the server listens on. The options of a socket are declared in
//! `vervet_engine::listen_options!`, each in one row.

use crate::filters::access::Access;
use crate::matching::networks::Network;
use ipnet::IpNet;
use std::fmt;
use std::time::Duration;
use vervet_config::{Diagnostic, FromText, Size, Text, TextShape, Time, section};
use vervet_engine::listener::{AddressError, ListenAddress, ListenOptions, ListenerKey};

/// An address to listen on, as a document writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address(pub ListenAddress);

impl FromText for Address {
    const SHAPE: TextShape =
        TextShape { noun: "address to listen on", example: "127.0.0.1:8080", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: AddressError| {
            if is_name(text) {
                "hostnames are not resolved: write an IP address of this machine, such as 127.0.0.1:8080, or :8080 for all".to_owned()
            } else {
                error.to_string()
            }
        })
    }
}

/// Whether the text is a hostname, with or without a port.
fn is_name(text: &str) -> bool {
    let name = text.rsplit_once(':').map_or(text, |(name, _)| name);
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !matches!(name, "unix" | "fd")
        && name.bytes().all(is_label)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Permission bits of a file, written in octal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(pub u32);

impl FromText for Mode {
    const SHAPE: TextShape =
        TextShape { noun: "mode in octal", example: "660", pattern: Some("^[0-7]{3,4}$") };

    fn from_text(text: &str) -> Result<Self, String> {
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
        mode.map(Self).ok_or_else(|| "not an octal mode".to_owned())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

/// Declares the section with the directives of the table of listener options.
macro_rules! listen_section {
    ($(
        $(#[doc = $doc:literal])*
        $option:ident: $type:ty = $default:tt $(in $low:literal..=$high:literal)? => $engine:tt
    )*) => {
        section! {
            /// A socket that accepts connections, bound before the server drops root privileges.
            pub struct Listen short(address) {
                /// The address: `"127.0.0.1:8080"`, `"[::1]:8080"`, `":8080"` (all addresses),
                /// `"unix:/path"`, `"unix:@name"` (abstract), `"fd:3"` or `"fd:name"` (a socket
                /// inherited from the parent process or systemd). Port 0 is any free port.
                pub address: Address,
                /// The name that sites use in their `listen`; if not set, the address.
                pub name: Option<Text>,
                $($(#[doc = $doc])* pub $option: $type = $default $(in $low..=$high)?,)*
                /// Allows or denies clients by IP address. Denied connections are closed before a
                /// byte is read.
                pub access: Option<Access>,
            }
        }

        impl Listen {
            /// Returns the options of its socket.
            pub fn options(&self) -> ListenOptions {
                ListenOptions {
                    key: ListenerKey::default(),
                    $($option: self.$option.value().engine_value(),)*
                }
            }
        }
    };
}

vervet_engine::listen_options!(listen_section);

impl Listen {
    /// Returns the name by which sites select it: `name`, or the address.
    pub fn called(&self) -> String {
        self.name.value().clone().unwrap_or_else(|| self.address.to_string())
    }
}

/// Converts a setting for the engine.
trait EngineValue<T> {
    fn engine_value(&self) -> T;
}

impl<T: Clone> EngineValue<T> for T {
    fn engine_value(&self) -> T {
        self.clone()
    }
}

impl EngineValue<Duration> for Time {
    fn engine_value(&self) -> Duration {
        **self
    }
}

impl EngineValue<Option<usize>> for Option<Size> {
    fn engine_value(&self) -> Option<usize> {
        self.and_then(|size| usize::try_from(size.bytes()).ok())
    }
}

impl EngineValue<Option<u32>> for Option<Mode> {
    fn engine_value(&self) -> Option<u32> {
        self.map(|mode| mode.0)
    }
}

impl EngineValue<Vec<IpNet>> for Vec<Network> {
    fn engine_value(&self) -> Vec<IpNet> {
        self.iter().map(|network| network.net()).collect()
    }
}

section! {
    /// The admin service: health checks (`/-/live`, `/-/ready`, `/-/startup`), metrics (`/metrics`)
    /// and status (`/-/status`), on a separate listener. Without this section it is off.
    ///
    /// ```toml
    /// admin = "unix:/run/vervet/admin.sock"
    /// ```
    pub struct AdminSettings short(address) {
        /// The address: a unix socket, or a loopback address such as `"127.0.0.1:9180"`.
        pub address: Address = "unix:/run/vervet/admin.sock",
        /// Permissions of the unix socket, in octal.
        pub mode: Mode = "600",
        /// Allows an address that other hosts or all local users can reach, such as for container
        /// probes. Anyone who reaches it can read the names of sites, listeners and logs.
        pub exposed: bool = false,
    }
}

impl AdminSettings {
    /// The address to listen on, or why it is not allowed.
    pub fn listen(&self) -> Result<(ListenAddress, ListenOptions), Box<Diagnostic>> {
        let address = self.address.value().0.clone();
        let is_reached_by_others = match &address {
            ListenAddress::Tcp(address) => !address.ip().is_loopback(),
            // An abstract socket has no permissions: every local user can reach it.
            ListenAddress::Any(_) | ListenAddress::Abstract(_) => true,
            // The parent process has chosen the address of an inherited socket.
            ListenAddress::Unix(_) | ListenAddress::Descriptor(_) | ListenAddress::Named(_) => {
                false
            }
        };
        if is_reached_by_others && !*self.exposed {
            let problem = Diagnostic::error(self.address.span(), "others can reach this address")
                .expected("a unix socket or a loopback address, such as `127.0.0.1:9180`")
                .note(
                    "`exposed = true` allows it: anyone who reaches it can read the names of sites, \
                     listeners and logs",
                );
            return Err(Box::new(problem));
        }
        let options = ListenOptions { mode: Some(self.mode.value().0), ..ListenOptions::default() };
        Ok((address, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        let listen = vervet_config::read_text::<Listen>("a.toml", "address = ':80'");
        assert_eq!(listen.value.unwrap().options(), ListenOptions::default());
    }
}
