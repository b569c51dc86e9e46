//! From a target to processes: by number, by name, by the port they listen on, by cgroup and unit.

mod name;
mod port;
mod processes;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use processes::all_processes;
pub(crate) use resolve::{Found, find};
