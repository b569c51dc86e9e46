//! Where lines of logs go: files, standard streams, syslog, the systemd journal and memory.
//!
//! [`LogSinks`] holds the open sinks of a program and the threads that write them. Reactors hand
//! lines over through a `LineSender`, which never waits for a sink: lines that do not fit into its
//! buffer are dropped and counted. What the lines say is not known here: the access log and the
//! error log write them.

mod copies;
mod datagram;
mod file;
mod journal;
mod line_queue;
mod rotation;
mod settings;
mod sink;
mod sinks;
mod stream;
mod syslog;
mod target;
mod writer_thread;

pub(crate) use datagram::SEVERITY_MARK;
pub use datagram::{DatagramAddress, Severity};
pub(crate) use journal::FIELD_MARK;
pub use journal::Journal;
pub use line_queue::LINES_BYTES_MAX;
pub(crate) use line_queue::LineSender;
pub use rotation::{Period, Rotation};
pub use settings::{LogMode, StreamName, Tag};
pub(crate) use settings::{TargetSettings, from_text};
pub use sink::{Drops, LogSink, Notice, RECENT_LINE_BYTES_MAX, RECENT_LINES_MAX, SinkError};
pub use sinks::{DropReport, LogSinks};
pub use syslog::{FACILITIES, Facility, SYSLOG_BYTES_MAX, Syslog, SyslogForm};
pub use target::{FileTarget, OpenError, Target};
pub use writer_thread::WRITE_EVERY;
