//! The PROXY protocol, versions 1 (text) and 2 (binary): who the peer of a connection through a
//! load balancer really is.
//!
//! The header comes before anything else on a connection and only from networks that are listed for
//! it; a listed peer that sends something else is refused, for its address would be a lie. The
//! parser takes bytes and gives a header; it keeps nothing. Clauses are those of the protocol's
//! public specification, revision 2020/03/05. Extensions (TLV, §2.2) are skipped.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The maximum length of a header of version 1 in bytes, with its line end (§2.1).
pub const V1_BYTES_MAX: usize = 107;
/// The maximum length of an accepted header of version 2 in bytes: what fits the smallest TCP
/// segment of every network (§2.2).
pub const V2_BYTES_MAX: usize = 536;

const V1_SIGNATURE: &[u8] = b"PROXY ";
const V2_SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const V2_FIXED_BYTES: usize = 16;

/// The result of parsing the first bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Incomplete; call again with more bytes.
    NeedMore,
    /// A complete PROXY protocol header.
    Header {
        /// The address of the peer; `None` for a health check of the load balancer itself (`LOCAL`)
        /// and if it is unknown: then the socket's own address applies.
        source: Option<SocketAddr>,
        /// The address that the peer connected to; present exactly if `source` is.
        destination: Option<SocketAddr>,
        /// The length of the header in bytes; the rest belongs to the connection.
        consumed: usize,
    },
}

/// Why the first bytes are not a valid header. An error of the load balancer, or of the
/// configuration that lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyError {
    /// The bytes begin with neither signature.
    NoHeader,
    /// The header is longer than [`V1_BYTES_MAX`] or [`V2_BYTES_MAX`].
    TooLong,
    /// A line of version 1 is malformed (§2.1).
    Line,
    /// A version, command or family that version 2 does not define (§2.2).
    Unassigned,
    /// The addresses of version 2 are longer than the header that contains them (§2.2).
    TooShort,
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProxyError::NoHeader => "the connection does not begin with a PROXY protocol header",
            ProxyError::TooLong => "the PROXY protocol header is too long",
            ProxyError::Line => "the PROXY protocol line is malformed",
            ProxyError::Unassigned => {
                "the PROXY protocol header has an unknown version, command or family"
            }
            ProxyError::TooShort => "the PROXY protocol header is shorter than its addresses",
        })
    }
}

impl std::error::Error for ProxyError {}

/// Parses the header at the beginning of `bytes`, which are all bytes received on the connection so
/// far.
pub fn parse(bytes: &[u8]) -> Result<Parsed, ProxyError> {
    if begins(bytes, V1_SIGNATURE) {
        return parse_line(bytes);
    }
    if begins(bytes, V2_SIGNATURE) {
        return parse_binary(bytes);
    }
    Err(ProxyError::NoHeader)
}

/// Returns whether `bytes` begin with `signature`, or are a beginning of it.
fn begins(bytes: &[u8], signature: &[u8]) -> bool {
    let length = bytes.len().min(signature.len());
    bytes[..length] == signature[..length]
}

fn parse_line(bytes: &[u8]) -> Result<Parsed, ProxyError> {
    let window = &bytes[..bytes.len().min(V1_BYTES_MAX)];
    let Some(length) = window.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() < V1_BYTES_MAX {
            Ok(Parsed::NeedMore)
        } else {
            Err(ProxyError::TooLong)
        };
    };
    let line = window[..length].strip_suffix(b"\r").ok_or(ProxyError::Line)?;
    let text = line
        .get(V1_SIGNATURE.len()..)
        .and_then(|text| str::from_utf8(text).ok())
        .ok_or(ProxyError::Line)?;
    let consumed = length + 1;
    // §2.1: anything after UNKNOWN is ignored.
    if text == "UNKNOWN" || text.starts_with("UNKNOWN ") {
        return Ok(Parsed::Header { source: None, destination: None, consumed });
    }
    let (source, destination) = line_addresses(text).ok_or(ProxyError::Line)?;
    Ok(Parsed::Header { source: Some(source), destination: Some(destination), consumed })
}

/// `TCP4 source destination source-port destination-port`, one space between each.
fn line_addresses(text: &str) -> Option<(SocketAddr, SocketAddr)> {
    let mut words = text.split(' ');
    let mut word = || words.next();
    let address = match word()? {
        "TCP4" => |text| Ipv4Addr::from_str(text).ok().map(IpAddr::V4),
        "TCP6" => |text| Ipv6Addr::from_str(text).ok().map(IpAddr::V6),
        _ => return None,
    };
    let (source, destination) = (address(word()?)?, address(word()?)?);
    let (source_port, destination_port) = (port(word()?)?, port(word()?)?);
    match word() {
        None => Some((
            SocketAddr::new(source, source_port),
            SocketAddr::new(destination, destination_port),
        )),
        Some(_) => None,
    }
}

/// Decimal digits without a sign or leading zeros (§2.1).
fn port(text: &str) -> Option<u16> {
    let canonical = text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first));
    text.parse().ok().filter(|_| canonical)
}

fn parse_binary(bytes: &[u8]) -> Result<Parsed, ProxyError> {
    let Some((fixed, rest)) = bytes.split_first_chunk::<V2_FIXED_BYTES>() else {
        return Ok(Parsed::NeedMore);
    };
    let (command, family) = (fixed[12], fixed[13]);
    let length = usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    let proxied = match command {
        0x20 => false,
        0x21 => true,
        _ => return Err(ProxyError::Unassigned),
    };
    if proxied && (family >> 4 > 3 || family & 0x0f > 2) {
        return Err(ProxyError::Unassigned);
    }
    let consumed = V2_FIXED_BYTES + length;
    if consumed > V2_BYTES_MAX {
        return Err(ProxyError::TooLong);
    }
    if proxied && length < address_bytes(family) {
        return Err(ProxyError::TooShort);
    }
    let Some(block) = rest.get(..length) else {
        return Ok(Parsed::NeedMore);
    };
    let addresses = if proxied { binary_addresses(family, block) } else { None };
    let (source, destination) = addresses.unzip();
    Ok(Parsed::Header { source, destination, consumed })
}

/// Length of the addresses that the high half of the family byte announces.
fn address_bytes(family: u8) -> usize {
    match family >> 4 {
        1 => 12,
        2 => 36,
        3 => 216,
        _ => 0,
    }
}

/// Addresses of TCP over IPv4 and IPv6; those of other families are of no use to an HTTP server.
fn binary_addresses(family: u8, block: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let port = |at: usize| Some(u16::from_be_bytes([*block.get(at)?, *block.get(at + 1)?]));
    match family {
        0x11 => {
            let ip = |at: usize| Some(Ipv4Addr::from(*block.get(at..)?.first_chunk::<4>()?));
            Some(((ip(0)?, port(8)?).into(), (ip(4)?, port(10)?).into()))
        }
        0x21 => {
            let ip = |at: usize| Some(Ipv6Addr::from(*block.get(at..)?.first_chunk::<16>()?));
            Some(((ip(0)?, port(32)?).into(), (ip(16)?, port(34)?).into()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header is found in full, byte by byte, and with bytes after it; every prefix of it needs
    /// more bytes.
    #[track_caller]
    fn check(bytes: &[u8], expected: Option<(&str, &str)>) {
        let source = expected.map(|(source, _)| source.parse().unwrap());
        let destination = expected.map(|(_, destination)| destination.parse().unwrap());
        let header = Parsed::Header { source, destination, consumed: bytes.len() };
        assert_eq!(parse(bytes), Ok(header));
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Ok(Parsed::NeedMore), "after {length} bytes");
        }
        let followed = [bytes, b"GET / HTTP/1.1\r\n\r\n", &[0; 600]].concat();
        assert_eq!(parse(&followed), Ok(header));
    }

    /// Refused, and never taken for a header when only a part is there.
    #[track_caller]
    fn check_refused(bytes: &[u8], expected: ProxyError) {
        assert_eq!(parse(bytes), Err(expected), "{}", bytes.escape_ascii());
        let mut refused = false;
        for length in 0..bytes.len() {
            match parse(&bytes[..length]) {
                Ok(Parsed::NeedMore) => assert!(!refused, "refused before byte {length}, then not"),
                Ok(header) => panic!("{header:?} after {length} bytes"),
                Err(error) => {
                    assert_eq!(error, expected);
                    refused = true;
                }
            }
        }
    }

    fn binary(command: u8, family: u8, block: &[u8]) -> Vec<u8> {
        let length = u16::try_from(block.len()).unwrap().to_be_bytes();
        [
            b"\x0D\x0A\x0D\x0A\x00\x0D\x0A\x51\x55\x49\x54\x0A",
            &[command, family][..],
            &length,
            block,
        ]
        .concat()
    }

    const IPV4: &[u8] = b"\xC0\xA8\x00\x01\xC0\xA8\x00\x0B\xDC\x04\x01\xBB";

    fn ipv6() -> Vec<u8> {
        let source = "2001:db8::1".parse::<Ipv6Addr>().unwrap().octets();
        let destination = "2001:db8::2".parse::<Ipv6Addr>().unwrap().octets();
        [&source[..], &destination, b"\x00\x50\x01\xBB"].concat()
    }

    #[test]
    fn what_is_no_header_is_refused_at_its_first_wrong_byte() {
        for bytes in [
            "GET / HTTP/1.1\r\n",
            "PROXZ",
            "PROXYTCP4",
            "proxy TCP4",
            "\r\nGET",
            "\r\n\r\n\0\r\nQUIP",
            "X",
        ] {
            check_refused(bytes.as_bytes(), ProxyError::NoHeader);
        }
    }

    /// §2.1: a line of single spaces, a known protocol, canonical numbers, CRLF.
    #[test]
    fn refuses_lines_outside_the_grammar() {
        for line in [
            "TCP4 192.168.0.1 192.168.0.11 56324 443\n",
            "TCP4 192.168.0.1 192.168.0.11 56324 443 \r\n",
            "TCP4  192.168.0.1 192.168.0.11 56324 443\r\n",
            "TCP4 192.168.0.1 192.168.0.11 56324\r\n",
            "TCP4 192.168.0.1 192.168.0.11 56324 443 1\r\n",
            "TCP4 192.168.0.1 192.168.0.11 56324 65536\r\n",
            "TCP4 192.168.0.1 192.168.0.11 56324 0443\r\n",
            "TCP4 192.168.0.1 192.168.0.11 +1 443\r\n",
            "TCP4 192.168.0.1 192.168.0.11 -1 443\r\n",
            "TCP4 192.168.0.01 192.168.0.11 56324 443\r\n",
            "TCP4 192.168.0.256 192.168.0.11 56324 443\r\n",
            "TCP4 2001:db8::1 2001:db8::2 56324 443\r\n",
            "TCP6 192.168.0.1 192.168.0.11 56324 443\r\n",
            "TCP5 192.168.0.1 192.168.0.11 56324 443\r\n",
            "tcp4 192.168.0.1 192.168.0.11 56324 443\r\n",
            "UDP4 192.168.0.1 192.168.0.11 56324 443\r\n",
            "UNKNOWNX\r\n",
            "TCP4\r\n",
            "\r\n",
            "TCP4 \u{661}.0.0.1 1.1.1.1 1 1\r\n",
        ] {
            check_refused(format!("PROXY {line}").as_bytes(), ProxyError::Line);
        }
        check_refused(b"PROXY TCP4 \xff\r\n", ProxyError::Line);
    }

    /// §2.1: 107 bytes hold the longest line; a receiver that finds no line end in them must give
    /// up.
    #[test]
    fn a_line_ends_within_107_bytes() {
        let longest = format!("PROXY UNKNOWN {}\r\n", "x".repeat(V1_BYTES_MAX - 16));
        assert_eq!(longest.len(), V1_BYTES_MAX);
        check(longest.as_bytes(), None);
        let longer = format!("PROXY UNKNOWN {}\r\n", "x".repeat(V1_BYTES_MAX - 15));
        check_refused(longer.as_bytes(), ProxyError::TooLong);
    }

    /// §2.1, the examples of each line's longest form and of the text.
    #[test]
    fn lines_of_version_1() {
        check(
            b"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
            Some(("255.255.255.255:65535", "255.255.255.255:65535")),
        );
        check(
            b"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
            Some(("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")),
        );
        check(b"PROXY UNKNOWN\r\n", None);
        check(
            b"PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
            None,
        );
        check(
            b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n",
            Some(("192.168.0.1:56324", "192.168.0.11:443")),
        );
        check(b"PROXY TCP6 2001:db8::1 ::1 0 80\r\n", Some(("[2001:db8::1]:0", "[::1]:80")));
    }

    /// §2.2: "other values are unassigned and must not be emitted"; receivers must drop the
    /// connection.
    #[test]
    fn refuses_unassigned_values_of_version_2() {
        for (command, family) in [
            (0x11, 0x11),
            (0x31, 0x11),
            (0x22, 0x11),
            (0x2F, 0x11),
            (0x21, 0x41),
            (0x21, 0x13),
            (0x21, 0xFF),
        ] {
            check_refused(&binary(command, family, IPV4), ProxyError::Unassigned);
        }
    }

    /// §2.2: the length covers at least the addresses of the family.
    #[test]
    fn refuses_a_block_shorter_than_its_addresses() {
        check_refused(&binary(0x21, 0x11, &[0; 11]), ProxyError::TooShort);
        check_refused(&binary(0x21, 0x21, &[0; 35]), ProxyError::TooShort);
        check_refused(&binary(0x21, 0x31, &[0; 215]), ProxyError::TooShort);
        check_refused(&binary(0x21, 0x12, &[]), ProxyError::TooShort);
    }

    #[test]
    fn version_2_ends_within_536_bytes() {
        check(&binary(0x20, 0x00, &[0; V2_BYTES_MAX - 16]), None);
        check_refused(&binary(0x20, 0x00, &[0; V2_BYTES_MAX - 15]), ProxyError::TooLong);
        check_refused(&binary(0x21, 0x11, &vec![0; 65_535]), ProxyError::TooLong);
    }

    /// §2.2: TCP over IPv4 (0x11) and IPv6 (0x21), extensions after the addresses are skipped.
    #[test]
    fn addresses_of_version_2() {
        let expected = Some(("192.168.0.1:56324", "192.168.0.11:443"));
        check(&binary(0x21, 0x11, IPV4), expected);
        check(&binary(0x21, 0x11, &[IPV4, b"\x04\x00\x03\x00\x00\x00"].concat()), expected);
        check(&binary(0x21, 0x21, &ipv6()), Some(("[2001:db8::1]:80", "[2001:db8::2]:443")));
    }

    /// §2.2: with LOCAL "the receiver must ... use the real connection endpoints and discard the
    /// protocol block including the family".
    #[test]
    fn local_and_unspecified_have_no_addresses() {
        check(&binary(0x20, 0x00, &[]), None);
        check(&binary(0x20, 0x11, IPV4), None);
        check(&binary(0x20, 0xFF, IPV4), None);
        check(&binary(0x20, 0x11, &[1, 2, 3]), None);
        check(&binary(0x21, 0x00, &[]), None);
        check(&binary(0x21, 0x00, IPV4), None);
        check(&binary(0x21, 0x12, IPV4), None);
        check(&binary(0x21, 0x31, &[b'a'; 216]), None);
    }
}
