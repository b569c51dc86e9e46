//! Addresses of the internet.

use std::net::{IpAddr, SocketAddr};

use super::FromText;
use crate::shape::TextShape;

impl FromText for IpAddr {
    const SHAPE: TextShape = TextShape {
        noun: "IP address",
        example: "192.0.2.1",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let reason = "an IPv4 address is four numbers up to 255, an IPv6 address groups of hexadecimal digits";
        text.parse().map_err(|_| reason.to_owned())
    }
}

impl FromText for SocketAddr {
    const SHAPE: TextShape = TextShape {
        noun: "socket address",
        example: "127.0.0.1:8080",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let reason = "it has an IP address, a colon and a port, with an IPv6 address in brackets";
        text.parse().map_err(|_| reason.to_owned())
    }
}
