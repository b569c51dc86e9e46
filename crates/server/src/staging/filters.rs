//! From the directives of a site or a route to its filters, in the order of the phases.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics};

use super::kept::Keeping;
use super::tools::Tools;
use crate::filters::access::AccessRules;
use crate::filters::compression::AnswerCompression;
use crate::filters::connections::Concurrency;
use crate::filters::cors::CorsRules;
use crate::filters::fields::ResponseFields;
use crate::filters::rate::RateLimit;
use crate::filters::referer::RefererRules;
use crate::filters::security::SecurityFields;
use crate::filters::target_rules::TargetRules;
use crate::settings::FilterSettings;
use crate::web::RequestFilter;

/// What filters are made with.
pub(super) struct FilterMaker<'m> {
    pub(super) keeping: Keeping<'m>,
    pub(super) tools: &'m Tools,
    pub(super) found: Diagnostics,
}

type Filters = Box<[Arc<dyn RequestFilter>]>;

impl FilterMaker<'_> {
    /// What requests pass at a place, in the order of the phases: the registry, one paragraph each. What remembers
    /// something is kept from plan to plan.
    pub(super) fn filters(&mut self, place: &str, settings: FilterSettings<'_>) -> Filters {
        let mut filters: Vec<Arc<dyn RequestFilter>> = Vec::new();
        if let Some(access) = settings.access {
            filters.push(Arc::new(AccessRules::from(access)));
        }
        if !settings.deny.is_empty() {
            let rules = TargetRules::of(settings.deny);
            filters.extend(self.good(rules).map(shared));
        }
        if let Some(referer) = settings.referer {
            filters.push(Arc::new(RefererRules::new(referer)));
        }
        if let Some(cors) = settings.cors {
            let rules = CorsRules::new(cors).map_err(|problem| Diagnostics::from_iter([*problem]));
            filters.extend(self.good(rules).map(shared));
        }
        if let Some(rate) = settings.rate {
            let limit: Arc<RateLimit> = self.keep(place, "rate", rate, |rate| rate.into());
            filters.push(limit);
        }
        if let Some(concurrency) = settings.concurrency {
            let limit: Arc<Concurrency> =
                self.keep(place, "concurrency", concurrency, |limits| limits.into());
            filters.push(limit);
        }
        if let Some(auth) = settings.auth {
            let tools = self.tools;
            let realm = self.keeping.keep(&format!("{place} auth"), auth, || {
                let verifier = tools.verifier().map_err(|error| {
                    let message =
                        format!("cannot start the thread that verifies passwords: {error}");
                    Diagnostics::from_iter([Diagnostic::error(auth.files.span(), message)])
                });
                auth.open(&verifier?, &tools.say())
            });
            if let Some(realm) = self.good(realm) {
                filters.push(realm);
            }
        }
        filters.into_boxed_slice()
    }

    /// What edits answers at a place.
    pub(super) fn decorations(&mut self, settings: FilterSettings<'_>) -> Filters {
        let mut decorations: Vec<Arc<dyn RequestFilter>> = Vec::new();
        if let Some(security) = settings.security {
            decorations.push(Arc::new(SecurityFields::new(security)));
        }
        if let Some(fields) = settings.fields {
            let fields = ResponseFields::new(&fields.response);
            decorations.extend(self.good(fields).map(shared));
        }
        decorations.into_boxed_slice()
    }

    /// How answers are compressed at a place.
    pub(super) fn compression(
        &self,
        settings: FilterSettings<'_>,
        site: Option<&Arc<AnswerCompression>>,
    ) -> Option<Arc<AnswerCompression>> {
        match settings.compression {
            Some(section) => {
                let offload = self.tools.pool.offload();
                AnswerCompression::beside(section, offload).map(Arc::new)
            }
            None => site.cloned(),
        }
    }

    fn keep<F, S>(&mut self, place: &str, kind: &str, section: &S, make: fn(&S) -> F) -> Arc<F>
    where
        F: RequestFilter + 'static,
        S: Clone + PartialEq + Send + Sync + 'static,
    {
        let fresh = || Ok::<F, std::convert::Infallible>(make(section));
        match self
            .keeping
            .keep(&format!("{place} {kind}"), section, fresh)
        {
            Ok(filter) => filter,
            Err(never) => match never {},
        }
    }

    fn good<T>(&mut self, made: Result<T, Diagnostics>) -> Option<T> {
        made.map_err(|problems| self.found.extend(problems)).ok()
    }
}

fn shared<F: RequestFilter + 'static>(filter: F) -> Arc<dyn RequestFilter> {
    Arc::new(filter)
}
