//! Scenarios: what each kind of user does, step by step, from a TOML file: requests with think
//! times, what is taken from answers, what must hold of them, cookies, redirects and the resources
//! of a page.
//!
//! `document` declares the sections of the file, `compile` and `step` make a [`Scenario`] of them,
//! `user` is one user who walks through it. A walk from the first step to the last is a visit.

mod answer;
mod capture;
mod compile;
mod cookies;
mod document;
mod expect;
mod plan;
mod redirect;
mod step;
mod user;

pub use compile::{DOCUMENT_BYTES_MAX, Inputs, REDIRECTS_MAX, SCENARIOS_MAX, STEPS_MAX};
pub use cookies::{COOKIE_BYTES_MAX, COOKIES_MAX};
pub use document::{
    CaptureSection, Cookies, Document, ExpectSection, FeedSection, JsonScalar, RequestLine,
    ScenarioSection, StepSection, THINK_MAX, Think, Verbatim,
};
pub use plan::Scenario;
pub use step::RESOURCES_MAX;

#[cfg(test)]
mod tests;
