//! `vervet lab`: servers compared on this machine. What is run, and what is told of it.

mod check;
mod command;
mod compare;
mod report;
mod reproduce;
mod run;
mod trend;

pub(crate) use command::{LabCommand, lab};
