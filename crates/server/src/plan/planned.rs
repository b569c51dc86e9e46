//! The plan: a document with all names resolved and all texts parsed.

use std::collections::HashMap;

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span};
use vervet_engine::limits::Limits;
use vervet_engine::listener::{ListenAddress, ListenOptions};

use super::hosts::hosts_of;
use super::routes::planned_routes;
use crate::actions::ActionDirective;
use crate::filters::access::Access;
use crate::matching::{Hosts, Routes};
use crate::resources::Needs;
use crate::settings::{Document, Listen, Route, Site};

/// The most sites of one document.
pub(super) const SITES_MAX: usize = 65_536;

/// A resolved document. Nothing that it names has been opened yet.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) document: Document,
    /// The limits of the engine.
    pub limits: Limits,
    /// The listeners, in file order.
    pub listeners: Vec<PlannedListener>,
    pub(crate) sites: Vec<PlannedSite>,
}

/// A listener of the plan.
#[derive(Clone, Debug)]
pub struct PlannedListener {
    /// The name that sites use in their `listen`.
    pub name: String,
    /// The address to listen on.
    pub address: ListenAddress,
    /// The options of its sockets.
    pub options: ListenOptions,
    /// The directive at which a failure to bind is reported.
    pub span: Span,
    pub(crate) access: Option<Access>,
    pub(crate) hosts: Hosts,
}

/// A site of the plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSite {
    pub(crate) name: String,
    pub(crate) settings: Setting<Arc<Site>>,
    pub(crate) routes: Routes,
    pub(crate) targets: Vec<PlannedRoute>,
}

/// A route of the plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRoute {
    pub(crate) name: String,
    /// `None` for the `root` of the site, which is its last route.
    pub(crate) settings: Option<Setting<Arc<Route>>>,
    /// Whether its path is valid. If not, that has been reported: such a plan is not served.
    pub(crate) has_path: bool,
    /// `None` if it is invalid, which has been reported: such a plan is not served.
    pub(crate) action: Option<Arc<dyn ActionDirective>>,
}

impl Plan {
    /// The plan of a document, or all its errors. `unasked` are the addresses to listen on if the
    /// document has none.
    pub fn of(document: &Document, unasked: &[ListenAddress]) -> Result<Self, Diagnostics> {
        let (plan, found) = Self::as_far_as_it_goes(document, unasked);
        if found.has_errors() { Err(found) } else { Ok(plan) }
    }

    /// The plan without the invalid parts of the document, and the errors: for further checks, not
    /// to be served.
    pub fn as_far_as_it_goes(
        document: &Document,
        unasked: &[ListenAddress],
    ) -> (Self, Diagnostics) {
        let mut found = Diagnostics::new();
        let limits = document.limits.limits().unwrap_or_else(|problem| {
            found.push(*problem);
            Limits::default()
        });
        if document.site.is_empty() {
            let message = "no site is configured";
            let problem = Diagnostic::error(document.site.span(), message).expected("`[[site]]`");
            found.push(problem.consequence());
        }
        if document.site.len() > SITES_MAX {
            let message = format!("too many sites: {} of at most {SITES_MAX}", document.site.len());
            found.push(Diagnostic::error(document.site.span(), message));
        }
        let sites = document.site.iter();
        let mut sites: Vec<_> = sites.map(|site| planned_site(site, &mut found)).collect();
        name_apart(&mut sites, |site| &mut site.name);
        let mut listeners = planned_listeners(document, unasked, &mut found);
        hosts_of(&mut listeners, &sites, &mut found);
        super::reach::check(&sites, &listeners, &mut found);
        super::checks::logs(document, &mut found);
        super::checks::media_types(document, &mut found);
        check_admin(document, &listeners, &mut found);
        found.sort();
        let plan = Self { document: document.clone(), limits, listeners, sites };
        (plan, found)
    }

    /// The files, folders and features that this plan needs.
    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for site in &self.sites {
            let routes = site.targets.iter();
            let of_routes = routes.clone().filter_map(|route| route.settings.as_ref());
            let of_routes = of_routes.flat_map(|route| route.filters());
            for filter in site.settings.filters().chain(of_routes) {
                if let Some(section) = filter.section {
                    section.needs(&mut needs);
                }
            }
            for action in routes.filter_map(|route| route.action.as_ref()) {
                action.needs(&mut needs);
            }
        }
        let document = self.document();
        let logs = document.log.iter().map(|(_, log)| &log.file);
        for setting in logs.chain([&document.error_log.file]) {
            if let Some(file) = setting.value() {
                // The folder as well: rotated logs are new files.
                let folder = file.parent().unwrap_or(file);
                needs.write(file, setting.span());
                needs.write(folder, setting.span());
            }
        }
        if let Some(sandbox) = document.sandbox.value() {
            for path in sandbox.read.iter() {
                needs.read(path, sandbox.read.span());
            }
            for path in sandbox.write.iter() {
                needs.write(path, sandbox.write.span());
            }
        }
        needs
    }

    /// The settings of the document other than sites and listeners.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

fn planned_site(settings: &Setting<Arc<Site>>, found: &mut Diagnostics) -> PlannedSite {
    let (routes, targets) = planned_routes(settings, found);
    let first = settings.hosts.first().map(|host| host.to_string());
    let name = settings.name.value().clone().or(first);
    PlannedSite {
        name: name.unwrap_or_else(|| "default".to_owned()),
        settings: settings.clone(),
        routes: Routes::new(routes),
        targets,
    }
}

/// Makes the names in logs, counters and caches unique: a second `a` becomes `a#2`.
pub(super) fn name_apart<T>(things: &mut [T], name_of: impl Fn(&mut T) -> &mut String) {
    let mut times: HashMap<String, u32> = HashMap::new();
    for thing in things {
        let name = name_of(thing);
        let time = times.entry(name.clone()).or_default();
        *time += 1;
        if *time > 1 {
            *name = format!("{name}#{time}");
        }
    }
}

fn planned_listeners(
    document: &Document,
    unasked: &[ListenAddress],
    found: &mut Diagnostics,
) -> Vec<PlannedListener> {
    if document.listen.is_empty() {
        let assumed = unasked.iter().map(|address| PlannedListener {
            name: address.to_string(),
            address: address.clone(),
            options: ListenOptions::default(),
            span: document.listen.span(),
            access: None,
            hosts: Hosts::new(),
        });
        return assumed.collect();
    }
    let mut names: HashMap<String, Span> = HashMap::new();
    let mut addresses: HashMap<&ListenAddress, Span> = HashMap::new();
    let mut listeners = Vec::new();
    for listen in document.listen.iter() {
        let name = listen.called();
        let span =
            listen.name.value().as_ref().map_or(listen.address.span(), |_| listen.name.span());
        let at = listen.address.span();
        let is_shared = is_shared(listen);
        let address = is_shared.then(|| addresses.insert(&listen.address.0, at));
        let namesake = names.insert(name.clone(), span);
        if let Some(first) = address.flatten() {
            let message = format!("two listeners have the address `{}`", listen.address.0);
            found.push(twice(at, first, &message));
        } else if let Some(first) = namesake {
            let message = format!("two listeners have the name `{name}`");
            found.push(twice(span, first, &message));
        }
        listeners.push(PlannedListener {
            name,
            address: listen.address.0.clone(),
            options: listen.options(),
            span: listen.address.span(),
            access: listen.access.value().clone(),
            hosts: Hosts::new(),
        });
    }
    listeners
}

/// The admin service must not share an address with sites.
fn check_admin(document: &Document, listeners: &[PlannedListener], found: &mut Diagnostics) {
    let Some(admin) = document.admin.value() else {
        return;
    };
    match admin.listen() {
        Err(problem) => found.push(*problem),
        Ok((address, _)) => {
            let is_there = |listener: &&PlannedListener| listener.address == address;
            if let Some(listener) = listeners.iter().find(is_there) {
                let message = "the admin service needs a separate address";
                found.push(
                    Diagnostic::error(admin.address.span(), message)
                        .note_at(listener.span, "sites are served here"),
                );
            }
        }
    }
}

/// Whether a second listener at its address is an error: not if the kernel chooses the port.
fn is_shared(listen: &Listen) -> bool {
    !matches!(&listen.address.0, ListenAddress::Tcp(address) if address.port() == 0)
}

fn twice(span: Span, first: Span, message: &str) -> Diagnostic {
    Diagnostic::error(span, message).note_at(first, "the first one is here")
}
