//! The comparison of load generators.

mod case;
mod course;
mod goals;
mod program;
mod text;

pub(crate) use course::compare;
