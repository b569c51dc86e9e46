//! What comes from targets and files, made harmless for the form it is written in: nothing of it
//! may move a terminal's cursor, turn the direction of a line, open an element, or compute in a
//! spreadsheet.

use std::fmt::{self, Write as _};

use vervet_http::text::html_reference;

/// Text for a terminal or a log: characters that are not seen or that steer are written as
/// `\u{1b}`.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

/// Text or a quoted attribute of HTML and SVG, printable as well.
#[derive(Clone, Copy, Debug)]
pub struct Html<'a>(pub &'a str);

/// A field of CSV, RFC 4180 §2, printable as well. What a spreadsheet would take for a formula
/// begins with an apostrophe.
#[derive(Clone, Copy, Debug)]
pub struct Csv<'a>(pub &'a str);

/// Whether a character is not seen or steers: controls, line and paragraph separators, directions,
/// what joins and fills.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

fn write_printable(f: &mut fmt::Formatter<'_>, letter: char) -> fmt::Result {
    if is_hidden(letter) { write!(f, "{}", letter.escape_unicode()) } else { f.write_char(letter) }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| write_printable(f, letter))
    }
}

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match html_reference(letter) {
            Some(reference) => f.write_str(reference),
            None => write_printable(f, letter),
        })
    }
}

impl fmt::Display for Csv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_formula = self
            .0
            .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '|', '%', '＝', '＋', '－', '＠']);
        let quoted = is_formula || self.0.contains([',', ';', '"', '\'', ' ', '\t', '\r', '\n']);
        if !quoted {
            return write!(f, "{}", Printable(self.0));
        }
        f.write_str(if is_formula { "\"'" } else { "\"" })?;
        self.0.chars().try_for_each(|letter| match letter {
            '"' => f.write_str("\"\""),
            _ => write_printable(f, letter),
        })?;
        f.write_char('"')
    }
}

/// JSON that may stand within a `script` element: no character in it can end or open an element.
pub fn json_in_html(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            // Only within strings of JSON, where these escapes mean the same.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, printable: &str, html: &str, csv: &str) {
        assert_eq!(Printable(text).to_string(), printable);
        assert_eq!(Html(text).to_string(), html);
        assert_eq!(Csv(text).to_string(), csv);
    }

    #[test]
    fn what_steers_is_written_out() {
        check("plain", "plain", "plain", "plain");
        check("\x1b[2J", "\\u{1b}[2J", "\\u{1b}[2J", "\\u{1b}[2J");
        check("a\nb", "a\\u{a}b", "a\\u{a}b", "\"a\\u{a}b\"");
        check("\u{202e}gpj", "\\u{202e}gpj", "\\u{202e}gpj", "\\u{202e}gpj");
        check(
            "\u{9b}x\0\u{7f}",
            "\\u{9b}x\\u{0}\\u{7f}",
            "\\u{9b}x\\u{0}\\u{7f}",
            "\\u{9b}x\\u{0}\\u{7f}",
        );
        check("\u{e0041}", "\\u{e0041}", "\\u{e0041}", "\\u{e0041}");
        check("größer 猫", "größer 猫", "größer 猫", "\"größer 猫\"");
    }

    #[test]
    fn html_opens_and_closes_nothing() {
        check("<b>", "<b>", "&lt;b&gt;", "<b>");
        let quotes = "\"'&";
        check(quotes, quotes, "&quot;&#x27;&amp;", "\"\"\"'&\"");
        assert_eq!(
            json_in_html("\"</script>&\u{2028}\""),
            "\"\\u003c/script\\u003e\\u0026\\u2028\""
        );
    }

    #[test]
    fn csv_computes_nothing() {
        for (text, field) in [
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\\u{9}=1\""),
            ("\r=1", "\"'\\u{d}=1\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("=\"a\"", "\"'=\"\"a\"\"\""),
            ("a,b", "\"a,b\""),
            ("1=1", "1=1"),
        ] {
            assert_eq!(Csv(text).to_string(), field, "{text:?}");
        }
    }
}
