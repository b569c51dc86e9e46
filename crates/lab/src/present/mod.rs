//! Reports of a record: a page of sections, tables and charts as HTML, Markdown and SVG files, and
//! the figures as JSON and CSV.

mod candles;
mod charts;
mod csv;
mod definitions;
mod findings;
mod history;
mod html;
mod insert;
mod json;
mod markdown;
mod over_time;
mod page;
mod panels;
mod report;
mod requests;
mod setup;
mod tasks;

pub use csv::steps_csv;
pub use html::page_html;
pub use insert::inserted;
pub use json::analysis_json;
pub(crate) use json::estimate as estimate_json;
pub use markdown::page_markdown;
pub use page::{Block, Chart, Page, Picture, Section};
pub use report::{report_html, report_page};
