//! Access logs: formats, rules, and the lines of requests. Where lines go is `log_sinks`.
//!
//! A [`LogPlan`] says which logs there are and which requests each one gets. Each reactor has a
//! [`LogWriter`], which records what a line needs when a request arrives and writes the line when
//! its response has ended. A reactor never waits for a sink.
//!
//! All variables of format strings are rows of the table in `variable.rs`.

mod bytes;
mod clock;
mod condition;
mod escape;
mod format;
mod layout;
mod plan;
mod prepared;
mod record;
mod request;
mod settings;
mod template;
mod value_writer;
mod variable;
mod writer;

pub use condition::{Condition, PathPattern, RULES_MAX, Rule, Statuses};
pub use format::{COMBINED, COMMON, Color, FORMATS, Format, FormatError};
pub use plan::{LOGS_MAX, LogNumber, LogPlan, LogSet, NameNumber, Needs, Origin};
pub use prepared::{OpenMode, PreparedLogs};
pub use request::{REQUEST_ID_BYTES_MAX, RequestId, RequestIds, RequestInfo};
pub use settings::{LogFormat, LogSettings, check_logs};
pub use template::{TEMPLATE_BYTES_MAX, TemplateError};
pub use variable::{Argument, VARIABLES, Variable};
pub use writer::LogWriter;
