//! The machine and its settings as a record holds them: what decides about figures, and no secrets.

mod cgroup;
mod processor;
mod read;
mod sysctl;

pub use read::read;

pub(crate) use read::SIGNATURE;
