//! Figures over many records: a line for each subject and each phase of a task, a heat map of
//! Apdex, and regressions by a stated rule.

mod json;
mod page;
mod series;
mod text;

pub use json::trend_json;
pub use page::{trend_html, trend_page};
pub use series::{Line, Mark, TREND_TOLERANCE, Trend, TrendPoint, Work};
pub use text::trend_text;
