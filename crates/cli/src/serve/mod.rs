//! `vervet serve`: a directory or a file, without a configuration file. The flags are turned into a
//! document, which is served as `vervet run` serves one.

mod arguments;
mod command;
mod document;

pub(crate) use arguments::ServeArguments;
pub(crate) use command::serve;
