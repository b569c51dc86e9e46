//! Listeners that a plan no longer has. Their open connections are served until they end, so they
//! still lead to sites.

use std::collections::HashMap;

use super::hosts::leads_to_all;
use super::planned::{Plan, PlannedListener};

impl PlannedListener {
    /// This listener of a plan with sites of the names `before`, as it leads to the sites of the
    /// `next` one: by its names to the sites that are still there, by other names to those that
    /// every listener leads to.
    #[must_use]
    pub(crate) fn leaving(&self, before: &[Box<str>], next: &Plan) -> Self {
        let numbers = next.sites.iter().map(|site| site.name.as_str()).zip(0..);
        let numbers: HashMap<&str, usize> = numbers.collect();
        let same = |number: usize| numbers.get(&**before.get(number)?).copied();
        let mut hosts = self.hosts.renumbered(same);
        for (number, site) in next.sites.iter().enumerate() {
            if !leads_to_all(&site.settings) {
                continue;
            }
            for host in site.settings.hosts.iter() {
                // A name that is taken stays with the site that it has led to.
                let _ = hosts.insert(host, number);
            }
            if hosts.site(b"").is_none() {
                let _ = hosts.set_default(number);
            }
        }
        Self {
            hosts,
            ..self.clone()
        }
    }
}
