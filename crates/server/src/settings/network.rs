//! Networks and single addresses, as people write them.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use vervet_config::{FromText, TextShape};

/// An IPv4 or IPv6 network; one address is the network that holds it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(pub IpNet);

impl FromText for Network {
    const SHAPE: TextShape = TextShape {
        noun: "network",
        example: "10.0.0.0/8",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let network = text.parse::<IpNet>().ok();
        let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
        let network = network
            .or_else(address)
            .ok_or("it is no address and no network")?;
        if network.trunc() != network {
            return Err(format!(
                "it has bits beyond its length (the network is {})",
                network.trunc()
            ));
        }
        Ok(Self(network))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
