//! Scenarios from a TOML file: what each kind of user does, step by step: requests, think times,
//! captures, assertions, cookies, redirects and the resources of a page.
//!
//! `document` declares the sections of the file, `compile` and `step` compile them to a
//! [`Scenario`], `user` is one user who runs it. One run from the first step to the last is a
//! visit.

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

pub use compile::{
    CAPTURES_MAX, DOCUMENT_BYTES_MAX, FIELDS_MAX, Inputs, REDIRECTS_MAX, SCENARIOS_MAX, STEPS_MAX,
};
pub use cookies::{COOKIE_BYTES_MAX, COOKIES_MAX};
pub use document::{
    CaptureSection, Cookies, Document, ExpectSection, FeedSection, JsonScalar, RequestLine,
    ScenarioSection, StepSection, THINK_MAX, Think, Verbatim,
};
pub use plan::Scenario;
pub use step::RESOURCES_MAX;

#[cfg(test)]
mod tests;
