//! Makes a plan of a document: which site has which host on which listener, where each route leads,
//! and what each of them needs.
//!
//! The same document gives the same plan, or the same findings, all of them at once. A plan is
//! pure: [`crate::staging`] opens what it names, and reports errors at the directives that name it.

mod checks;
mod hosts;
mod planned;
mod reach;
mod routes;

pub use planned::{Plan, PlannedListener};
pub(crate) use planned::{PlannedRoute, PlannedSite};
