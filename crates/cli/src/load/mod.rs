//! `vervet load`: generates load and reports whether the results are valid.

mod agents;
mod arguments;
mod command;
mod find_max;
mod inputs;
mod live;
mod outcome;
mod outputs;
mod plan;
mod view;
mod watching;

pub(crate) use arguments::LoadArguments;
pub(crate) use command::load;
pub(crate) use outcome::Refused;
