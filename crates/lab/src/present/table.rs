//! A table of texts, before anybody decides how it is written.

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<String>>,
    /// Whether a cell that ends in a rating of Apdex is coloured by it.
    pub heat: bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub label: String,
    /// On which side its cells stand.
    pub align: Align,
}

/// On which side cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// A table without rows: columns whose label begins with `#` hold numbers.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let column = |label: &&str| match label.strip_prefix('#') {
            Some(label) => Column {
                label: label.to_owned(),
                align: Align::Right,
            },
            None => Column {
                label: (*label).to_owned(),
                align: Align::Left,
            },
        };
        Self {
            caption: caption.into(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            heat: false,
        }
    }

    /// Adds a column of numbers.
    pub fn numbers(&mut self, label: impl Into<String>) {
        self.columns.push(Column {
            label: label.into(),
            align: Align::Right,
        });
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
