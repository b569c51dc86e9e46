//! Two records, step by step: what became better or worse, what is not told apart, and what makes them hard to compare.

mod comparison;
mod differences;
mod json;
mod text;

pub use comparison::{COMPARED, Change, Comparison, Gone, Row, TOLERANCE, Tell};
pub use differences::differences;
pub use json::comparison_json;
pub use text::comparison_text;
