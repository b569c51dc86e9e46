//! From the directives of a site or a route to its filters, in the order of the phases.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics};

use crate::filters::compression::AnswerCompression;
use crate::filters::cors::CorsRules;
use crate::filters::fields::ResponseFields;
use crate::filters::referer::RefererRules;
use crate::filters::security::SecurityFields;
use crate::settings::FilterSettings;
use crate::web::RequestFilter;

/// The filters that requests pass, in the order of the phases: the registry, one line for each.
pub(super) fn request_filters(
    settings: FilterSettings<'_>,
    found: &mut Diagnostics,
) -> Vec<Arc<dyn RequestFilter>> {
    let mut filters: Vec<Arc<dyn RequestFilter>> = Vec::new();
    if let Some(referer) = settings.referer {
        filters.push(Arc::new(RefererRules::new(referer)));
    }
    if let Some(security) = settings.security {
        filters.push(Arc::new(SecurityFields::new(security)));
    }
    if let Some(cors) = settings.cors.value() {
        match CorsRules::new(cors) {
            Ok(rules) => filters.push(Arc::new(rules)),
            Err(problem) => found.push(Diagnostic::error(
                cors.credentials.span(),
                problem.to_string(),
            )),
        }
    }
    if let Some(fields) = settings.fields {
        match ResponseFields::new(&fields.response) {
            Ok(changes) => filters.push(Arc::new(changes)),
            Err(problems) => found_changes(problems, found),
        }
    }
    filters
}

fn found_changes(problems: Vec<crate::filters::fields::ChangeError>, found: &mut Diagnostics) {
    for problem in problems {
        found.push(Diagnostic::error(problem.span, message(&problem)));
    }
}

fn message(problem: &crate::filters::fields::ChangeError) -> String {
    format!("the field `{}` {}", problem.name, problem.reason)
}

/// How answers are compressed.
pub(super) fn compression(
    settings: FilterSettings<'_>,
    site: Option<&Arc<AnswerCompression>>,
) -> Option<Arc<AnswerCompression>> {
    match settings.compression {
        Some(section) => AnswerCompression::new(section).map(Arc::new),
        None => site.cloned(),
    }
}
