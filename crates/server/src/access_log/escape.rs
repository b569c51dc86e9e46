//! Bytes of a peer in a line: whatever they are, they neither end the line nor a quoted text in it.

/// Whether a byte stands for itself: visible ASCII and the space, without the quote, the backslash and
/// the delimiter.
#[allow(clippy::needless_bitwise_bool)] // no jumps: see TOGETHER
const fn is_plain(byte: u8, Delimiter(delimiter): Delimiter) -> bool {
    (byte >= 0x20) & (byte < 0x7f) & (byte != b'"') & (byte != b'\\') & (byte != delimiter)
}

/// Bytes looked at together: what one vector of the least machine holds. One by one costs 1 to 2 ns each, which with a
/// usual User-Agent was the larger part of a line.
const TOGETHER: usize = 16;
/// The same for shorter values, which would otherwise be looked at one by one.
const SOME: usize = 8;
/// The same for those that are shorter still.
const FEW: usize = 4;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Where a value ends: a byte that is escaped within it, besides those that always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delimiter(u8);

impl Delimiter {
    /// Nothing beyond what is always escaped.
    pub(super) const QUOTE: Self = Self(b'"');

    /// The byte that follows a value in a line. Letters and digits do not part anything.
    pub(super) fn before(next: u8) -> Self {
        if next.is_ascii_punctuation() || next == b' ' {
            Self(next)
        } else {
            Self::QUOTE
        }
    }
}

/// How many bytes at the front stand for themselves.
fn plain_length(bytes: &[u8], delimiter: Delimiter) -> usize {
    let (chunks, _) = match bytes.len() {
        TOGETHER.. => bytes.as_chunks::<TOGETHER>(),
        SOME.. if has_plain_ends::<SOME>(bytes, delimiter) => return bytes.len(),
        FEW..SOME if has_plain_ends::<FEW>(bytes, delimiter) => return bytes.len(),
        _ => Default::default(),
    };
    let plain = |chunk: &&[u8; TOGETHER]| are_plain(chunk, delimiter);
    let count = chunks.iter().take_while(plain).count();
    let is_end_plain = || bytes.last_chunk().is_some_and(|chunk| plain(&chunk));
    if count > 0 && count == chunks.len() && is_end_plain() {
        return bytes.len();
    }
    let begin = count * TOGETHER;
    let other = bytes[begin..]
        .iter()
        .position(|byte| !is_plain(*byte, delimiter));
    other.map_or(bytes.len(), |length| begin + length)
}

/// Whether so many bytes at both ends stand for themselves. They may overlap: then that is all bytes.
fn has_plain_ends<const N: usize>(bytes: &[u8], delimiter: Delimiter) -> bool {
    let are_plain = |chunk: &[u8; N]| are_plain(chunk, delimiter);
    bytes.first_chunk().is_some_and(are_plain) && bytes.last_chunk().is_some_and(are_plain)
}

fn are_plain<const N: usize>(bytes: &[u8; N], delimiter: Delimiter) -> bool {
    bytes
        .iter()
        .fold(true, |all, byte| all & is_plain(*byte, delimiter))
}

/// Appends for text formats: everything else as `\xHH`, the quote and the backslash too, so that readers which split
/// at quotes without knowing of escapes are not led astray; and the delimiter of the value.
pub(super) fn push_text(out: &mut Vec<u8>, bytes: &[u8], delimiter: Delimiter) {
    let mut rest = bytes;
    loop {
        let (plain, other) = rest.split_at(plain_length(rest, delimiter));
        out.extend_from_slice(plain);
        let Some((byte, after)) = other.split_first() else {
            return;
        };
        out.extend_from_slice(b"\\x");
        push_hex(out, *byte);
        rest = after;
    }
}

/// Appends for JSON strings (RFC 8259 §7). Control characters, those above ASCII too, are escaped; bytes that are no
/// UTF-8 become U+FFFD.
pub(super) fn push_json(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = plain_length(bytes, Delimiter::QUOTE);
    out.extend_from_slice(&bytes[..length]);
    if length == bytes.len() {
        return;
    }
    for chunk in bytes[length..].utf8_chunks() {
        chunk.valid().chars().for_each(|c| push_json_char(out, c));
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

fn push_json_char(out: &mut Vec<u8>, c: char) {
    match c {
        '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
        _ if c.is_control() || is_line_end(c) => {
            out.extend_from_slice(b"\\u");
            let code = c as u32;
            for shift in [8, 0] {
                push_hex(out, (code >> shift & 0xff) as u8);
            }
        }
        _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Line and paragraph separators, which some readers of logs end a line at.
fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn push_hex(out: &mut Vec<u8>, byte: u8) {
    out.push(HEX[usize::from(byte >> 4)]);
    out.push(HEX[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, json: &str) {
        let (mut as_text, mut as_json) = (Vec::new(), Vec::new());
        push_text(&mut as_text, bytes, Delimiter::QUOTE);
        push_json(&mut as_json, bytes);
        assert_eq!(String::from_utf8(as_text).unwrap(), text);
        assert_eq!(String::from_utf8(as_json).unwrap(), json);
    }

    #[test]
    fn nothing_ends_a_line_or_a_quoted_text() {
        check(b"a\r\nb", "a\\x0D\\x0Ab", "a\\u000D\\u000Ab");
        check(b"a\"b\\", "a\\x22b\\x5C", "a\\\"b\\\\");
        check(
            b"\x00\x1b[2J\x7f",
            "\\x00\\x1B[2J\\x7F",
            "\\u0000\\u001B[2J\\u007F",
        );
        // A terminal may take U+009B for the beginning of a control sequence, a reader U+2028 for the end of a line.
        check(
            b"\xc2\x9b\xe2\x80\xa8",
            "\\xC2\\x9B\\xE2\\x80\\xA8",
            "\\u009B\\u2028",
        );
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_kept_apart() {
        check(b"\xff\xc3", "\\xFF\\xC3", "\u{fffd}\u{fffd}");
        check("é😀".as_bytes(), "\\xC3\\xA9\\xF0\\x9F\\x98\\x80", "é😀");
    }

    #[test]
    fn what_is_not_plain_is_found_wherever_it_stands() {
        for length in 0..40 {
            for place in 0..length {
                let mut bytes = vec![b'a'; length];
                bytes[place] = b'\n';
                assert_eq!(plain_length(&bytes, Delimiter::QUOTE), place, "of {length}");
            }
            assert_eq!(plain_length(&vec![b'~'; length], Delimiter::QUOTE), length);
        }
    }

    #[test]
    fn an_escape_stands_where_its_byte_stood() {
        for length in 1..40 {
            for place in 0..length {
                let (front, end) = ("a".repeat(place), "b".repeat(length - place - 1));
                check(
                    format!("{front}\"{end}").as_bytes(),
                    &format!("{front}\\x22{end}"),
                    &format!("{front}\\\"{end}"),
                );
            }
        }
    }

    #[test]
    fn plain_text_stands_for_itself() {
        check(b"", "", "");
        check(b"/a b?c=~", "/a b?c=~", "/a b?c=~");
    }

    #[test]
    fn the_byte_that_ends_a_value_does_not_stand_in_it() {
        let text = |bytes: &[u8], next| {
            let mut out = Vec::new();
            push_text(&mut out, bytes, Delimiter::before(next));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(b"a b|c", b' '), "a\\x20b|c");
        assert_eq!(
            text(b"a b|c and what follows", b'|'),
            "a b\\x7Cc and what follows"
        );
        assert_eq!(text(b"a b|c", b'b'), "a b|c");
    }
}
