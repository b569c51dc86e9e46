//! A table, formatted as text columns or HTML. Cells are escaped in both.

use std::fmt::Write as _;

use crate::escape::{Html, Printable};

/// Alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left, for columns of words.
    Left,
    /// Right, for columns of numbers.
    Right,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading of the column.
    pub label: String,
    /// Alignment of its cells.
    pub align: Align,
}

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The caption; may be empty.
    pub caption: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<String>>,
    /// Whether cells are colored by their last word, such as an Apdex rating.
    pub heat: bool,
}

impl Table {
    /// A table without rows. Columns whose label begins with `#` hold numbers. If all labels are
    /// empty, the header line is left out.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let column = |label: &&str| match label.strip_prefix('#') {
            Some(label) => Column { label: label.to_owned(), align: Align::Right },
            None => Column { label: (*label).to_owned(), align: Align::Left },
        };
        let columns = columns.iter().map(column).collect();
        Self { caption: caption.into(), columns, ..Self::default() }
    }

    /// Adds a column of numbers.
    pub fn numbers(&mut self, label: impl Into<String>) {
        self.columns.push(Column { label: label.into(), align: Align::Right });
    }

    /// Adds a row; missing cells are empty.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Formats the table as text columns, indented by two spaces.
    pub fn text(&self) -> String {
        let printable = |cells: &Vec<String>| -> Vec<String> {
            cells.iter().map(|cell| Printable(cell).to_string()).collect()
        };
        let mut lines: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if self.is_named() {
            lines.push(self.columns.iter().map(|column| column.label.clone()).collect());
        }
        lines.extend(self.rows.iter().map(printable));
        let width = |column: usize| {
            lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for cells in &lines {
            let mut line = String::new();
            for ((cell, column), width) in cells.iter().zip(&self.columns).zip(&widths) {
                let _ = match column.align {
                    Align::Left => write!(line, "  {cell:<width$}"),
                    Align::Right => write!(line, "  {cell:>width$}"),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Formats the table as an HTML element that scrolls if it is too wide. The first column is the
    /// row header.
    pub fn html(&self) -> String {
        let name = match self.caption.as_str() {
            "" => "Table",
            caption => caption,
        };
        // With a keyboard it can be focused and scrolled, and a screen reader announces its name.
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n",
            Html(name)
        );
        // Most cells are numbers, and a large page has thousands of them.
        let class = |align: Align| match align {
            Align::Left => " class=\"w\"",
            Align::Right => "",
        };
        if self.is_named() {
            html.push_str("<thead><tr>");
            for Column { label, align } in &self.columns {
                let _ = write!(html, "<th scope=\"col\"{}>{}</th>", class(*align), Html(label));
            }
            html.push_str("</tr></thead>\n");
        }
        html.push_str("<tbody>\n");
        for cells in &self.rows {
            html.push_str("<tr>");
            for (at, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
                let (element, scope) = if at == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let heat = if self.heat { heat(cell) } else { String::new() };
                let (class, cell) = (class(column.align), Html(cell));
                let _ = write!(html, "<{element}{scope}{class}{heat}>{cell}</{element}>");
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }

    fn is_named(&self) -> bool {
        self.columns.iter().any(|column| !column.label.is_empty())
    }
}

/// The attribute that colors a cell by its last word.
fn heat(cell: &str) -> String {
    let word = cell.rsplit(' ').next().filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    word.map_or(String::new(), |word| format!(" data-heat=\"{word}\""))
}
