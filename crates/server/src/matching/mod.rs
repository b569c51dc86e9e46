//! Selects the site and the route of a request. Pure: no I/O, no clock, and no allocation after the
//! plan is made.

mod captures;
mod field_rule;
mod flaw;
pub mod hosts;
mod index;
mod kind;
mod methods;
pub mod networks;
pub mod path_regex;
pub mod pattern;
mod rest;
mod routes;
mod settings;
pub mod template;
mod uri_component;

pub use captures::{CAPTURES_MAX, Captures, Variable};
pub use field_rule::{FieldRule, FieldTest};
pub use flaw::Flaw;
pub use hosts::{HostPattern, Hosts};
pub use kind::Kind;
pub use methods::MethodSet;
pub use networks::Network;
pub use path_regex::PathRegex;
pub use pattern::{Matched, Pattern};
pub use rest::raw_rest;
pub use routes::{PathRule, Question, Route, Routed, Routes, SlashForm, TrailingSlash};
pub use settings::{FieldCondition, MethodName};
pub use template::{Offer, Rest, Template, TemplateUse, Values};
