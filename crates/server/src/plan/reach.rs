//! Routes that work against each other: those that no request reaches, rewrites that lead back to
//! themselves, and redirects to the URL that they come from. All are legal, and none can work.
//!
//! Conditions on methods and headers are taken into account; where a request decides, nothing is
//! reported.

use vervet_config::{Diagnostic, Diagnostics, Span};
use vervet_engine::listener::ListenAddress;
use vervet_http::method::Method;
use vervet_http::target::NormalPath;

use super::planned::{PlannedListener, PlannedRoute, PlannedSite};
use crate::matching::{PathRule, Route as Rule, SlashForm};
use crate::settings::Route;

/// The most pairs of a route and a regular expression that are compared: some tenths of a second.
/// With more, no route is compared.
const REGEX_PAIRS_MAX: usize = 1_000_000;

/// Warns of routes that cannot work. The findings hold for a valid document.
pub(super) fn check(sites: &[PlannedSite], listeners: &[PlannedListener], found: &mut Diagnostics) {
    for (number, site) in sites.iter().enumerate() {
        let rules = site.routes.as_slice();
        let is_regex = |rule: &&Rule| matches!(rule.path, PathRule::Regex(_));
        if rules.iter().filter(is_regex).count() * rules.len() > REGEX_PAIRS_MAX {
            continue;
        }
        for route in 0..site.targets.len() {
            let Some(settings) = &site.targets[route].settings else {
                continue; // the root, which also has the error pages
            };
            let problems = [
                unreached(site, route, settings),
                rewrite_circle(site, route),
                redirect_circle(site, number, route, listeners),
            ];
            for problem in problems.into_iter().flatten() {
                found.push(problem.consequence());
            }
        }
    }
}

/// The warning for a route all of whose requests an earlier one takes.
fn unreached(site: &PlannedSite, route: usize, settings: &Route) -> Option<Diagnostic> {
    let earlier = site.routes.covering(route, |earlier| takes_all_of(site, earlier, route))?;
    let target = &site.targets[earlier];
    let message = format!("no request reaches this route: `{}` takes them all", target.name);
    let mut problem = Diagnostic::warning(route_span(&site.targets[route]), message)
        .note_at(route_span(target), "the first route that matches handles a request");
    let filters = settings.filters().filter(|filter| filter.is_given);
    let filters: Vec<String> = filters.map(|filter| format!("`{}`", filter.name)).collect();
    if !filters.is_empty() {
        let filters = filters.join(", ");
        problem = problem.note(format!("its requests are answered without its {filters}"));
    }
    Some(problem.note("move the route up, or remove it"))
}

/// Whether an earlier route takes the methods and headers of a later one.
fn takes_all_of(site: &PlannedSite, earlier: usize, later: usize) -> bool {
    let rules = site.routes.as_slice();
    let (first, second) = (&rules[earlier], &rules[later]);
    let methods = match (&first.methods, &second.methods) {
        (None, _) => true,
        (Some(first), Some(second)) => first.includes(second),
        (Some(_), None) => false,
    };
    let field = |route: usize| site.targets[route].settings.as_ref().map(|route| &route.field);
    let fields = first.fields.is_empty() || field(earlier) == field(later);
    site.targets[earlier].has_path && methods && fields
}

/// The warning for a rewrite that leads back to its own route, for the first route of a circle.
fn rewrite_circle(site: &PlannedSite, route: usize) -> Option<Diagnostic> {
    let mut circle = vec![route];
    loop {
        let next = rewritten_to(site, *circle.last()?, &circle)?;
        if next == route {
            break;
        }
        // A circle that this route is not in is reported at its own first route.
        if next < route || circle.contains(&next) {
            return None;
        }
        circle.push(next);
    }
    let span = |route: usize| {
        let settings = site.targets[route].settings.as_ref();
        settings.map_or(Span::NOWHERE, |settings| settings.rewrite.span())
    };
    let message = "the rewrite leads back to its own route: all its requests end with 500";
    let problem = Diagnostic::warning(span(route), message);
    let others = circle.iter().skip(1);
    Some(others.fold(problem, |problem, other| problem.note_at(span(*other), "by way of this one")))
}

/// The route to which a route rewrites all its requests. Those have met the conditions of the
/// routes `before`.
fn rewritten_to(site: &PlannedSite, route: usize, before: &[usize]) -> Option<usize> {
    let settings = site.targets[route].settings.as_ref()?;
    let target = settings.rewrite.value().as_ref()?;
    let path = path_of(&target.to)?;
    let (next, form) = site.routes.first(&path, |_| true)?;
    let rule = &site.routes.as_slice()[next];
    let is_certain = before.contains(&next) || (rule.methods.is_none() && rule.fields.is_empty());
    (is_certain && form == SlashForm::AsIs).then_some(next)
}

/// The warning for a redirect to a URL that the same route redirects again.
fn redirect_circle(
    site: &PlannedSite,
    number: usize,
    route: usize,
    listeners: &[PlannedListener],
) -> Option<Diagnostic> {
    let settings = site.targets[route].settings.as_ref()?;
    let target = settings.redirect.value().as_ref()?;
    let rule = &site.routes.as_slice()[route];
    // The next request may have other headers, and be a GET.
    let is_get = rule.methods.as_ref().is_none_or(|methods| methods.takes(Method::Get, "GET"));
    if !rule.fields.is_empty() || !is_get {
        return None;
    }
    let path = match target.to.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            if !leads_here(scheme, authority, site, number, listeners) {
                return None;
            }
            path
        }
        None => target.to.as_str(),
    };
    // A bare host keeps the path of the request.
    let is_same = path.is_empty() || site.routes.first(&path_of(path)?, |_| true)?.0 == route;
    let message = "the redirect leads back to its own route: clients never get an answer";
    is_same.then(|| Diagnostic::warning(target.to.span(), message))
}

/// Whether a URL leads to a site. Another server may have its host with `https`, or on another
/// port: then it counts only where no other listener could be meant.
fn leads_here(
    scheme: &str,
    authority: &str,
    site: &PlannedSite,
    number: usize,
    listeners: &[PlannedListener],
) -> bool {
    let parts = authority.rsplit_once(':');
    let parts = parts.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = parts.map_or((authority, None), |(host, port)| (host, Some(port)));
    let leads = |listener: &PlannedListener| {
        let own_port = match &listener.address {
            ListenAddress::Tcp(address) => Some(address.port()),
            ListenAddress::Any(port) => Some(*port),
            _ => None,
        };
        let is_port = port.is_none() || port == own_port;
        is_port && listener.hosts.named(host.as_bytes()) == Some(number)
    };
    let is_certain = match scheme {
        "http" => true,
        "https" => listeners.len() == 1 && site.settings.listen.is_empty(),
        _ => false,
    };
    is_certain && listeners.iter().any(leads)
}

/// The decoded path of a target that is the same for all requests.
fn path_of(target: &str) -> Option<Vec<u8>> {
    if !target.starts_with('/') || target.starts_with("//") || target.contains(['{', '}']) {
        return None;
    }
    let end = target.find(['?', '#']).unwrap_or(target.len());
    Some(NormalPath::decode(&target.as_bytes()[..end]).ok()?.as_bytes().to_vec())
}

/// The condition of a route on the path, or its header.
fn route_span(route: &PlannedRoute) -> Span {
    let Some(settings) = &route.settings else {
        return Span::NOWHERE;
    };
    if !settings.path.is_default() {
        settings.path.span()
    } else if !settings.regex.is_default() {
        settings.regex.span()
    } else {
        settings.span()
    }
}
