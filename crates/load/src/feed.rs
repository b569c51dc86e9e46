//! Rows of values for requests, from CSV with a header row, and the order in which users take them.
//! Templates insert the values.

use std::str::FromStr;
use std::sync::Arc;

use crate::finding::{Finding, Findings, Position, did_you_mean};
use crate::share::{Share, Turns};

/// The most bytes of a feed: it stays in memory, for a file that is read during the run would be
/// measured with it.
pub const FEED_BYTES_MAX: usize = 256 << 20;
/// The most columns of a feed.
pub const FEED_COLUMNS_MAX: usize = 256;

// Ends of cells are counted in u32.
const _: () = assert!(FEED_BYTES_MAX < u32::MAX as usize);

/// Rows of named columns; one row at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    columns: Vec<String>,
    bytes: Vec<u8>,
    /// Where each cell ends in `bytes`, row by row.
    ends: Vec<u32>,
}

vervet_config::words! {
    /// Order in which the rows of a feed are used.
    pub enum Order {
        /// In file order across all users, starting over after the last row.
        Sequential = "sequential",
        /// A random row each time.
        Random = "random",
        /// Each row once, in file order across all users; users stop after the last row.
        Once = "once",
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Sequential, Self::Random, Self::Once];
        let order = known.into_iter().find(|order| order.as_str() == text);
        order.ok_or_else(|| {
            let hint = did_you_mean(text, known.map(Self::as_str));
            format!("invalid order `{text}`{hint}: expected sequential, random or once")
        })
    }
}

impl Feed {
    /// Parses a feed, or returns all errors.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, Vec<Finding>> {
        let mut findings = Findings::new(file);
        if text.len() > FEED_BYTES_MAX {
            findings
                .whole(format!("{} bytes, at most {FEED_BYTES_MAX} (split the file)", text.len()));
            return findings.or(Self::empty());
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let mut record = csv::ByteRecord::new();
        let mut feed = Self::empty();
        // Reading from memory cannot fail, and bytes need not be UTF-8: nothing else is an error
        // here.
        while let Ok(true) = reader.read_byte_record(&mut record) {
            let position = position(text, &record);
            if feed.columns.is_empty() {
                if record.len() > FEED_COLUMNS_MAX {
                    let message = format!("{} columns, at most {FEED_COLUMNS_MAX}", record.len());
                    findings.at(position, message);
                    return findings.or(feed);
                }
                feed.columns = columns(&record, position, &mut findings);
            } else {
                feed.push(&record, position, &mut findings);
            }
        }
        if feed.columns.is_empty() && findings.is_empty() {
            findings.whole("the file is empty; expected a line with the names of the columns");
        } else if feed.ends.is_empty() && findings.is_empty() {
            findings.whole("no rows below the names of the columns");
        }
        findings.or(feed)
    }

    fn empty() -> Self {
        Self { columns: Vec::new(), bytes: Vec::new(), ends: Vec::new() }
    }

    fn push(&mut self, record: &csv::ByteRecord, position: Position, findings: &mut Findings) {
        if record.len() != self.columns.len() {
            findings.at(
                position,
                format!("{} values, but {} columns", record.len(), self.columns.len()),
            );
            return;
        }
        for cell in record {
            self.bytes.extend_from_slice(cell);
            self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        }
    }

    /// Names of the columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there are; one at least.
    pub fn rows(&self) -> usize {
        self.ends.len() / self.columns.len()
    }

    /// One value. Rows and columns count from 0.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        let index = row * self.columns.len() + column;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[index] as usize]
    }
}

/// Position of a row. The position of the CSV reader is before empty lines.
fn position(text: &[u8], record: &csv::ByteRecord) -> Position {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let position = record.position();
    let start = position.map_or(0, |position| number(position.byte()));
    let line = position.map_or(0, |position| number(position.line()));
    let before = text.get(start..).unwrap_or_default().iter();
    let empty = before.take_while(|byte| b"\r\n".contains(byte));
    Position { line: line + empty.filter(|&&byte| byte == b'\n').count(), column: 1 }
}

/// The names in the first row, each once; no more than [`FEED_COLUMNS_MAX`].
fn columns(record: &csv::ByteRecord, position: Position, findings: &mut Findings) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, name) in record.iter().enumerate() {
        let name = String::from_utf8_lossy(name).trim().to_owned();
        if name.is_empty() {
            findings.at(position, format!("column {} has no name", number + 1));
        } else if names.contains(&name) {
            findings.at(position, format!("two columns have the name {name}"));
        }
        names.push(name);
    }
    names
}

/// A feed with the position where its users are.
#[derive(Debug)]
pub struct Cursor {
    feed: Arc<Feed>,
    order: Order,
    turns: Turns,
}

impl Cursor {
    /// Before the first row.
    pub fn new(feed: Arc<Feed>, order: Order) -> Self {
        Self { feed, order, turns: Turns::default() }
    }

    /// The cursor of one of n agents that share the rows: it takes every n-th row.
    #[must_use]
    pub fn with_share(self, share: Share) -> Self {
        Self { turns: Turns::new(share), ..self }
    }

    /// The rows that are drawn from.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The index of the next row; `None` after the last.
    pub fn next(&self, random: &mut fastrand::Rng) -> Option<usize> {
        let rows = self.feed.rows();
        if self.order == Order::Random {
            return Some(random.usize(..rows));
        }
        let taken = self.turns.take();
        let rows = rows as u64;
        let row = match self.order {
            Order::Once if taken >= rows => return None,
            _ => taken % rows,
        };
        usize::try_from(row).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = match Feed::parse("u.csv", text.as_bytes()) {
            Ok(feed) => (0..feed.rows())
                .map(|row| {
                    let cells = feed.columns().iter().enumerate().map(|(column, name)| {
                        let cell = String::from_utf8_lossy(feed.cell(row, column)).into_owned();
                        format!("{name}={cell:?}")
                    });
                    cells.collect::<Vec<_>>().join(" ")
                })
                .collect(),
            Err(findings) => findings.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn reports_every_wrong_line() {
        check("", &["u.csv: the file is empty; expected a line with the names of the columns"]);
        check("a,b\n", &["u.csv: no rows below the names of the columns"]);
        check(
            "a,b\n1\n1,2\n\n1,2,3\n",
            &["u.csv:2:1: 1 values, but 2 columns", "u.csv:5:1: 3 values, but 2 columns"],
        );
        check(
            "a,,a\n1,2,3\n",
            &["u.csv:1:1: column 2 has no name", "u.csv:1:1: two columns have the name a"],
        );
    }

    /// Too many columns are refused before their names are compared with each other: they have the
    /// same name, and nothing is said of that, nor of the rows.
    #[test]
    fn columns_are_bounded() {
        let same = |columns: usize| format!("{}\n1\n", vec!["x"; columns].join(","));
        check(&same(FEED_COLUMNS_MAX + 1), &["u.csv:1:1: 257 columns, at most 256"]);
        check(&same(100_000), &["u.csv:1:1: 100000 columns, at most 256"]);
        let names = |columns: usize| (0..columns).map(|name| name.to_string()).collect::<Vec<_>>();
        let row = names(FEED_COLUMNS_MAX).join(",");
        let feed = Feed::parse("u.csv", format!("{row}\n{row}\n").as_bytes()).unwrap();
        assert_eq!((feed.columns().len(), feed.rows()), (FEED_COLUMNS_MAX, 1));
    }

    #[test]
    fn a_feed_is_bounded() {
        let text = vec![0; FEED_BYTES_MAX + 1];
        let findings = Feed::parse("u.csv", &text).unwrap_err();
        assert!(findings[0].message.starts_with("268435457 bytes, at most"));
    }

    #[test]
    fn reads_quotes_and_marks_of_byte_order() {
        check(
            "\u{feff}name, word\r\nann,\"a \"\"b\"\",\nc\"\r\nbob,\r\n",
            &[r#"name="ann" word="a \"b\",\nc""#, r#"name="bob" word="""#],
        );
    }

    #[test]
    fn rows_are_drawn_in_order_once_or_at_random() {
        let feed = Arc::new(Feed::parse("u.csv", b"a\n1\n2\n3\n").unwrap());
        let draw = |order, seed| {
            let cursor = Cursor::new(Arc::clone(&feed), order);
            let mut random = fastrand::Rng::with_seed(seed);
            (0..7).map_while(|_| cursor.next(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(draw(Order::Sequential, 1), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(draw(Order::Once, 1), [0, 1, 2]);
        assert_eq!(draw(Order::Random, 1), draw(Order::Random, 1));
        let seeds = (0..20).map(|seed| draw(Order::Random, seed));
        let different: std::collections::HashSet<_> = seeds.collect();
        assert!(different.len() > 10);
        assert_eq!("once".parse(), Ok(Order::Once));
        assert_eq!(
            "onec".parse::<Order>(),
            Err("invalid order `onec` (did you mean \"once\"?): expected sequential, random or once".into())
        );
    }

    /// Several shares together draw the rows that one draws alone, however fast each is.
    #[test]
    fn several_draw_what_one_alone_does() {
        let feed = Arc::new(Feed::parse("u.csv", b"a\n1\n2\n3\n4\n5\n").unwrap());
        let draw = |order, index, most| {
            let cursor = Cursor::new(Arc::clone(&feed), order).with_share(Share { index, of: 3 });
            let mut random = fastrand::Rng::with_seed(1);
            (0..most).map_while(|_| cursor.next(&mut random)).collect::<Vec<_>>()
        };
        let once = [0, 1, 2].map(|index| draw(Order::Once, index, 9));
        assert_eq!(once, [vec![0, 3], vec![1, 4], vec![2]]);
        assert_eq!(draw(Order::Sequential, 1, 4), [1, 4, 2, 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(feed) = Feed::parse("u.csv", &text) {
                for row in 0..feed.rows() {
                    for column in 0..feed.columns().len() {
                        let _ = feed.cell(row, column);
                    }
                }
            }
        }
    }
}
