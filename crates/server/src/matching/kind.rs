//! The types of variables in path patterns.

/// The type of a variable. It decides whether a segment of the path fits; the value itself stays
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Digits that make a number of at most 64 bits.
    Number,
    /// Like [`Kind::Number`], with an optional minus sign, of at most 64 bits with sign.
    Integer,
    /// ASCII letters, digits and underscores.
    Word,
    /// ASCII letters, digits, underscores and hyphens.
    Slug,
    /// `8-4-4-4-12` hexadecimal digits of either case (RFC 9562 §4).
    Uuid,
    /// `2026-02-28`: a day that the calendar has (RFC 3339 §5.6, `full-date`).
    Date,
    /// Any segment that is not empty.
    Any,
}

impl Kind {
    /// All types, in the order of documentation.
    pub const ALL: [Self; 7] =
        [Self::Number, Self::Integer, Self::Word, Self::Slug, Self::Uuid, Self::Date, Self::Any];

    /// The name of the type in patterns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Word => "word",
            Self::Slug => "slug",
            Self::Uuid => "uuid",
            Self::Date => "date",
            Self::Any => "any",
        }
    }

    /// The type of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether every value of the other type is one of this type.
    pub(super) fn covers(self, other: Self) -> bool {
        match self {
            Self::Any => true,
            Self::Slug => other != Self::Any,
            Self::Word => matches!(other, Self::Word | Self::Number),
            _ => self == other,
        }
    }

    /// A value of this type.
    pub(super) const fn sample(self) -> &'static str {
        match self {
            Self::Number | Self::Integer => "1",
            Self::Word | Self::Slug | Self::Any => "a",
            Self::Uuid => "00000000-0000-0000-0000-000000000000",
            Self::Date => "2026-01-01",
        }
    }

    /// Whether a decoded segment is a value of this type.
    pub fn takes(self, segment: &[u8]) -> bool {
        match self {
            Self::Number => number::<u64>(segment, segment),
            Self::Integer => number::<i64>(segment, segment.strip_prefix(b"-").unwrap_or(segment)),
            Self::Word => all(segment, |byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            Self::Slug => {
                all(segment, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            }
            Self::Uuid => is_uuid(segment),
            Self::Date => is_date(segment),
            Self::Any => !segment.is_empty(),
        }
    }
}

fn all(segment: &[u8], fits: impl Fn(u8) -> bool) -> bool {
    !segment.is_empty() && segment.iter().all(|&byte| fits(byte))
}

// The standard parser also takes a plus sign, which is why the digits are looked at first.
fn number<N: std::str::FromStr>(segment: &[u8], digits: &[u8]) -> bool {
    all(digits, |byte| byte.is_ascii_digit())
        && str::from_utf8(segment).is_ok_and(|text| text.parse::<N>().is_ok())
}

fn is_uuid(segment: &[u8]) -> bool {
    segment.len() == 36
        && segment.iter().enumerate().all(|(at, &byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_date(segment: &[u8]) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = segment else {
        return false;
    };
    let digits = [y1, y2, y3, y4, m1, m2, d1, d2];
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let number =
        |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let (year, month, day) = (number(&digits[..4]), number(&digits[4..6]), number(&digits[6..]));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Kind, refused: &[&str], taken: &[&str]) {
        for segment in refused {
            assert!(!kind.takes(segment.as_bytes()), "{kind:?} takes {segment:?}");
        }
        for segment in taken {
            assert!(kind.takes(segment.as_bytes()), "{kind:?} refuses {segment:?}");
        }
    }

    #[test]
    fn numbers_fit_64_bits() {
        check(
            Kind::Number,
            &["", "x", "1x", "+1", "-1", "1.5", " 1", "18446744073709551616", "\u{661}"],
            &["0", "7", "007", "18446744073709551615"],
        );
        check(
            Kind::Integer,
            &["", "-", "--1", "+1", "1-", "9223372036854775808", "-9223372036854775809"],
            &["0", "-0", "-1", "9223372036854775807", "-9223372036854775808"],
        );
    }

    #[test]
    fn words_and_slugs_are_ascii() {
        check(Kind::Word, &["", "a-b", "a.b", "a b", "\u{e9}"], &["a", "A_9", "_"]);
        check(Kind::Slug, &["", "a.b", "a/b", "\u{e9}"], &["a", "a-b_c-9", "-"]);
    }

    #[test]
    fn uuids_have_their_hyphens_in_place() {
        check(
            Kind::Uuid,
            &[
                "",
                "f81d4fae7dec11d0a76500a0c91e6bf6",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf6a",
                "f81d4fae-7dec-11d0-a76500a0c91e6bf6--",
                "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            ],
            &["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"],
        );
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        check(
            Kind::Date,
            &[
                "",
                "2026-2-28",
                "2026-02-29",
                "1900-02-29",
                "2026-00-01",
                "2026-13-01",
                "2026-01-00",
                "2026-04-31",
                "20260228",
                "2026/02/28",
                "2026-02-28T",
                "+026-02-28",
            ],
            &["2026-02-28", "2024-02-29", "2000-02-29", "0000-12-31", "9999-12-31"],
        );
    }

    #[test]
    fn any_takes_all_but_nothing() {
        check(Kind::Any, &[""], &["x", " ", "\u{e9}", "a b"]);
        assert!(Kind::Any.takes(b"\xff"));
    }

    #[test]
    fn names_lead_back_to_their_types() {
        for kind in Kind::ALL {
            assert_eq!(Kind::by_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::by_name("Number"), None);
    }
}
