//! The one table of the engine's limits: every wait, count and buffer that a peer could otherwise
//! stretch.
//!
//! A limit is one row of the table below: its field, type, default, bounds, unit and its line in
//! the reference. The struct, its defaults, [`Limits::set`], the bounds in error messages and
//! `docs/limits.md` follow from the row. Zero means "no limit" where the row says so. What happens
//! at the connection limit is not a number: [`Overload`](crate::reactor::Overload).

use std::fmt;
use std::fmt::Write as _;

/// One row of [`Limits::TABLE`]: a limit with its bounds and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// The field name in [`Limits`], with its unit last if it has one.
    pub name: &'static str,
    /// The value unless it is set.
    pub default: u64,
    /// The smallest allowed value.
    pub min: u64,
    /// The largest allowed value.
    pub max: u64,
    /// What is counted: `bytes`, `ms`, `bytes/s`, `connections` and the like.
    pub unit: &'static str,
    /// One line of documentation for the reference.
    pub doc: &'static str,
}

/// Why a limit is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has this name.
    Unknown,
    /// The value is out of bounds.
    OutOfBounds {
        /// The limit that was to be set.
        row: &'static LimitRow,
        /// The value that was rejected.
        value: u64,
    },
    /// Two limits contradict each other.
    Relation {
        /// The limit that must not be greater.
        lesser: &'static str,
        /// The limit it must not exceed.
        greater: &'static str,
        /// The value of `greater`.
        bound: u64,
    },
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::Unknown => f.write_str("no limit of this name (docs/limits.md lists them)"),
            LimitError::OutOfBounds { row, value } => write!(
                f,
                "{} cannot be {value}: it lies between {} and {} {}",
                row.name, row.min, row.max, row.unit
            ),
            LimitError::Relation { lesser, greater, bound } => write!(
                f,
                "{lesser} exceeds {greater}, which is {bound} (lower the one or raise the other)"
            ),
        }
    }
}

impl std::error::Error for LimitError {}

macro_rules! limits {
    ($($doc:literal $name:ident: $type:ty = $default:literal, $min:literal ..= $max:literal, $unit:literal;)*) => {
        /// The limits of one engine; [`Limits::TABLE`] has their bounds, [`Limits::validate`]
        /// checks a set made by hand.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = concat!($doc, " In ", $unit, ".")] pub $name: $type,)*
        }

        impl Limits {
            /// The limits that apply unless they are set.
            pub const DEFAULT: Limits = Limits { $($name: $default,)* };

            /// Every limit, in the order of the reference.
            pub const TABLE: &[LimitRow] = &[
                $(LimitRow { name: stringify!($name), default: $default, min: $min, max: $max, unit: $unit, doc: $doc },)*
            ];

            /// Returns the value of the limit called `name`.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => u64::try_from(self.$name).ok(),)*
                    _ => None,
                }
            }

            fn store(&mut self, row: &'static LimitRow, value: u64) -> Result<(), LimitError> {
                let out_of_bounds = LimitError::OutOfBounds { row, value };
                match row.name {
                    $(stringify!($name) => self.$name = <$type>::try_from(value).map_err(|_| out_of_bounds)?,)*
                    _ => return Err(LimitError::Unknown),
                }
                Ok(())
            }
        }

        // Bounds must admit the default and fit the type.
        const _: () = {
            $(
                let (min, default, max): (u64, u64, u64) = ($min, $default, $max);
                assert!(min <= default && default <= max && max <= <$type>::MAX as u64);
            )*
        };
    };
}

limits! {
    "Request line and header fields together; a larger head is answered with 431."
    head_bytes_max: u32 = 32_768, 512 ..= 1_048_576, "bytes";
    "Field lines in a head or in trailers; more are answered with 431."
    fields_max: u32 = 100, 8 ..= 128, "fields";
    "Length of the request target; a longer one is answered with 414."
    target_bytes_max: u32 = 8_192, 64 ..= 65_536, "bytes";
    "Trailer fields of a request together; larger trailers are answered with 431 and a close."
    trailer_bytes_max: u32 = 8_192, 0 ..= 1_048_576, "bytes";
    "Request content (body) without its framing; larger content is answered with 413. 0: no limit."
    content_bytes_max: u64 = 1_048_576, 0 ..= 1_125_899_906_842_624, "bytes";
    "Content buffered between the engine and a handler, per direction; the sender waits while it is full."
    content_window_bytes: u32 = 65_536, 4_096 ..= 16_777_216, "bytes";
    "From the accept, or the first byte of a further request, to the end of the head; then 408 and close."
    head_timeout_ms: u32 = 15_000, 100 ..= 3_600_000, "ms";
    "From the accept to the end of the PROXY protocol header, if one is expected; then the connection is closed."
    proxy_header_timeout_ms: u32 = 5_000, 100 ..= 3_600_000, "ms";
    "Between two pieces of request content; then 408 and close."
    content_idle_timeout_ms: u32 = 30_000, 100 ..= 3_600_000, "ms";
    "Minimum mean rate of request content after the grace period; slower clients get 408 and close. 0: no minimum."
    content_rate_min: u32 = 256, 0 ..= 1_000_000_000, "bytes/s";
    "Grace period before the minimum rates of content and responses apply."
    rate_grace_ms: u32 = 30_000, 1_000 ..= 3_600_000, "ms";
    "Between two requests on a persistent connection; then it is closed."
    keep_alive_idle_ms: u32 = 5_000, 0 ..= 3_600_000, "ms";
    "Requests on one connection; the last response has Connection: close. 0: no limit."
    requests_per_connection_max: u32 = 1_000, 0 ..= 4_000_000_000, "requests";
    "Time in which the client reads no byte of a response; then the connection is reset."
    write_stall_timeout_ms: u32 = 30_000, 100 ..= 3_600_000, "ms";
    "Minimum mean rate at which the client reads a response after the grace period; slower connections are reset. 0: no minimum."
    write_rate_min: u32 = 256, 0 ..= 1_000_000_000, "bytes/s";
    "Connections at the same time; others get `overload`. 0, or above what open files allow: what they allow, less a reserve for files and the admin listener."
    connections_max: u32 = 0, 0 ..= 16_777_216, "connections";
    // A browser opens 6, so this serves many people who share an address.
    "Connections from one IPv4 address or IPv6 /64; at most half of what open files allow, so that others have room. Unix listeners: exempt. 0: no limit."
    connections_per_address_max: u32 = 1_024, 0 ..= 16_777_216, "connections";
    "Connections accepted from a listener in one turn, so that accepting does not delay other connections."
    accept_per_turn_max: u32 = 64, 1 ..= 4_096, "connections";
    "Reading after a response that closes, so that the client can read it before a reset (RFC 9112 §9.6)."
    lingering_close_ms: u32 = 2_000, 0 ..= 60_000, "ms";
    "Bytes read and dropped while lingering; more cause a reset."
    lingering_bytes_max: u32 = 1_048_576, 0 ..= 1_073_741_824, "bytes";
    "From the start of a graceful shutdown (drain) to its end; remaining connections are then closed."
    drain_timeout_ms: u32 = 30_000, 0 ..= 86_400_000, "ms";
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

impl Limits {
    /// Returns the row of the limit called `name`.
    pub fn row(name: &str) -> Option<&'static LimitRow> {
        Limits::TABLE.iter().find(|row| row.name == name)
    }

    /// Sets the limit called `name`; nothing changes on error. Relations are checked by
    /// [`Limits::validate`], so that several limits can be set first.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
        let row = Limits::row(name).ok_or(LimitError::Unknown)?;
        if value < row.min || value > row.max {
            return Err(LimitError::OutOfBounds { row, value });
        }
        self.store(row, value)
    }

    /// Checks all bounds and relations; the fields are public and may hold any value.
    pub fn validate(&self) -> Result<(), LimitError> {
        for row in Limits::TABLE {
            let value = self.get(row.name).unwrap_or(u64::MAX);
            if value < row.min || value > row.max {
                return Err(LimitError::OutOfBounds { row, value });
            }
        }
        match self.broken_relation() {
            None => Ok(()),
            Some((lesser, greater, bound)) => {
                Err(LimitError::Relation { lesser, greater, bound: u64::from(bound) })
            }
        }
    }

    /// Returns the first pair `(lesser, greater, value of greater)` in the wrong order; `const`, so
    /// that the defaults are checked at compile time.
    const fn broken_relation(&self) -> Option<(&'static str, &'static str, u32)> {
        let relations = [
            // A target of the maximum length must fit into a head, with room for method, version
            // and Host.
            ("target_bytes_max", self.target_bytes_max, "head_bytes_max", self.head_bytes_max),
            ("trailer_bytes_max", self.trailer_bytes_max, "head_bytes_max", self.head_bytes_max),
            (
                "proxy_header_timeout_ms",
                self.proxy_header_timeout_ms,
                "head_timeout_ms",
                self.head_timeout_ms,
            ),
        ];
        let mut index = 0;
        while index < relations.len() {
            let (lesser, value, greater, bound) = relations[index];
            if value > bound {
                return Some((lesser, greater, bound));
            }
            index += 1;
        }
        None
    }
}

const _: () = assert!(Limits::DEFAULT.broken_relation().is_none());

/// Returns the reference page of the limits, as Markdown.
pub fn limits_markdown() -> String {
    let mut page = String::from(
        "# Limits\n\nEvery limit holds by default. A value outside its bounds is rejected with a message that names them.\n\n\
         | limit | default | minimum | maximum | unit | what it limits |\n|---|--:|--:|--:|---|---|\n",
    );
    for row in Limits::TABLE {
        let LimitRow { name, default, min, max, unit, doc } = row;
        // Writing to a String does not fail.
        let _ = writeln!(page, "| `{name}` | {default} | {min} | {max} | {unit} | {doc} |");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: u64, expected: Result<(), &str>) {
        let mut limits = Limits::default();
        let result = limits.set(name, value);
        assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        let kept = Limits::default().get(name);
        assert_eq!(limits.get(name), if result.is_ok() { Some(value) } else { kept });
    }

    #[test]
    fn every_row_holds_at_both_edges_and_not_beyond() {
        for row in Limits::TABLE {
            check(row.name, row.min, Ok(()));
            check(row.name, row.max, Ok(()));
            let said = |value: u64| {
                format!(
                    "{} cannot be {value}: it lies between {} and {} {}",
                    row.name, row.min, row.max, row.unit
                )
            };
            check(row.name, row.max + 1, Err(&said(row.max + 1)));
            if row.min > 0 {
                check(row.name, row.min - 1, Err(&said(row.min - 1)));
            }
            check(row.name, u64::MAX, Err(&said(u64::MAX)));
        }
    }

    #[test]
    fn rejects_an_unknown_name() {
        check("head_bytes", 1, Err("no limit of this name (docs/limits.md lists them)"));
        check("", 1, Err("no limit of this name (docs/limits.md lists them)"));
    }

    #[test]
    fn the_defaults_are_those_of_the_table_and_valid() {
        let limits = Limits::default();
        assert_eq!(limits.validate(), Ok(()));
        for row in Limits::TABLE {
            assert_eq!(limits.get(row.name), Some(row.default), "{}", row.name);
        }
        assert_eq!(
            (limits.fields_max, limits.head_bytes_max, limits.target_bytes_max),
            (100, 32 * 1024, 8 * 1024)
        );
    }

    #[test]
    fn rejects_a_field_set_out_of_bounds_by_hand() {
        let limits = Limits { fields_max: 129, ..Limits::default() };
        assert_eq!(
            limits.validate().unwrap_err().to_string(),
            "fields_max cannot be 129: it lies between 8 and 128 fields"
        );
    }

    #[test]
    fn rejects_limits_that_contradict_each_other() {
        let rows = [
            (
                Limits { target_bytes_max: 32_769, ..Limits::default() },
                "target_bytes_max exceeds head_bytes_max, which is 32768",
            ),
            (
                Limits { trailer_bytes_max: 32_769, ..Limits::default() },
                "trailer_bytes_max exceeds head_bytes_max, which is 32768",
            ),
            (
                Limits { head_timeout_ms: 4_999, ..Limits::default() },
                "proxy_header_timeout_ms exceeds head_timeout_ms, which is 4999",
            ),
        ];
        for (limits, expected) in rows {
            let message = limits.validate().unwrap_err().to_string();
            assert_eq!(message, format!("{expected} (lower the one or raise the other)"));
        }
        let edge = Limits { target_bytes_max: 32_768, ..Limits::default() };
        assert_eq!(edge.validate(), Ok(()));
    }

    #[test]
    fn names_carry_their_unit_and_are_unique() {
        let mut names: Vec<_> = Limits::TABLE.iter().map(|row| row.name).collect();
        for row in Limits::TABLE {
            assert!(row.unit != "ms" || row.name.ends_with("_ms"), "{}", row.name);
            assert!(row.unit != "bytes" || row.name.contains("bytes"), "{}", row.name);
            assert!(row.doc.ends_with('.') && !row.doc.contains('|'), "{}", row.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Limits::TABLE.len());
    }

    #[test]
    fn the_reference_has_a_line_for_each_limit() {
        let page = limits_markdown();
        assert_eq!(
            page.lines().filter(|line| line.starts_with("| `")).count(),
            Limits::TABLE.len()
        );
        assert!(page.contains("| `fields_max` | 100 | 8 | 128 | fields | Field lines in a head or in trailers; more are answered with 431. |\n"));
    }
}
