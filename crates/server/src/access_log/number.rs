//! Numbers and addresses in a line. By hand where the general way costs as much as the rest of the line.

use std::io::Write as _;
use std::net::IpAddr;

/// Appends a number in decimal.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number below a thousand with three digits.
pub(super) fn push_three(out: &mut Vec<u8>, number: u32) {
    // A digit fits a byte.
    let digit = |unit: u32| b'0' + (number / unit % 10) as u8;
    out.extend_from_slice(&[digit(100), digit(10), digit(1)]);
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
    let (mut text, mut length) = ([0; 16], 0);
    for octet in octets {
        let digits = [octet / 100, octet / 10 % 10, octet % 10];
        let skipped = usize::from(octet < 100) + usize::from(octet < 10);
        for digit in &digits[skipped..] {
            text[length] = b'0' + digit;
            length += 1;
        }
        text[length] = b'.';
        length += 1;
    }
    // Without the last dot.
    out.extend_from_slice(&text[..length - 1]);
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
}
