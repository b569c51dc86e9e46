//! Two records, step by step and phase by phase: what became better or worse, what has no significant difference, and what makes them
//! hard to compare.

mod comparison;
mod differences;
mod json;
mod tasks;
mod text;

pub use comparison::{COMPARED, Change, Comparison, Gone, Guarded, Row, TOLERANCE, Tell};
pub use differences::differences;
pub use json::comparison_json;
pub use tasks::{PhaseChange, TaskRow};
pub use text::comparison_text;
