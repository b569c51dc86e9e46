//! Values as text that people read: HTML escaping, sizes in bytes, numbers with grouped digits.
//!
//! The pages of the server and the reports of load tests share these, so that both write the same.

use std::fmt::{self, Write};

/// The character reference for a character that would end text or a quoted attribute value in HTML;
/// `None` for every other character.
///
/// The apostrophe is a number because HTML 4 has no `&apos;`.
pub const fn html_reference(character: char) -> Option<&'static str> {
    match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#x27;"),
        _ => None,
    }
}

/// Writes `text` escaped for HTML, between tags and in quoted attribute values.
///
/// # Errors
/// Those of `out`.
pub fn write_html(out: &mut (impl Write + ?Sized), text: &str) -> fmt::Result {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let Some(reference) = html_reference(char::from(byte)) else {
            continue;
        };
        if written < at {
            out.write_str(&text[written..at])?;
        }
        out.write_str(reference)?;
        written = at + 1;
    }
    if written < text.len() {
        out.write_str(&text[written..])?;
    }
    Ok(())
}

/// A size in bytes with a binary unit and three digits: `512 B`, `1.50 KiB`, `20.0 MiB`.
pub fn size(bytes: f64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1023.5 {
        return format!("{bytes:.0} B");
    }
    let mut scaled = bytes / 1024.0;
    let mut unit = 0;
    while scaled >= 1023.5 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(scaled), units[unit])
}

/// A number below a thousand with three digits: `1.23`, `12.3`, `123`.
pub fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// A whole number with its digits in groups of three: `1,234,567`.
pub fn grouped(number: impl fmt::Display) -> String {
    let number = number.to_string();
    let digits = number.trim_start_matches('-');
    let mut text = String::with_capacity(number.len() + digits.len() / 3);
    text.push_str(&number[..number.len() - digits.len()]);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_html(text: &str, expected: &str) {
        let mut out = String::new();
        write_html(&mut out, text).unwrap();
        assert_eq!(out, expected);
    }

    #[test]
    fn escapes_markup() {
        check_html(
            "<b title='1' id=\"2\">&amp;</b>",
            "&lt;b title=&#x27;1&#x27; id=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;",
        );
        check_html("<a", "&lt;a");
        check_html("a<", "a&lt;");
        check_html("<<", "&lt;&lt;");
        check_html("ä<ä", "ä&lt;ä");
    }

    #[test]
    fn leaves_other_text_as_it_is() {
        check_html("", "");
        check_html("Grüße, 世界 / `x` = {1}", "Grüße, 世界 / `x` = {1}");
    }

    #[test]
    fn sizes_have_three_digits_and_a_binary_unit() {
        for (bytes, expected) in [
            (0.0, "0 B"),
            (1023.0, "1023 B"),
            (1024.0, "1.00 KiB"),
            (1536.0, "1.50 KiB"),
            (10_240.0, "10.0 KiB"),
            (1_048_575.0, "1.00 MiB"),
            (1_048_576.0, "1.00 MiB"),
            (18_446_744_073_709_551_615.0, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn digits_are_grouped() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_234_567, "1,234,567"), (-123_456, "-123,456")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
