//! What a kind of user does, step by step, as a TOML document: requests with think times, what is taken from answers, what
//! must hold of them, cookies, redirects and the resources of a page.
//!
//! `document` and `step` read a document into a [`Scenario`], all mistakes at once; `user` is one user who walks through
//! it. A walk from the first step to the last is a visit.

mod answer;
mod capture;
mod cookies;
mod document;
mod expect;
mod plan;
mod reader;
mod redirect;
mod step;
mod user;

pub use cookies::{COOKIE_BYTES_MAX, COOKIES_MAX};
pub use document::{DOCUMENT_BYTES_MAX, SCENARIOS_MAX, STEPS_MAX, Setting};
pub use plan::Scenario;
pub use step::{REDIRECTS_MAX, RESOURCES_MAX, THINK_MAX};

#[cfg(test)]
mod tests;
