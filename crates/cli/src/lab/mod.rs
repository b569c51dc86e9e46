//! `vervet lab`: servers compared on this machine. Running labs, and showing their results.

mod check;
mod command;
mod compare;
mod init;
mod listing;
mod probe;
mod report;
mod reproduce;
mod run;
mod trend;

pub(crate) use command::{LabCommand, lab};
