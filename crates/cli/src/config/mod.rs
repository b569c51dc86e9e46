//! The configuration file on the command line: read, checked, shown.

mod command;
mod documents;

pub(crate) use command::{CheckArguments, ConfigCommand, check, config, limits};
pub(crate) use documents::{
    Examiner, FileArguments, Planned, assignment, line, plan, read, refusal, report, style,
};
