//! How figures went over many records: a line for each subject, a heat map of Apdex, and regressions by a stated rule.

mod page;
mod series;

pub use page::{trend_html, trend_page, trend_text};
pub use series::{Entry, Line, Mark, TREND_TOLERANCE, Trend};
