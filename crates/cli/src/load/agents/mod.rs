//! Load from several machines: a coordinator sends its command line to agents, which run one share
//! each, and merges their runs. Histograms merge without loss, so the result is that of one run.
//!
//! Anyone who reaches an agent may have it load any target and read files that it can read: an
//! agent belongs on a private network or in a tunnel.

mod agent;
mod coordinator;
mod link;
mod messages;

pub(crate) use agent::serve;
pub(crate) use coordinator::{RULE, run};

#[cfg(test)]
mod tests;
