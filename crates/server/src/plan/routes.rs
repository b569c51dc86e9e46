//! The routes of a site: when each is taken.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting};

use super::ends::{PlannedEnd, planned_end};
use super::planned::{PlannedRoute, name_apart};
use crate::matching::{FieldRule, MethodSet, Offer, PathRule, Rest, Route as Rule, TrailingSlash};
use crate::settings::{Route, Site};

/// The most routes of one site.
pub(super) const ROUTES_MAX: usize = 65_536;

/// The routes of a site with their ends, in file order; those with mistakes are left out.
pub(super) fn planned_routes(
    site: &Setting<Arc<Site>>,
    server: &str,
    found: &mut Diagnostics,
) -> (Vec<Rule>, Vec<PlannedRoute>) {
    let mut rules = Vec::new();
    let mut targets = Vec::new();
    if site.route.len() > ROUTES_MAX {
        let message = format!(
            "the site has {} routes, at most {ROUTES_MAX}",
            site.route.len()
        );
        found.push(Diagnostic::error(site.route.span(), message));
    }
    if site.route.is_empty() && site.root.value().is_none() {
        let message = "the site serves nothing";
        found.push(
            Diagnostic::error(site.span(), message)
                .expected("`root`, or `[[site.route]]`")
                .consequence(),
        );
    }
    for settings in site.route.iter() {
        let rule = rule(settings, found);
        let offer = rule.as_ref().map_or(NOTHING, |rule| rule.path.offer());
        let end = planned_end(settings, offer, server, found);
        if let (Some(rule), Some(end)) = (&rule, end) {
            targets.push(PlannedRoute {
                name: name(settings),
                settings: Some(settings.clone()),
                end,
            });
            rules.push(rule.clone());
        }
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
            end: PlannedEnd::Files(Box::new(root.clone())),
        });
    }
    name_apart(&mut targets, |target| &mut target.name);
    (rules, targets)
}

fn name(settings: &Route) -> String {
    let path = settings
        .path
        .value()
        .as_ref()
        .map(|path| path.as_str().to_owned());
    let regex = settings
        .regex
        .value()
        .as_ref()
        .map(|regex| regex.as_str().to_owned());
    let name = settings.name.value().clone().or(path).or(regex);
    name.unwrap_or_else(|| "*".to_owned())
}

const NOTHING: Offer<'static> = Offer {
    variables: &[],
    rest: Rest::Absent,
};

/// When a route is taken; none where that cannot be said.
fn rule(settings: &Route, found: &mut Diagnostics) -> Option<Rule> {
    let path = match (settings.path.value(), settings.regex.value()) {
        (None, None) => Some(PathRule::Any),
        (Some(path), None) => Some(PathRule::Pattern(path.clone())),
        (None, Some(regex)) => Some(PathRule::Regex(regex.clone())),
        (Some(_), Some(_)) => {
            let problem = Diagnostic::error(settings.regex.span(), "a route has `path` or `regex`");
            found.push(problem.note_at(settings.path.span(), "the other one is here"));
            None
        }
    };
    let fields = settings.field.iter().map(|(name, condition)| {
        let rule = FieldRule::of_settings(name, condition);
        rule.map_err(|problem| found.push(problem)).ok()
    });
    let fields: Vec<_> = fields.collect();
    Some(Rule {
        path: path?,
        methods: MethodSet::of_settings(&settings.method),
        fields: fields.into_iter().collect::<Option<_>>()?,
        slash: *settings.trailing_slash,
    })
}
