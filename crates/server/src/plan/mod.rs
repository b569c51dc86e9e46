//! From a document to a plan: which site has which host on which listener, where each route leads,
//! what each of them needs.
//!
//! The same document gives the same plan, or the same findings, all of them at once. A plan is
//! pure: to open what it names is the task of [`crate::staging`], which reports what is not
//! available at the directives that name it.

mod checks;
mod hosts;
mod planned;
mod routes;

pub use planned::{Plan, PlannedListener};
pub(crate) use planned::{PlannedRoute, PlannedSite};
