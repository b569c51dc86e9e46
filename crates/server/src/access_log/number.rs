//! Numbers and addresses in a line. By hand where the general way costs as much as the rest of the line.

use std::io::Write as _;
use std::net::IpAddr;

use super::short::push_front;

/// Appends a number in decimal.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    if let Ok(number @ 0..1000) = u16::try_from(number) {
        let (text, length) = short(number);
        push_front(out, &text, length);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// Appends a number below a thousand with three digits.
pub(super) fn push_three(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&three(number));
}

/// The digits of a number below a thousand.
pub(super) fn three(number: u16) -> [u8; 3] {
    // A digit fits a byte.
    [100, 10, 1].map(|unit| b'0' + (number / unit % 10) as u8)
}

/// A number below a thousand without zeros in front, and how long it is. A dot stands behind it.
fn short(number: u16) -> ([u8; 4], usize) {
    let [hundreds, tens, ones] = three(number);
    let zeros = u32::from(number < 100) + u32::from(number < 10);
    let text = u32::from_le_bytes([hundreds, tens, ones, b'.']) >> (8 * zeros);
    (text.to_le_bytes(), 3 - zeros as usize)
}

/// Appends an address without port; `unix:` where there is none.
pub(super) fn push_address(out: &mut Vec<u8>, address: Option<IpAddr>) {
    match address {
        Some(IpAddr::V4(address)) => push_v4(out, address.octets()),
        Some(IpAddr::V6(address)) => {
            // Writing to a Vec does not fail.
            let _ = write!(out, "{address}");
        }
        None => out.extend_from_slice(b"unix:"),
    }
}

fn push_v4(out: &mut Vec<u8>, octets: [u8; 4]) {
    for octet in octets {
        let (text, length) = short(u16::from(octet));
        push_front(out, &text, length + 1);
    }
    // Without the last dot.
    out.truncate(out.len() - 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str) {
        let mut out = Vec::new();
        push_address(&mut out, address.parse().ok());
        assert_eq!(String::from_utf8(out).unwrap(), address);
    }

    #[test]
    fn addresses_are_written_as_everywhere() {
        for address in [
            "0.0.0.0",
            "9.10.99.100",
            "127.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1",
            "unix:",
        ] {
            check(address);
        }
    }

    #[test]
    fn three_digits_are_three() {
        let mut out = Vec::new();
        for number in [0, 7, 42, 999] {
            push_three(&mut out, number);
        }
        assert_eq!(out, b"000007042999");
    }

    #[test]
    fn numbers_have_no_zeros_in_front() {
        for number in (0..2000).chain([u64::MAX]) {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
