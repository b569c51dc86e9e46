//! Networks of both families, and tables of them in which an address is found without a scan.
//!
//! An IPv4 address that comes as IPv6 (`::ffff:192.0.2.1`, as on a listener of both families) is
//! the IPv4 address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use prefix_trie::PrefixMap;
use vervet_config::{FromText, TextShape};

/// The bits before the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2).
const MAPPED_BITS: u8 = 96;

/// A network, or a single address as a network of one. Its host bits are zero, and it is IPv4 where
/// it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network(IpNet);

/// Why a text is not a valid network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// Neither an address nor an address with a prefix length.
    Malformed(String),
    /// Bits after the prefix are set: it is not clear whether the address or the network is meant.
    /// Holds the text and the network.
    HostBits(String, Network),
}

impl Network {
    /// The network of one address.
    pub fn from_address(address: IpAddr) -> Self {
        Self(IpNet::from(address.to_canonical()))
    }

    /// The network as an [`IpNet`].
    pub fn net(self) -> IpNet {
        self.0
    }

    /// Whether the address lies in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    fn canonical(network: IpNet) -> Self {
        let IpNet::V6(six) = network.trunc() else {
            return Self(network.trunc());
        };
        let four = six
            .network()
            .to_ipv4_mapped()
            .zip(six.prefix_len().checked_sub(MAPPED_BITS))
            .and_then(|(address, bits)| Ipv4Net::new(address, bits).ok());
        Self(four.map_or(IpNet::V6(six), IpNet::V4))
    }
}

impl FromText for Network {
    const SHAPE: TextShape = TextShape { noun: "network", example: "10.0.0.0/8", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error| match error {
            NetworkError::Malformed(_) => "not an address or a network".to_owned(),
            NetworkError::HostBits(_, network) => {
                format!("it has bits set after its prefix (the network is {network})")
            }
        })
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::from_address(address));
        }
        let given = with_prefix(text).ok_or_else(|| NetworkError::Malformed(text.to_owned()))?;
        let network = Self::canonical(given);
        if given.trunc() == given {
            Ok(network)
        } else {
            Err(NetworkError::HostBits(text.to_owned(), network))
        }
    }
}

/// The standard library reads the address: a leading zero, which others take for octal, is an error
/// to it.
fn with_prefix(text: &str) -> Option<IpNet> {
    let (address, bits) = text.split_once('/')?;
    let is_plain = bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = bits.parse().ok().filter(|_| is_plain)?;
    IpNet::new(address.parse().ok()?, bits).ok()
}

impl From<IpNet> for Network {
    fn from(network: IpNet) -> Self {
        Self::canonical(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() {
            self.0.addr().fmt(formatter)
        } else {
            self.0.fmt(formatter)
        }
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => {
                write!(
                    formatter,
                    "\"{text}\" is not a network (such as 10.0.0.0/8, 2001:db8::/32, or one address)"
                )
            }
            Self::HostBits(text, network) => write!(
                formatter,
                "\"{text}\" has bits set after its prefix: write {network} for the network, or the address without the prefix"
            ),
        }
    }
}

impl std::error::Error for NetworkError {}

/// A value for each of many networks. Finding an address takes as long for ten thousand networks as
/// for ten.
#[derive(Clone)]
pub struct Networks<T> {
    four: PrefixMap<Ipv4Net, T>,
    six: PrefixMap<Ipv6Net, T>,
}

impl<T> Default for Networks<T> {
    fn default() -> Self {
        Self { four: PrefixMap::new(), six: PrefixMap::new() }
    }
}

impl<T> Networks<T> {
    /// How many networks there are.
    pub fn len(&self) -> usize {
        self.four.len() + self.six.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the value of a network and returns the previous one.
    pub fn insert(&mut self, network: Network, value: T) -> Option<T> {
        match network.0 {
            IpNet::V4(four) => self.four.insert(four, value),
            IpNet::V6(six) => self.six.insert(six, value),
        }
    }

    /// Removes a network and returns its value.
    pub fn remove(&mut self, network: Network) -> Option<T> {
        match network.0 {
            IpNet::V4(four) => self.four.remove(&four),
            IpNet::V6(six) => self.six.remove(&six),
        }
    }

    /// The value of exactly this network.
    pub fn get(&self, network: Network) -> Option<&T> {
        match network.0 {
            IpNet::V4(four) => self.four.get(&four),
            IpNet::V6(six) => self.six.get(&six),
        }
    }

    /// Folds the values of all networks that contain the address, the widest first.
    pub fn fold_covering<B>(&self, address: IpAddr, initial: B, fold: impl FnMut(B, &T) -> B) -> B {
        match Network::from_address(address).0 {
            IpNet::V4(four) => self.four.cover_values(&four).fold(initial, fold),
            IpNet::V6(six) => self.six.cover_values(&six).fold(initial, fold),
        }
    }

    /// Whether `is_wanted` holds for the value of any network that contains the address.
    pub fn any_covering(&self, address: IpAddr, is_wanted: impl FnMut(&T) -> bool) -> bool {
        match Network::from_address(address).0 {
            IpNet::V4(four) => self.four.cover_values(&four).any(is_wanted),
            IpNet::V6(six) => self.six.cover_values(&six).any(is_wanted),
        }
    }

    /// Whether the address lies in any network.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.any_covering(address, |_| true)
    }

    /// The value of the narrowest network that holds all of this one.
    pub fn covering_network(&self, network: Network) -> Option<&T> {
        match network.0 {
            IpNet::V4(four) => self.four.get_lpm(&four).map(|(_, value)| value),
            IpNet::V6(six) => self.six.get_lpm(&six).map(|(_, value)| value),
        }
    }

    /// All networks with their values, IPv4 first, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (Network, &T)> {
        let four = self.four.iter().map(|(net, value)| (Network(IpNet::V4(net)), value));
        let six = self.six.iter().map(|(net, value)| (Network(IpNet::V6(net)), value));
        four.chain(six)
    }
}

impl<T> FromIterator<(Network, T)> for Networks<T> {
    fn from_iter<I: IntoIterator<Item = (Network, T)>>(networks: I) -> Self {
        let mut table = Self::default();
        for (network, value) in networks {
            table.insert(network, value);
        }
        table
    }
}

impl<T: fmt::Debug> fmt::Debug for Networks<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.iter().map(|(network, value)| (network.to_string(), value));
        formatter.debug_map().entries(shown).finish()
    }
}

/// The key of a client: an IPv4 address, or an IPv6 /64, the smallest network that a customer has
/// (RFC 6177).
pub fn client_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(four),
        IpAddr::V6(six) => IpAddr::V6((six.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let found = text.parse::<Network>();
        let shown = found.map(|network| network.to_string());
        assert_eq!(
            shown.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned),
            "{text}"
        );
    }

    #[track_caller]
    fn check_malformed(text: &str) {
        let expected = format!(
            "\"{text}\" is not a network (such as 10.0.0.0/8, 2001:db8::/32, or one address)"
        );
        check(text, Err(&expected));
    }

    #[test]
    fn what_is_no_network_is_refused_with_the_remedy() {
        for text in [
            "",
            "/",
            "10",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/-1",
            "10.0.0.0/8 ",
            "010.0.0.0/8",
            "localhost",
            "10.0.0.0/255.0.0.0",
            "[::1]",
            "10.0.0.1:80",
            "fe80::1%eth0",
        ] {
            check_malformed(text);
        }
        check(
            "10.0.0.1/8",
            Err(
                "\"10.0.0.1/8\" has bits set after its prefix: write 10.0.0.0/8 for the network, or the address without the prefix",
            ),
        );
        check(
            "2001:db8::1/32",
            Err(
                "\"2001:db8::1/32\" has bits set after its prefix: write 2001:db8::/32 for the network, or the address without the prefix",
            ),
        );
    }

    #[test]
    fn networks_are_written_in_their_shortest_form() {
        check("10.0.0.0/8", Ok("10.0.0.0/8"));
        check("192.0.2.1", Ok("192.0.2.1"));
        check("192.0.2.1/32", Ok("192.0.2.1"));
        check("0.0.0.0/0", Ok("0.0.0.0/0"));
        check("2001:DB8:0::/32", Ok("2001:db8::/32"));
        check("::1", Ok("::1"));
        check("::ffff:10.0.0.0/104", Ok("10.0.0.0/8"));
        check("::ffff:192.0.2.1", Ok("192.0.2.1"));
        // Wider than the mapped addresses: it stays what it is.
        check("::/0", Ok("::/0"));
    }

    #[test]
    fn an_address_is_found_in_all_networks_that_hold_it() {
        let table: Networks<u8> = [
            ("10.0.0.0/8", 1),
            ("10.1.0.0/16", 2),
            ("10.1.2.3", 3),
            ("0.0.0.0/0", 4),
            ("::/0", 5),
            ("2001:db8::/32", 6),
        ]
        .into_iter()
        .map(|(text, value)| (text.parse().unwrap(), value))
        .collect();
        let check = |address: &str, expected: &[u8]| {
            let found =
                table.fold_covering(address.parse().unwrap(), Vec::new(), |mut all, value| {
                    all.push(*value);
                    all
                });
            assert_eq!(found, expected, "{address}");
        };
        check("11.0.0.0", &[4]);
        check("10.2.0.0", &[4, 1]);
        check("10.1.2.4", &[4, 1, 2]);
        check("10.1.2.3", &[4, 1, 2, 3]);
        check("::ffff:10.1.2.3", &[4, 1, 2, 3]);
        check("::1", &[5]);
        check("2001:db8::1", &[5, 6]);
        assert_eq!(table.len(), 6);
    }

    #[test]
    fn clients_of_ipv6_count_by_their_64() {
        let check = |address: &str, expected: &str| {
            let key = client_key(address.parse().unwrap());
            assert_eq!(key, expected.parse::<IpAddr>().unwrap(), "{address}");
        };
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("::1", "::");
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
    }
}
