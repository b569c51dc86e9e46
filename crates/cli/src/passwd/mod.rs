//! `vervet passwd`: users of basic authentication in a file.

mod command;
mod file;

pub(crate) use command::{PasswdArguments, PasswdError, passwd};
