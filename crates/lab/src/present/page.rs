//! What a page consists of, before anybody decides how it is written.

use vervet_report::chart::{BarChart, CandleChart, LineChart, Size};
use vervet_report::forms::Table;

/// A report as sections with blocks.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The heading, as plain text.
    pub title: String,
    /// One line below it.
    pub subtitle: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The heading, as plain text.
    pub title: String,
    /// The content of the section.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph of plain text.
    Text(String),
    /// Sentences, one below the other.
    List(Vec<String>),
    /// Words and what they mean.
    Definitions(Vec<(String, String)>),
    /// A table that is visible.
    Table(Table),
    /// A table that is folded until it is opened.
    Folded(Table),
    /// A chart, with its table.
    Picture(Box<Picture>),
    /// The name of a file and its text, folded until it is opened.
    File(String, String),
}

/// A chart with the table of what it shows.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The name of its file, without ending; unique in a page.
    pub name: String,
    /// The chart that is drawn.
    pub chart: Chart,
    /// The values of the chart.
    pub table: Table,
}

/// A chart of any kind.
#[derive(Debug, Clone)]
pub enum Chart {
    /// Lines over an axis.
    Lines(LineChart),
    /// Horizontal bars with values.
    Bars(BarChart),
    /// Candles from p10 to p90.
    Candles(CandleChart),
}

impl Chart {
    /// The title of the chart.
    pub fn title(&self) -> &str {
        match self {
            Self::Lines(chart) => &chart.title,
            Self::Bars(chart) => &chart.title,
            Self::Candles(chart) => &chart.title,
        }
    }

    /// An element of a page; `id` is unique in it.
    pub fn svg(&self, id: &str, size: Size) -> String {
        match self {
            Self::Lines(chart) => chart.svg(id, size),
            Self::Bars(chart) => chart.svg(id, size),
            Self::Candles(chart) => chart.svg(id, size),
        }
    }

    /// A file of its own.
    pub fn file(&self) -> String {
        match self {
            Self::Lines(chart) => chart.file(Size::WIDE),
            Self::Bars(chart) => chart.file(Size::WIDE),
            Self::Candles(chart) => chart.file(Size::WIDE),
        }
    }
}

impl Page {
    /// All charts, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Picture(picture) => Some(picture.as_ref()),
            _ => None,
        })
    }
}

impl Section {
    /// A section without content.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph of text.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Adds a table, unless it is empty.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }
}
