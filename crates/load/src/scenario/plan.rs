//! A document, compiled: what all users share, and how each of them begins.

use std::sync::Arc;

use super::capture::Capture;
use super::document::{Cookies, Think};
use super::expect::Rule;
use super::user::User;
use crate::mix::Mix;
use crate::request::{Message, Url};
use crate::script::{Script, Scripts};
use crate::template::{Shared, Values};

/// What kinds of users do, compiled.
#[derive(Debug)]
pub struct Scenario {
    plan: Arc<Plan>,
}

/// What all users share.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) base: Url,
    pub(super) kinds: Vec<Kind>,
    pub(super) mix: Mix,
    pub(super) shared: Arc<Shared>,
    pub(super) steps: Vec<String>,
    pub(super) assertions: Vec<String>,
    pub(super) captures: usize,
}

/// A kind of user: one `[[scenario]]`.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) weight: u32,
    pub(super) cookies: Cookies,
    /// How many redirects are followed, one after the other.
    pub(super) redirects: u8,
    pub(super) uses_feed: bool,
    pub(super) steps: Vec<Step>,
}

/// One request of a visit, with what belongs to it.
#[derive(Debug)]
pub(super) struct Step {
    /// Its number over all kinds.
    pub(super) number: u16,
    pub(super) message: Message,
    /// The same by GET and without content, for redirects.
    pub(super) followed: Message,
    /// Whether it has a Cookie field of its own.
    pub(super) own_cookies: bool,
    pub(super) expects: Vec<Numbered<Rule>>,
    pub(super) captures: Vec<Numbered<(usize, Capture)>>,
    /// Fails when a redirect leads too far, or to another host.
    pub(super) redirect: u16,
    pub(super) resources: Vec<Message>,
    pub(super) resource: Resource,
    pub(super) think: Think,
}

/// The numbers of a step's resources in figures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resource {
    pub(super) step: u16,
    pub(super) assertion: u16,
}

/// Something with the number of its assertion.
#[derive(Clone, Debug)]
pub(super) struct Numbered<T> {
    pub(super) assertion: u16,
    pub(super) what: T,
}

impl Scenario {
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan) }
    }

    /// The URL of the server.
    pub fn base(&self) -> &Url {
        &self.plan.base
    }
}

impl Scripts for Scenario {
    fn user(&self, number: u32) -> Box<dyn Script> {
        let plan = &self.plan;
        let values = Values::new(Arc::clone(&plan.shared), number, plan.captures);
        Box::new(User::new(Arc::clone(plan), values))
    }

    fn steps(&self) -> &[String] {
        &self.plan.steps
    }

    fn assertions(&self) -> &[String] {
        &self.plan.assertions
    }
}
