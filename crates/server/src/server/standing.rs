//! What of a plan the next one is held against. The plan itself, and the document that it comes
//! from, are let go of when the stage serves: they are many times as large as what is served from.

use vervet_engine::limits::Limits;

use crate::plan::{Plan, PlannedListener};
use crate::settings::{Overload, Workers};

/// The plan that is served, as far as it is still asked about.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) limits: Limits,
    pub(super) listeners: Vec<PlannedListener>,
    /// The names of the sites, in the order in which the listeners know them.
    pub(super) sites: Vec<Box<str>>,
    /// What only a start can change.
    pub(super) workers: Workers,
    pub(super) overload: Overload,
}

impl Standing {
    pub(super) fn of(plan: Plan) -> Self {
        let sites = plan.sites.iter().map(|site| Box::from(site.name.as_str()));
        Self {
            sites: sites.collect(),
            workers: *plan.document().workers,
            overload: *plan.document().overload,
            limits: plan.limits,
            listeners: plan.listeners,
        }
    }
}
