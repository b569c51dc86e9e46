//! Access logs: a line for each exchange in each log that wants one, written by threads of their own.
//!
//! A [`LogPlan`] says which logs there are and who writes to which. Each reactor has a [`Scribe`], which notes what a
//! line needs when a request comes and writes the line when its answer has ended. [`Logs`] holds the open targets and
//! the threads that carry lines to them. A reactor never waits for a target: what does not fit is counted.

mod bell;
mod check;
mod condition;
mod datagram;
mod desk;
mod drop_report;
mod end_value;
mod escape;
mod facts;
mod file;
mod format;
mod journal;
mod lane;
mod layout;
mod lines;
mod logged;
mod logs;
mod number;
mod outlet;
mod plan;
mod prepared;
mod pretty;
mod record;
mod request_id;
mod request_value;
mod rotation;
mod scribe;
mod setting_values;
mod settings;
mod short;
mod stream;
mod syslog;
mod target;
mod target_settings;
mod template;
mod tidying;
mod variable;
mod when;

pub use check::check_logs;
pub use condition::{Condition, PathPattern, RULES_MAX, Rule, Statuses, StatusesError};
pub(crate) use datagram::SEVERITY_MARK;
pub use datagram::{DatagramAddress, Severity};
pub use drop_report::DropReport;
pub use facts::RequestFacts;
pub use format::{COMBINED, COMMON, Color, FORMATS, Format, FormatError};
pub(crate) use journal::FIELD_MARK;
pub use journal::{JOURNAL_PATH, Journal};
pub use lane::WRITE_EVERY;
pub use lines::LINES_BYTES_MAX;
pub(crate) use lines::Lines;
pub use logged::Logged;
pub use logs::Logs;
pub use outlet::{Drops, Notice, Outlet, RECENT_LINE_BYTES_MAX, RECENT_LINES_MAX, Trouble};
pub use plan::{Choice, LOGS_MAX, LogNumber, LogPlan, NameNumber, Needs, Origin};
pub use prepared::{Opening, PreparedLogs};
pub use request_id::{REQUEST_ID_BYTES_MAX, RequestId, RequestIds};
pub use rotation::{Copies, Period, Rotation};
pub use scribe::Scribe;
pub use setting_values::StatusesSetting;
pub use settings::{
    Every, FacilityName, JournalSettings, LogFormat, LogMode, LogSettings, RotateSettings,
    RuleSettings, StreamName, SyslogAddress, SyslogFormName, SyslogSettings, Tag,
};
pub use syslog::{FACILITIES, Facility, SYSLOG_BYTES_MAX, SYSLOG_PATH, Syslog, SyslogForm};
pub use target::{FileTarget, LOG_FILE_MODE, OpenError, Target};
pub(crate) use target_settings::TargetSettings;
pub use template::{TEMPLATE_BYTES_MAX, TemplateError};
pub use variable::{Argument, VARIABLES, Variable};
