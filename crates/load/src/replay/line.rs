//! One line of an access log: when, by which method, for which target.

use chrono::DateTime;
use serde::Deserialize;

/// The longest line that is read.
pub const LINE_BYTES_MAX: usize = 64 << 10;

/// The request in a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Time of the request, in microseconds since 1970.
    pub(super) start_us: i64,
    /// Precision of the time: a second if it is written in seconds.
    pub(super) clock: Clock,
    pub(super) method: String,
    pub(super) target: String,
}

/// How finely a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Seconds,
    Finer,
}

/// The members of our JSON form that matter.
#[derive(Deserialize)]
struct Json {
    time: String,
    method: String,
    target: String,
    #[serde(default)]
    duration_ms: Option<f64>,
}

/// Parses a line. `None` if its format is unknown, or it has no request.
pub(super) fn read(line: &[u8]) -> Option<Line> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    match line.trim_ascii() {
        text @ [b'{', ..] => read_json(text),
        text => read_common(text),
    }
}

/// `{"time":"…","method":"GET","target":"/","duration_ms":1.5}`, where the time is that of the end.
fn read_json(text: &[u8]) -> Option<Line> {
    let line: Json = serde_json::from_slice(text).ok()?;
    let time = DateTime::parse_from_rfc3339(&line.time).ok()?;
    let duration = line.duration_ms.filter(|time| (0.0..1e9).contains(time));
    let duration_us = duration.map_or(0.0, |time| time * 1e3);
    Some(Line {
        #[allow(clippy::cast_possible_truncation)] // below 1e12
        start_us: time.timestamp_micros() - duration_us as i64,
        clock: Clock::Finer,
        method: line.method,
        target: line.target,
    })
}

/// `client - user [21/Nov/2026:19:30:00 +0000] "GET / HTTP/1.1" 200 13`, and anything after it.
/// The time has a resolution of one second.
fn read_common(text: &[u8]) -> Option<Line> {
    let text = str::from_utf8(text).ok()?;
    // Client and user have no bracket followed by a digit, or are escaped.
    let (_, rest) = text.split_once(" [")?;
    let (time, rest) = rest.split_once("] \"")?;
    let time = DateTime::parse_from_str(time, "%d/%b/%Y:%H:%M:%S %z").ok()?;
    let request = unescape(quoted(rest)?)?;
    let mut words = request.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/") {
        return None;
    }
    Some(Line {
        start_us: time.timestamp_micros(),
        clock: Clock::Seconds,
        method: method.to_owned(),
        target: target.to_owned(),
    })
}

/// Up to the quote that no backslash escapes.
fn quoted(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })?;
    Some(&text[..end])
}

/// Undoes `\xHH`, `\"` and `\\`, as nginx, Apache and we write them.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let (value, next) = match (byte, after) {
            (b'\\', [b'x', high, low, next @ ..]) => {
                let hex = [*high, *low];
                let digits = str::from_utf8(&hex).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, next)
            }
            (b'\\', [escaped @ (b'"' | b'\\'), next @ ..]) => (*escaped, next),
            _ => (*byte, after),
        };
        bytes.push(value);
        rest = next;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<(&str, &str, &str)>) {
        let found = read(text.as_bytes());
        let found = found.map(|line| {
            let time = DateTime::from_timestamp_micros(line.start_us).unwrap();
            let time = time.format("%m-%d %H:%M:%S%.3f").to_string();
            (time, line.method, line.target)
        });
        let found = found.as_ref().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn odd_lines_have_no_request() {
        for text in [
            "",
            "hello",
            "{",
            "{}",
            r#"{"time":"x","method":"GET","target":"/"}"#,
            r#"1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] "-" 400 0"#,
            r#"1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] "\x16\x03\x01" 400 0"#,
            r#"1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] "GET /a b HTTP/1.1" 400 0"#,
            r#"1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] "GET /" 200 0"#,
            r#"1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] "GET / HTTP/1.1"#,
            r#"1.2.3.4 - - [21/Foo/2026:19:30:00 +0000] "GET / HTTP/1.1" 200 0"#,
            r#"1.2.3.4 - - [99/Nov/2026:19:30:00 +0000] "GET / HTTP/1.1" 200 0"#,
        ] {
            check(text, None);
        }
        let long = format!(
            "1.2.3.4 - - [21/Nov/2026:19:30:00 +0000] \"GET /{} HTTP/1.1\" 200 0",
            "x".repeat(LINE_BYTES_MAX)
        );
        check(&long, None);
    }

    #[test]
    fn reads_the_forms() {
        check(
            r#"1.2.3.4 - ann [21/Nov/2026:19:30:00 +0000] "GET /a?b HTTP/1.1" 200 13"#,
            Some(("11-21 19:30:00.000", "GET", "/a?b")),
        );
        check(
            r#"::1 - - [21/Nov/2026:19:30:00 -0130] "POST /\"\x22\\\xC3\xA4 HTTP/1.0" 200 13 "http://r [" "curl \"x\"""#,
            Some(("11-21 21:00:00.000", "POST", "/\"\"\\ä")),
        );
        check(
            r#"{"time":"2026-11-21T19:30:00.500Z","client":"::1","method":"GET","target":"/","duration_ms":250.5}"#,
            Some(("11-21 19:30:00.249", "GET", "/")),
        );
        check(
            r#"{"time":"2026-11-21T19:30:00+01:00","method":"GET","target":"/","duration_ms":-1}"#,
            Some(("11-21 18:30:00.000", "GET", "/")),
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_not(line in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = read(&line);
        }

        #[test]
        fn any_request_is_read_or_not(request in ".{0,40}", time in "[0-9/A-Za-z:+ ]{0,30}") {
            let _ = read(format!("a - - [21/Nov/2026:19:30:00 +0000] \"{request}\" 1").as_bytes());
            let _ = read(format!("a - - [{time}] \"GET / HTTP/1.1\" 1").as_bytes());
            let _ = read(format!("{{\"time\":\"{time}\",\"method\":\"{request}\",\"target\":\"/\"}}").as_bytes());
        }
    }
}
