//! A request's way through the sites of a server: what filters and handlers see, and the order in which they are asked.

mod direct;
mod edits;
mod filter;
mod finishing;
mod handler;
mod reactor_stage;
mod request;
mod service;
mod stage;
mod stages;
mod trace;
mod way;

pub use crate::trace::STEPS_MAX;
pub use direct::Direct;
pub use edits::{Edit, Edits};
pub use filter::{RequestFilter, Verdict};
pub use handler::{Action, Handler};
pub use request::Request;
pub use service::Web;
pub use stage::{Finish, ListenerStage, Passage, RouteEnd, RouteStage, SiteStage, Stage};
pub use stages::Stages;
pub use trace::{TraceRule, TraceRuleError, Tracer};
