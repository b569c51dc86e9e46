//! Parses numbers with units: `5k`, `1.5m` requests; times `30s`, `500ms`, `2m`.

use std::time::Duration;

use vervet_config::{FromText as _, Time};

use crate::pacer::RATE_MAX;

/// A number, optionally followed by `k` or `m`.
pub fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'm' | 'M') => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let number = digits.parse::<f64>().ok()? * factor;
    number.is_finite().then_some(number)
}

/// A rate of requests per second, at most [`RATE_MAX`].
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = number(text).ok_or("expected a number such as 500 or 5k")?;
    if rate > RATE_MAX.into() {
        return Err(format!(
            "at most {}m, {RATE_MAX} requests per second: the generator cannot compute due times faster",
            RATE_MAX / 1_000_000
        ));
    }
    Ok(rate)
}

/// A length of time with its unit, as in configuration files; also a bare number of seconds, and
/// `min` for minutes.
pub fn duration(text: &str) -> Result<Duration, String> {
    let zero = if text.starts_with('.') { "0" } else { "" };
    let (text, unit) = match text.strip_suffix("min") {
        Some(text) => (text, "m"),
        None if text.ends_with(|last: char| last.is_ascii_digit()) => (text, "s"),
        None => (text, ""),
    };
    Time::from_text(&format!("{zero}{text}{unit}")).map(Time::duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_a_limit() {
        assert_eq!(rate("10m"), Ok(1e7));
        for text in ["10000001", "1000000k", "11m"] {
            let error = rate(text).unwrap_err();
            assert!(error.starts_with("at most 10m, 10000000 requests per second"), "{error}");
        }
        assert_eq!(rate("fast").unwrap_err(), "expected a number such as 500 or 5k");
    }

    #[test]
    fn reads_what_people_write() {
        for (text, expected) in [
            ("", None),
            ("k", None),
            ("-5", None),
            ("inf", None),
            ("5x", None),
            ("1e400", None),
            ("5", Some(5.0)),
            ("2.5k", Some(2500.0)),
            ("1M", Some(1e6)),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
        for (text, expected_ms) in [
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1e30h", None),
            ("5x", None),
            ("10", Some(10_000)),
            ("1.5s", Some(1500)),
            ("250ms", Some(250)),
            ("2m", Some(120_000)),
            ("2min", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("1h30m", Some(5_400_000)),
            (".5s", Some(500)),
        ] {
            let expected = expected_ms.map(Duration::from_millis);
            assert_eq!(duration(text).ok(), expected, "{text:?}");
        }
    }
}
