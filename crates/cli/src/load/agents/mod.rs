//! Load from several machines. An agent takes a plan and gives a run; histograms merge without
//! loss, so three agents come to what one would have made.
//!
//! Whoever reaches an agent may have it load anything and read files it can read: it belongs behind
//! a tunnel or on a private network.

mod agent;
mod coordinator;
mod limits;
mod lines;
mod link;
mod lost;
mod messages;
mod series;

pub(crate) use agent::serve;
pub(crate) use coordinator::run;
pub(crate) use lost::RULE;

#[cfg(test)]
mod tests;
