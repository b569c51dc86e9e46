//! How figures went over many records: a line for each subject, a heat map of Apdex, a line for each phase of a task, and
//! regressions by a stated rule.

mod charts;
mod json;
mod mark;
mod page;
mod series;
mod task_page;
mod tasks;
mod text;

pub use json::trend_json;
pub use mark::{Mark, TREND_TOLERANCE};
pub use page::{trend_html, trend_page};
pub use series::{Entry, Line, Trend};
pub use tasks::{TaskEntry, TaskLine};
pub use text::trend_text;
