//! Two records, step by step and phase by phase: what became better or worse, what has no
//! significant difference, and what makes them hard to compare.

mod comparison;
mod differences;
mod json;
mod tasks;
mod text;

pub use comparison::{
    COMPARED, Change, ChangeVerdict, Comparison, Guarded, Measure, Row, TOLERANCE, Unmatched,
};
pub use differences::differences;
pub use json::comparison_json;
pub use text::comparison_text;
