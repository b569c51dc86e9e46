//! `[[listen]]`: where connections come from.

use std::fmt;

use vervet_config::{FromText, Size, Text, TextShape, Time, section};
use vervet_engine::listener::{AddressError, ListenAddress, ListenOptions, ListenerKey};

use crate::filters::access::Access;
use crate::matching::networks::Network;

/// An address to listen on, as it is written in a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address(pub ListenAddress);

impl FromText for Address {
    const SHAPE: TextShape = TextShape {
        noun: "address to listen on",
        example: "127.0.0.1:8080",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: AddressError| {
            if is_name(text) {
                "names are not looked up here: write the address of this machine, such as 127.0.0.1:8080, or :8080 for all".to_owned()
            } else {
                error.to_string()
            }
        })
    }
}

/// Whether somebody has written the name of a host, with a port or without.
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
    const SHAPE: TextShape = TextShape {
        noun: "mode in octal",
        example: "660",
        pattern: Some("^[0-7]{3,4}$"),
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let mode = u32::from_str_radix(text, 8)
            .ok()
            .filter(|mode| *mode <= 0o777);
        mode.map(Self).ok_or_else(|| "it is not a mode".to_owned())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

section! {
    /// A socket that accepts connections. Sockets are bound before privileges are dropped.
    pub struct Listen short(address) {
        /// Where: `"127.0.0.1:8080"`, `"[::1]:8080"`, `":8080"` (every address), port 0 (a free one), `"unix:/path"`,
        /// `"unix:@name"`, `"fd:3"` and `"fd:name"` (a socket that the parent process or systemd has opened).
        pub address: Address,
        /// What sites call it; its address where it has no name.
        pub name: Option<Text>,
        /// Connections that may wait to be accepted; the kernel caps it by `net.core.somaxconn`.
        pub backlog: u32 = 4096 in 1..=65535,
        /// A socket for each worker, the kernel spreading connections among them (`SO_REUSEPORT`); other processes may
        /// join.
        pub reuse_port: bool = false,
        /// Accept a connection only when its first bytes are there, or after this time; `"0s"` accepts at once.
        pub defer_accept: Time = "1s" in "0s"..="60s",
        /// Connections whose request may come with the SYN (`TCP_FASTOPEN`); 0 for none.
        pub fastopen: u32 = 0 in 0..=65535,
        /// Congestion control by its kernel name, such as `"bbr"`; the system's where it is not given.
        pub congestion: Option<Text>,
        /// Kernel send buffer of each connection (`SO_SNDBUF`); without it the kernel adapts it to the connection.
        pub send_buffer: Option<Size> = _ in "4KiB"..="1GiB",
        /// Kernel receive buffer of each connection (`SO_RCVBUF`); without it the kernel adapts it to the connection.
        pub receive_buffer: Option<Size> = _ in "4KiB"..="1GiB",
        /// Keep IPv4 off an IPv6 address; otherwise `[::]` takes both.
        pub v6only: bool = false,
        /// Permissions of the file of a unix socket, in octal.
        pub mode: Option<Mode>,
        /// Who may come in at all, by address: others find the connection closed before a byte is read.
        pub access: Option<Access>,
        /// Networks whose connections begin with a PROXY protocol header (version 1 or 2). On a unix socket any network
        /// means that all connections do.
        pub proxy_protocol_from: Vec<Network>,
    }
}

impl Listen {
    /// What sites call it.
    pub fn called(&self) -> String {
        self.name
            .value()
            .clone()
            .unwrap_or_else(|| self.address.to_string())
    }

    /// The options of its socket.
    pub fn options(&self) -> ListenOptions {
        let bytes = |size: &Option<Size>| size.and_then(|size| usize::try_from(size.bytes()).ok());
        ListenOptions {
            backlog: *self.backlog,
            reuse_port: *self.reuse_port,
            defer_accept_s: u32::try_from(self.defer_accept.as_secs()).unwrap_or(u32::MAX),
            fastopen_queue: *self.fastopen,
            congestion: self.congestion.value().clone(),
            unix_mode: self.mode.value().map(|mode| mode.0),
            v6only: *self.v6only,
            proxy_protocol_from: self
                .proxy_protocol_from
                .iter()
                .map(|network| network.net())
                .collect(),
            send_buffer_bytes: bytes(&self.send_buffer),
            receive_buffer_bytes: bytes(&self.receive_buffer),
            key: ListenerKey::default(),
        }
    }
}
