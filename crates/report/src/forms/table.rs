//! A table as a value: for a terminal in columns, for a page as HTML. What stands in it is made
//! harmless in both.

use std::fmt::Write as _;

use crate::escape::{Html, Printable};

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, for texts.
    Left,
    /// At the right, for figures.
    Right,
}

/// Rows under the names of their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns. Where all names are empty no line of names is written.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(name, align)| ((*name).to_owned(), *align));
        Self { columns: columns.collect(), rows: Vec::new() }
    }

    /// Adds a row; cells that it lacks are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows, without the names of the columns.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// In columns, each line indented by two blanks.
    pub fn text(&self) -> String {
        let printable = |cells: &Vec<String>| -> Vec<String> {
            cells.iter().map(|cell| Printable(cell).to_string()).collect()
        };
        let mut lines: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if self.is_named() {
            lines.push(self.columns.iter().map(|(name, _)| name.clone()).collect());
        }
        lines.extend(self.rows.iter().map(printable));
        let width = |column: usize| {
            lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for cells in &lines {
            let mut line = String::new();
            for ((cell, (_, align)), width) in cells.iter().zip(&self.columns).zip(&widths) {
                let _ = match align {
                    Align::Left => write!(line, "  {cell:<width$}"),
                    Align::Right => write!(line, "  {cell:>width$}"),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// As an element of a page, which scrolls within itself where it is too wide. The first column
    /// names its row.
    pub fn html(&self, caption: &str) -> String {
        let caption = Html(caption);
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n\
             <caption>{caption}</caption>\n"
        );
        let class = |align: Align| match align {
            Align::Left => "",
            Align::Right => " class=\"n\"",
        };
        if self.is_named() {
            html.push_str("<thead><tr>");
            for (name, align) in &self.columns {
                let _ = write!(html, "<th scope=\"col\"{}>{}</th>", class(*align), Html(name));
            }
            html.push_str("</tr></thead>\n");
        }
        html.push_str("<tbody>\n");
        for cells in &self.rows {
            html.push_str("<tr>");
            for (at, (cell, (_, align))) in cells.iter().zip(&self.columns).enumerate() {
                let (element, scope) = if at == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let _ =
                    write!(html, "<{element}{scope}{}>{}</{element}>", class(*align), Html(cell));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }

    fn is_named(&self) -> bool {
        self.columns.iter().any(|(name, _)| !name.is_empty())
    }
}
