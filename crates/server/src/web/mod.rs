//! Handles requests: filters, routes, the action, and the finishing of the response.
//!
//! `service.rs` has the order of the steps. Actions and filters implement the traits of this
//! module.

mod action;
mod edits;
mod error_pages;
mod filter;
mod finisher;
mod request;
mod rewrite;
mod routing;
mod service;
mod stage;
mod tracer;
mod unrouted;

pub use action::{Action, Handler};
pub use edits::{Edit, Edits};
pub use error_pages::{ErrorPage, ErrorPages};
pub use filter::{RequestFilter, Verdict};
pub use request::{HostName, Request};
pub use rewrite::{REWRITES_MAX, RewriteAction};
pub use service::Web;
pub use stage::{Finish, ListenerStage, Pipeline, RouteEnd, RouteStage, SiteStage, Stage, Stages};
pub use tracer::{TraceRule, TraceRuleError, Tracer};
pub(crate) use unrouted::{not_found, slash_redirect};
