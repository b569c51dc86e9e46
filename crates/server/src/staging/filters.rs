//! From the directives of a site or a route to its filters, in the order of the phases.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics};

use super::equals::Equals;
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
    pub(super) equals: Equals<'m>,
    pub(super) keeping: Keeping<'m>,
    pub(super) tools: &'m Tools,
    pub(super) found: Diagnostics,
}

type Filters = Box<[Arc<dyn RequestFilter>]>;

impl<'m> FilterMaker<'m> {
    /// What requests pass at a place, in the order of the phases: the registry, one paragraph each. What remembers
    /// something is kept from plan to plan; what does not is one for all equal sections.
    pub(super) fn filters(&mut self, place: &str, settings: FilterSettings<'m>) -> Filters {
        let mut filters: Vec<Arc<dyn RequestFilter>> = Vec::new();
        if let Some(access) = settings.access {
            filters.extend(self.equal(access, |access| Ok(AccessRules::from(access))));
        }
        if !settings.deny.is_empty() {
            filters.extend(self.equal(settings.deny, |deny| TargetRules::of(deny)));
        }
        if let Some(referer) = settings.referer {
            filters.extend(self.equal(referer, |referer| Ok(RefererRules::new(referer))));
        }
        if let Some(cors) = settings.cors {
            filters.extend(self.equal(cors, |cors| {
                CorsRules::new(cors).map_err(|problem| Diagnostics::from_iter([*problem]))
            }));
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
    pub(super) fn decorations(&mut self, settings: FilterSettings<'m>) -> Filters {
        let mut decorations: Vec<Arc<dyn RequestFilter>> = Vec::new();
        if let Some(security) = settings.security {
            let made = self.equal(security, |security| Ok(SecurityFields::new(security)));
            decorations.extend(made);
        }
        if let Some(fields) = settings.fields {
            let made = self.equal(fields, |fields| ResponseFields::new(&fields.response));
            decorations.extend(made);
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

    /// The filter of a section and of all that are equal to it.
    fn equal<F, S>(
        &mut self,
        section: &'m S,
        make: impl FnOnce(&S) -> Result<F, Diagnostics>,
    ) -> Option<Arc<dyn RequestFilter>>
    where
        F: RequestFilter + 'static,
        S: PartialEq + 'static,
    {
        let filter = self.equals.one(section, make);
        self.good(filter).map(|filter| filter as _)
    }

    fn good<T>(&mut self, made: Result<T, Diagnostics>) -> Option<T> {
        made.map_err(|problems| self.found.extend(problems)).ok()
    }
}
