//! The configuration file on the command line: read, checked, shown.

mod check;
mod command;
mod documents;

pub(crate) use check::{CheckArguments, check};
pub(crate) use command::{ConfigCommand, config};
pub(crate) use documents::{FileArguments, assignment, plan, read, refusal, report, style};
