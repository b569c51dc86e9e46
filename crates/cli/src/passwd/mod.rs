//! `vervet passwd`: users of basic authentication in a file.

mod command;
mod file;
mod prompt;

pub(crate) use command::{PasswdArguments, PasswdError, passwd};
