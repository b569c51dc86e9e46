//! Numbers, addresses and constant text of lines. Written by hand where the general way costs as
//! much as the rest of the line.
//!
//! A copy whose length the compiler knows is one or two moves, where any other is a call: a line
//! has some thirty pieces of a few bytes each, and the calls were half of its cost.

use std::io::Write as _;
use std::net::IpAddr;

/// Appends the first `length` bytes of `text`: all of it is copied, and the rest cut off again.
fn push_front<const N: usize>(out: &mut Vec<u8>, text: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(text);
    out.truncate(end);
}

/// Text that stands in every line.
#[derive(Debug)]
pub(super) struct FixedText {
    front: [u8; FRONT_BYTES],
    front_length: usize,
    /// The text after the front.
    rest: Box<[u8]>,
}

/// Two vector registers; few texts between two variables are longer.
const FRONT_BYTES: usize = 32;

impl FixedText {
    pub(super) fn new(text: &[u8]) -> Self {
        let (short, rest) = text.split_at(text.len().min(FRONT_BYTES));
        let mut front = [0; FRONT_BYTES];
        front[..short.len()].copy_from_slice(short);
        Self { front, front_length: short.len(), rest: rest.into() }
    }

    pub(super) fn push(&self, out: &mut Vec<u8>) {
        push_front(out, &self.front, self.front_length);
        if !self.rest.is_empty() {
            out.extend_from_slice(&self.rest);
        }
    }
}

/// Appends a number in decimal.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    if let Ok(number @ 0..1000) = u16::try_from(number) {
        let (text, length) = short_digits(number);
        push_front(out, &text, length);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// Appends a number below a thousand with three digits.
pub(super) fn push_three(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&three_digits(number));
}

/// The digits of a number below a thousand.
#[allow(clippy::cast_possible_truncation)] // a digit fits a byte
pub(super) fn three_digits(number: u16) -> [u8; 3] {
    // Each divisor is a constant: in a loop over them the divisions cost 90 instructions.
    let digit = |digit: u16| b'0' + digit as u8;
    [digit(number / 100), digit(number / 10 % 10), digit(number % 10)]
}

/// A number below a thousand without leading zeros, followed by a dot, and its length without the
/// dot.
fn short_digits(number: u16) -> ([u8; 4], usize) {
    let [hundreds, tens, ones] = three_digits(number);
    let zeros = u32::from(number < 100) + u32::from(number < 10);
    let text = u32::from_le_bytes([hundreds, tens, ones, b'.']) >> (8 * zeros);
    (text.to_le_bytes(), 3 - zeros as usize)
}

/// Appends an address without port; `unix:` if there is none.
pub(super) fn push_address(out: &mut Vec<u8>, address: Option<IpAddr>) {
    match address {
        Some(IpAddr::V4(address)) => {
            let (mut text, mut length) = ([0; 16], 0);
            for octet in address.octets() {
                let (digits, count) = short_digits(u16::from(octet));
                text[length..length + 4].copy_from_slice(&digits);
                length += count + 1;
            }
            // Without the last dot.
            push_front(out, &text, length - 1);
        }
        Some(IpAddr::V6(address)) => {
            // Writing to a Vec does not fail.
            let _ = write!(out, "{address}");
        }
        None => out.extend_from_slice(b"unix:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_text_is_itself_whatever_its_length() {
        let text: Vec<u8> = (b' '..).take(FRONT_BYTES * 3).collect();
        for length in 0..text.len() {
            let mut out = b"before".to_vec();
            FixedText::new(&text[..length]).push(&mut out);
            assert_eq!(out, [b"before", &text[..length]].concat());
        }
    }

    #[track_caller]
    fn check_address(address: &str) {
        let mut out = Vec::new();
        push_address(&mut out, address.parse().ok());
        assert_eq!(String::from_utf8(out).unwrap(), address);
    }

    #[test]
    fn addresses_have_their_usual_form() {
        for address in
            ["0.0.0.0", "9.10.99.100", "127.0.0.1", "255.255.255.255", "::1", "fe80::1", "unix:"]
        {
            check_address(address);
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
    fn numbers_have_no_leading_zeros() {
        for number in (0..2000).chain([u64::MAX]) {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
