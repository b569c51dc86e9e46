//! Escapes bytes of a peer, so that they end neither the line nor a quoted text in it.

/// Whether a byte needs no escape: visible ASCII and the space, without the quote, the backslash
/// and the delimiter.
#[allow(clippy::needless_bitwise_bool)] // no jumps: see LARGE_CHUNK
const fn is_plain(byte: u8, Delimiter(delimiter): Delimiter) -> bool {
    (byte >= 0x20) & (byte < 0x7f) & (byte != b'"') & (byte != b'\\') & (byte != delimiter)
}

/// Bytes that are checked together: one vector register of the smallest machine. Single bytes cost
/// 1 to 2 ns each, which with a usual User-Agent was the larger part of a line.
const LARGE_CHUNK: usize = 16;
/// The same for shorter values.
const MEDIUM_CHUNK: usize = 8;
/// The same for the shortest values.
const SMALL_CHUNK: usize = 4;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The byte that ends a value in a line: it is escaped within the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delimiter(u8);

impl Delimiter {
    /// No byte in addition to those that are always escaped.
    pub(super) const QUOTE: Self = Self(b'"');

    /// The byte that follows a value in a line. Letters and digits do not separate values.
    pub(super) fn before(next: u8) -> Self {
        if next.is_ascii_punctuation() || next == b' ' { Self(next) } else { Self::QUOTE }
    }
}

/// How many bytes at the front need no escape.
fn plain_length(bytes: &[u8], delimiter: Delimiter) -> usize {
    let (chunks, _) = match bytes.len() {
        LARGE_CHUNK.. => bytes.as_chunks::<LARGE_CHUNK>(),
        MEDIUM_CHUNK.. if has_plain_ends::<MEDIUM_CHUNK>(bytes, delimiter) => return bytes.len(),
        SMALL_CHUNK..MEDIUM_CHUNK if has_plain_ends::<SMALL_CHUNK>(bytes, delimiter) => {
            return bytes.len();
        }
        _ => Default::default(),
    };
    let plain = |chunk: &&[u8; LARGE_CHUNK]| are_plain(chunk, delimiter);
    let count = chunks.iter().take_while(plain).count();
    let is_end_plain = || bytes.last_chunk().is_some_and(|chunk| plain(&chunk));
    if count > 0 && count == chunks.len() && is_end_plain() {
        return bytes.len();
    }
    let begin = count * LARGE_CHUNK;
    let other = bytes[begin..].iter().position(|byte| !is_plain(*byte, delimiter));
    other.map_or(bytes.len(), |length| begin + length)
}

/// Whether `N` bytes at both ends, which may overlap, need no escape. Together they are all bytes.
fn has_plain_ends<const N: usize>(bytes: &[u8], delimiter: Delimiter) -> bool {
    let are_plain = |chunk: &[u8; N]| are_plain(chunk, delimiter);
    bytes.first_chunk().is_some_and(are_plain) && bytes.last_chunk().is_some_and(are_plain)
}

fn are_plain<const N: usize>(bytes: &[u8; N], delimiter: Delimiter) -> bool {
    bytes.iter().fold(true, |all, byte| all & is_plain(*byte, delimiter))
}

/// Appends for text formats. Other bytes become `\xHH`, including the quote, the backslash and the
/// delimiter of the value, so that readers may split at quotes without knowing escapes.
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

/// Appends for JSON strings (RFC 8259 §7). Control characters are escaped, including those above
/// ASCII; bytes that are not UTF-8 become U+FFFD.
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

/// Line and paragraph separators, at which some log readers end a line.
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
        check(b"\x00\x1b[2J\x7f", "\\x00\\x1B[2J\\x7F", "\\u0000\\u001B[2J\\u007F");
        // A terminal may read U+009B as the beginning of a control sequence.
        check(b"\xc2\x9b\xe2\x80\xa8", "\\xC2\\x9B\\xE2\\x80\\xA8", "\\u009B\\u2028");
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        check(b"\xff\xc3", "\\xFF\\xC3", "\u{fffd}\u{fffd}");
        check("é😀".as_bytes(), "\\xC3\\xA9\\xF0\\x9F\\x98\\x80", "é😀");
    }

    #[test]
    fn bytes_to_escape_are_found_at_every_position() {
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
    fn an_escape_takes_the_position_of_its_byte() {
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
    fn plain_text_is_not_changed() {
        check(b"", "", "");
        check(b"/a b?c=~", "/a b?c=~", "/a b?c=~");
    }

    #[test]
    fn the_delimiter_of_a_value_is_escaped_in_it() {
        let text = |bytes: &[u8], next| {
            let mut out = Vec::new();
            push_text(&mut out, bytes, Delimiter::before(next));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(b"a b|c", b' '), "a\\x20b|c");
        assert_eq!(text(b"a b|c and what follows", b'|'), "a b\\x7Cc and what follows");
        assert_eq!(text(b"a b|c", b'b'), "a b|c");
    }
}
