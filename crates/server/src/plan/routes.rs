//! The routes of a site: their conditions and actions.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting};

use super::planned::{PlannedRoute, name_apart};
use crate::actions::{ActionDirective, ServeFiles};
use crate::matching::{FieldRule, MethodSet, Offer, PathRule, Route as Rule, TrailingSlash};
use crate::settings::{Route, Site};

/// The most routes of one site.
pub(super) const ROUTES_MAX: usize = 65_536;

/// The routes of a site with their actions, in file order, including invalid ones, so that all
/// parts of a route are checked.
pub(super) fn planned_routes(
    site: &Setting<Arc<Site>>,
    found: &mut Diagnostics,
) -> (Vec<Rule>, Vec<PlannedRoute>) {
    let mut rules = Vec::new();
    let mut targets = Vec::new();
    if site.route.len() > ROUTES_MAX {
        let message = format!("too many routes: {} of at most {ROUTES_MAX}", site.route.len());
        found.push(Diagnostic::error(site.route.span(), message));
    }
    if site.route.is_empty() && site.root.value().is_none() {
        let message = "the site has no routes";
        found.push(
            Diagnostic::error(site.span(), message)
                .expected("`root`, or `[[site.route]]`")
                .consequence(),
        );
    }
    for settings in site.route.iter() {
        let path = path(settings, found);
        let offer = path.as_ref().map_or(Offer::UNKNOWN, PathRule::offer);
        targets.push(PlannedRoute {
            name: name(settings),
            settings: Some(settings.clone()),
            has_path: path.is_some(),
            action: action(settings, offer, found),
        });
        rules.push(rule(settings, path.unwrap_or(PathRule::Any), found));
    }
    if let Some(root) = site.root.value() {
        rules.push(Rule {
            path: PathRule::Any,
            methods: None,
            fields: Vec::new(),
            slash: TrailingSlash::Strict,
        });
        targets.push(PlannedRoute {
            name: "root".to_owned(),
            settings: None,
            has_path: true,
            action: Some(Arc::<ServeFiles>::clone(root)),
        });
    }
    name_apart(&mut targets, |target| &mut target.name);
    (rules, targets)
}

/// The action of a route; `None` if it is invalid, which is reported.
fn action(
    route: &Setting<Arc<Route>>,
    offer: Offer<'_>,
    found: &mut Diagnostics,
) -> Option<Arc<dyn ActionDirective>> {
    let mut given = route.actions().filter(|action| action.is_given);
    let Some(first) = given.next() else {
        let names: Vec<_> = route.actions().map(|action| format!("`{}`", action.name)).collect();
        let problem = Diagnostic::error(route.span(), "the route has no action");
        let problem = problem.expected(format!("one of {}", names.join(", ")));
        found.push(problem.consequence());
        return None;
    };
    for other in given {
        let message = format!("a route has one action: `{}` or `{}`", first.name, other.name);
        found.push(
            Diagnostic::error(other.span, message).note_at(first.span, "the other one is here"),
        );
    }
    let section = first.section?;
    match section.check(offer) {
        Ok(()) => Some(section),
        Err(problem) => {
            found.push(problem);
            None
        }
    }
}

fn name(settings: &Route) -> String {
    let path = settings.path.value().as_ref().map(|path| path.as_str().to_owned());
    let regex = settings.regex.value().as_ref().map(|regex| regex.as_str().to_owned());
    let name = settings.name.value().clone().or(path).or(regex);
    name.unwrap_or_else(|| "*".to_owned())
}

/// The condition on the path; `None` if it is invalid.
fn path(settings: &Route, found: &mut Diagnostics) -> Option<PathRule> {
    if !settings.path.is_default() && !settings.regex.is_default() {
        let problem = Diagnostic::error(settings.regex.span(), "both `path` and `regex` are set");
        found.push(problem.note_at(settings.path.span(), "the other one is here"));
        return None;
    }
    if settings.path.is_unread() || settings.regex.is_unread() {
        return None;
    }
    Some(match (settings.path.value(), settings.regex.value()) {
        (Some(path), _) => PathRule::Pattern(path.clone()),
        (None, Some(regex)) => PathRule::Regex(regex.clone()),
        (None, None) => PathRule::Any,
    })
}

/// The conditions of a route. Invalid ones are reported and left out.
fn rule(settings: &Route, path: PathRule, found: &mut Diagnostics) -> Rule {
    let fields = settings.field.iter().filter_map(|(name, condition)| {
        let rule = FieldRule::from_settings(name, condition);
        rule.map_err(|problem| found.push(problem)).ok()
    });
    Rule {
        path,
        fields: fields.collect(),
        methods: MethodSet::from_settings(&settings.method),
        slash: *settings.trailing_slash,
    }
}
