//! Lines of a terminal that are redrawn in place, with graphs. They never exceed the terminal, as
//! lines that have scrolled away cannot be redrawn.

use std::io::{self, Write};

use super::output::{Colours, SHOW_CURSOR, Size};

const HIDE_CURSOR: &str = "\x1b[?25l";

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Columns of the text before a graph.
const TEXT_COLUMNS: usize = 44;

/// A line of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) paint: Paint,
}

/// The colour of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Warning,
    Alarm,
}

/// The stream that lines are drawn on.
#[derive(Debug)]
pub(crate) struct Screen<W: Write> {
    to: W,
    size: fn() -> Size,
    colours: Colours,
    /// The number of lines that the next frame replaces.
    drawn: usize,
    cursor_is_hidden: bool,
}

impl<W: Write> Screen<W> {
    /// Draws on `to`, a terminal of this size.
    pub(crate) fn new(to: W, size: fn() -> Size, colours: Colours) -> Self {
        Self { to, size, colours, drawn: 0, cursor_is_hidden: false }
    }

    /// Columns that a line may have: the last stays free, as terminals differ in how they wrap.
    pub(crate) fn columns(&self) -> usize {
        (self.size)().columns.saturating_sub(1)
    }

    /// Hides the cursor.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.cursor_is_hidden = true;
        self.to.write_all(HIDE_CURSOR.as_bytes())?;
        self.to.flush()
    }

    /// Draws these lines over the previous ones.
    pub(crate) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = String::new();
        if self.drawn > 0 {
            text = format!("\x1b[{}A\r", self.drawn);
        }
        let columns = self.columns();
        // The cursor stands below.
        let rows = (self.size)().rows.saturating_sub(1);
        let shown = &lines[..lines.len().min(rows)];
        for line in shown {
            self.add(&mut text, line, columns);
        }
        text.push_str("\x1b[J");
        self.drawn = shown.len();
        self.to.write_all(text.as_bytes())?;
        self.to.flush()
    }

    fn add(&self, text: &mut String, line: &Line, columns: usize) {
        let paint = match (self.colours, line.paint) {
            (Colours::Hidden, _) | (_, Paint::Plain) => "",
            (_, Paint::Warning) => "\x1b[33m",
            (_, Paint::Alarm) => "\x1b[31m",
        };
        text.push_str(paint);
        text.extend(line.text.chars().take(columns));
        if !paint.is_empty() {
            text.push_str("\x1b[0m");
        }
        text.push_str("\x1b[K\n");
    }

    /// Removes the lines and shows the cursor.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.draw(&[])?;
        self.show_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.cursor_is_hidden = false;
        self.to.write_all(SHOW_CURSOR.as_bytes())?;
        self.to.flush()
    }

    /// The stream, for output that stays.
    pub(crate) fn stream(&mut self) -> &mut W {
        &mut self.to
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        if self.cursor_is_hidden {
            // A failure to write to the terminal cannot be reported anywhere.
            let _ = self.show_cursor();
        }
    }
}

impl Line {
    /// Without colour.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: Paint::Plain }
    }
}

/// A text followed by a graph of the latest values that fit into the columns.
pub(crate) fn with_graph(text: &str, values: &[f64], columns: usize, scale_min: f64) -> String {
    let width = columns.saturating_sub(TEXT_COLUMNS + 1);
    let graph = blocks(values, width, scale_min);
    format!("{text:<TEXT_COLUMNS$} {graph}")
}

/// The values, with neighbours joined so that all fit into the columns of a graph.
pub(crate) fn condensed(values: &[f64], columns: usize, join: fn(&[f64]) -> f64) -> Vec<f64> {
    let width = columns.saturating_sub(TEXT_COLUMNS + 1);
    let together = values.len().div_ceil(width.max(1)).max(1);
    values.chunks(together).map(join).collect()
}

/// The latest values, one a column, against the greatest of them or `scale_min`, whichever is more.
fn blocks(values: &[f64], columns: usize, scale_min: f64) -> String {
    let shown = &values[values.len().saturating_sub(columns)..];
    let top = shown.iter().copied().fold(scale_min, f64::max);
    shown.iter().map(|value| block(*value, top)).collect()
}

// The ratio lies between 0 and 1, so the number between 0 and 7.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn block(value: f64, top: f64) -> char {
    let ratio = if top > 0.0 { value / top } else { 0.0 };
    BLOCKS[(ratio.clamp(0.0, 1.0) * 7.0).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(size: fn() -> Size, colours: Colours, frames: &[&[Line]]) -> String {
        let mut bytes = Vec::new();
        let mut screen = Screen::new(&mut bytes, size, colours);
        screen.begin().unwrap();
        for lines in frames {
            screen.draw(lines).unwrap();
        }
        // Not ended: the cursor comes back when the screen goes.
        drop(screen);
        String::from_utf8(bytes).unwrap()
    }

    fn lines(count: usize) -> Vec<Line> {
        (0..count).map(|number| Line::plain(format!("line {number}"))).collect()
    }

    const SMALL: fn() -> Size = || Size { columns: 6, rows: 3 };

    #[test]
    fn lines_are_drawn_over_and_the_cursor_is_back() {
        let two = lines(2);
        let text = drawn(|| Size { columns: 80, rows: 24 }, Colours::Shown, &[&two, &two[..1]]);
        assert_eq!(
            text,
            "\x1b[?25lline 0\x1b[K\nline 1\x1b[K\n\x1b[J\x1b[2A\rline 0\x1b[K\n\x1b[J\x1b[?25h"
        );
    }

    #[test]
    fn nothing_is_wider_or_higher_than_the_terminal() {
        let text = drawn(SMALL, Colours::Shown, &[&lines(5), &lines(5)]);
        assert_eq!(
            text,
            "\x1b[?25lline \x1b[K\nline \x1b[K\n\x1b[J\x1b[2A\rline \x1b[K\nline \x1b[K\n\x1b[J\x1b[?25h"
        );
        let nothing = || Size { columns: 0, rows: 0 };
        assert_eq!(drawn(nothing, Colours::Shown, &[&lines(1)]), "\x1b[?25l\x1b[J\x1b[?25h");
    }

    #[test]
    fn colours_are_shown_unless_they_are_not_wanted() {
        let line = |paint| [Line { text: "failed".to_owned(), paint }];
        let text = |colours, paint| drawn(SMALL, colours, &[&line(paint)]);
        assert!(text(Colours::Shown, Paint::Alarm).contains("\x1b[31mfaile\x1b[0m\x1b[K"));
        assert!(text(Colours::Shown, Paint::Warning).contains("\x1b[33mfaile\x1b[0m\x1b[K"));
        for (colours, paint) in [(Colours::Hidden, Paint::Alarm), (Colours::Shown, Paint::Plain)] {
            assert!(text(colours, paint).contains("lfaile\x1b[K"));
        }
    }

    #[track_caller]
    fn check(values: &[f64], columns: usize, scale_min: f64, expected: &str) {
        assert_eq!(blocks(values, columns, scale_min), expected);
    }

    #[test]
    fn nothing_and_odd_numbers_are_flat() {
        check(&[], 8, 1.0, "");
        check(&[0.0, 0.0], 8, 0.0, "▁▁");
        check(&[f64::NAN, -1.0], 8, 1.0, "▁▁");
        check(&[1.0], 0, 1.0, "");
    }

    #[test]
    fn a_graph_stands_in_the_columns_that_are_left() {
        let text = with_graph("rate", &[1.0, 2.0, 4.0], 47, 0.0);
        assert_eq!(text, format!("rate{} ▅█", " ".repeat(40)));
        assert_eq!(with_graph("rate", &[1.0], 20, 0.0).trim_end(), "rate");
    }

    #[test]
    fn all_values_fit() {
        let greatest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let values: Vec<f64> = (1..=7_u8).map(f64::from).collect();
        assert_eq!(condensed(&values, 45 + 7, greatest), values);
        assert_eq!(condensed(&values, 45 + 3, greatest), [3.0, 6.0, 7.0]);
        assert_eq!(condensed(&values, 45, greatest), [7.0]);
        assert_eq!(condensed(&[], 80, greatest), [0.0; 0]);
    }

    #[test]
    fn the_latest_are_shown_against_the_greatest() {
        check(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 8, 0.0, "▁▂▃▄▅▆▇█");
        check(&[9.0, 0.0, 7.0], 2, 0.0, "▁█");
        check(&[1.0], 8, 7.0, "▂");
    }
}
