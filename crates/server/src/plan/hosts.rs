//! Assigns hosts to sites for each listener.

use super::planned::{Plan, PlannedListener, PlannedSite};
use crate::matching::HostPattern;
use crate::settings::Site;
use std::collections::HashMap;
use std::sync::Arc;
use vervet_config::{Diagnostic, Diagnostics, Setting, nearest};

/// Assigns the sites to the listeners.
pub(super) fn hosts_of(
    listeners: &mut [PlannedListener],
    sites: &[PlannedSite],
    found: &mut Diagnostics,
) {
    for (number, site) in sites.iter().enumerate() {
        for position in places(&site.settings, listeners, found) {
            for host in site.settings.hosts.iter() {
                if let Err(taken) = listeners[position].hosts.insert(host, number) {
                    found.push(taken_name(host, &sites[taken.0]));
                }
            }
            if is_default(&site.settings)
                && let Err(taken) = listeners[position].hosts.set_default(number)
            {
                found.push(taken_default(&site.settings, &sites[taken.0]));
            }
        }
    }
    // A site that names an unknown listener has to be fixed first.
    let is_clear = |site: &PlannedSite| {
        let mut names = site.settings.listen.iter();
        names.all(|name| listeners.iter().any(|listener| listener.name == **name))
    };
    let all_clear = sites.iter().all(is_clear);
    for listener in listeners {
        // As people know it from elsewhere: the first site answers for names that nobody has.
        if listener.hosts.site(b"").is_none()
            && let Some(first) =
                sites.iter().position(|site| leads_to(&site.settings, &listener.name))
        {
            let _ = listener.hosts.set_default(first);
        }
        if listener.hosts.site(b"").is_none() && !sites.is_empty() && all_clear {
            let message = format!("no site uses the listener `{}`", listener.name);
            found.push(
                Diagnostic::error(listener.span, message)
                    .expected("a site without `listen`, or one that names this listener")
                    .consequence(),
            );
        }
    }
}

/// Whether a site is a default site.
fn is_default(site: &Site) -> bool {
    *site.default || site.hosts.is_empty()
}

/// Whether every listener leads to a site.
pub(super) fn leads_to_all(site: &Site) -> bool {
    site.listen.is_empty()
}

fn leads_to(site: &Site, listener: &str) -> bool {
    leads_to_all(site) || site.listen.iter().any(|name| name.value() == listener)
}

/// The positions of the listeners that lead to a site.
fn places(site: &Site, listeners: &[PlannedListener], found: &mut Diagnostics) -> Vec<usize> {
    if site.listen.is_empty() {
        return (0..listeners.len()).collect();
    }
    let mut positions = Vec::new();
    for name in site.listen.iter() {
        let position = listeners.iter().position(|listener| listener.name == **name);
        if let Some(position) = position {
            positions.push(position);
            continue;
        }
        let known = listeners.iter().map(|listener| listener.name.as_str());
        // A listener that could not be read may have it.
        found.push(unknown(name, "listener", &known.collect::<Vec<_>>()).consequence());
    }
    positions
}

/// The finding for an unknown name.
pub(super) fn unknown(name: &Setting<String>, what: &str, known: &[&str]) -> Diagnostic {
    let message = format!("unknown {what} `{}`", name.value());
    let diagnostic = Diagnostic::error(name.span(), message);
    if known.is_empty() {
        return diagnostic.note(format!("no {what} is configured"));
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    diagnostic
        .nearest(nearest(name, known.iter().copied()))
        .expected(format!("one of {}", names.join(", ")))
}

fn taken_name(name: &Setting<HostPattern>, by: &PlannedSite) -> Diagnostic {
    let message = format!("the host `{}` belongs to two sites", name.value());
    let first = by.settings.hosts.iter().find(|host| *host == name);
    let place = first.map_or(by.settings.span(), Setting::span);
    Diagnostic::error(name.span(), message)
        .note_at(place, format!("the other site is `{}`", by.name))
}

fn taken_default(site: &Setting<Arc<Site>>, by: &PlannedSite) -> Diagnostic {
    let place = |site: &Setting<Arc<Site>>| {
        if *site.default { site.default.span() } else { site.span() }
    };
    let note = if *by.settings.default {
        "the other one is here"
    } else {
        "the other one is here; it is a default site because it has no `hosts`"
    };
    let message = "two default sites for one listener";
    Diagnostic::error(place(site), message).note_at(place(&by.settings), note).consequence()
}

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
        Self { hosts, ..self.clone() }
    }
}
