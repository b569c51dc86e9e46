//! The report formats. Each formats a run as text; the caller writes it.

mod csv;
mod definitions;
mod hgrm;
mod json;
mod openmetrics;
mod page;
mod registry;
mod table;
mod tables;
mod text;
mod words;

pub use csv::csv_intervals;
pub use definitions::{DEFINITIONS, Definition, definitions_markdown};
pub use hgrm::hgrm;
pub use json::{StreamLine, from_json, json, schema, stream_interval, stream_run, stream_schema};
pub use openmetrics::openmetrics;
pub use page::html;
pub use registry::{FORMS, Form, FormStream};
pub use table::{Align, Column, Table};
pub use text::text;
pub use words::sentence;
