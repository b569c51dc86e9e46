//! Makes a stage of a plan: opens folders, logs, user files and templates, and puts the parts
//! together.

use std::collections::HashMap;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, Text};
use vervet_engine::listener::ListenerKey;
use vervet_engine::reactor::Now;

use super::denied::check_log_files;
use super::tools::{Purpose, Tools};
use crate::access_log::{OpenMode, Origin, PreparedLogs};
use crate::actions::{FilesAction, OpenAction};
use crate::files::options::CacheLimits;
use crate::filters::FilterDirective;
use crate::filters::access::AccessRules;
use crate::filters::blocks::Blocks;
use crate::filters::forwarded::Forwarders;
use crate::matching::Offer;
use crate::plan::{Plan, PlannedListener, PlannedRoute, PlannedSite};
use crate::resources::Resources;
use crate::settings::{Directive, Document};
use crate::web::{
    Action, ErrorPages, Finish, ListenerStage, Pipeline, RequestFilter, RouteEnd, RouteStage,
    SiteStage, Stage,
};

/// Prepares the stage of a plan, or returns its errors. `keys` are the keys of the listeners in the
/// engine, in the order of the plan.
pub fn prepare(
    plan: &Plan,
    keys: &[ListenerKey],
    tools: &Tools,
) -> Result<(Stage, Diagnostics), Diagnostics> {
    let document = plan.document();
    let mut found = Diagnostics::new();
    let media_types = document.media_types.iter();
    let media_types: Vec<_> = media_types
        .map(|(extension, media_type)| (extension.to_lowercase(), media_type.clone()))
        .collect();
    let logs = open_logs(document, tools, &mut found);
    let forwarders = document.forwarded.value().as_ref().map(Forwarders::from);
    let forwarders = forwarders.map(|forwarders| Arc::new(forwarders) as Arc<dyn RequestFilter>);
    let blocks: Arc<dyn RequestFilter> = Arc::<Blocks>::clone(&tools.blocks);
    let blocks = tools.has_admin.then_some(blocks);
    let mut builder = StageBuilder {
        resources: Resources {
            server: &document.server,
            pool: &tools.pool,
            cache_limits: CacheLimits {
                bytes_max: document.file_cache.bytes(),
                ..CacheLimits::default()
            },
            media_types: &media_types,
            default_media_type: &document.default_media_type,
            error_log: &tools.error_log,
            now: Now::read(),
            keeper: tools.kept.begin(),
        },
        logs,
        first_filters: forwarders.into_iter().chain(blocks).collect(),
        actions: Vec::new(),
        numbers: HashMap::new(),
        error_pages: Vec::new(),
        found,
    };
    let sites: Vec<_> = plan.sites.iter().map(|site| builder.site(site)).collect();
    // What belongs to no site is looked for where the first one's requests are.
    if let Some(first) = sites.first() {
        builder.logs.plan.set_refused(first.pipeline.logs);
    }
    let mut found = std::mem::take(&mut builder.found);
    found.sort();
    if found.has_errors() {
        return Err(found);
    }
    let listeners = plan.listeners.iter().zip(keys);
    let listeners = listeners.map(|(listener, key)| (*key, listener.stage())).collect();
    builder.resources.keeper.settle();
    builder.logs.activate();
    let stage = Stage {
        generation: 1,
        records_requests: records_requests(document, tools),
        listeners,
        sites,
        actions: builder.actions,
        error_pages: builder.error_pages,
        server: Arc::from(document.server.as_str()),
        error_log: Some(tools.error_log.clone()),
        needs_request_ids: builder.logs.plan.needs().request_ids || plan.needs().request_ids,
        logs: Arc::new(builder.logs.plan),
        connection_filters: vec![Arc::<Blocks>::clone(&tools.blocks)],
        tracer: tools.tracer.clone(),
    };
    Ok((stage, found))
}

/// Whether requests are recorded: by logs, the metrics of the admin service or the error log.
fn records_requests(document: &Document, tools: &Tools) -> bool {
    tools.has_admin || !document.log.is_empty() || document.error_log.takes_requests()
}

fn open_logs(document: &Document, tools: &Tools, found: &mut Diagnostics) -> PreparedLogs {
    let opening = match tools.purpose {
        Purpose::Rehearse => OpenMode::DryRun,
        Purpose::Serve => OpenMode::Write(tools.owner),
    };
    PreparedLogs::open(&document.log, &tools.logs, opening, found)
}

/// Finds the problems of serving the plan now. Nothing is written, and no socket is bound.
pub fn rehearse(plan: &Plan) -> Diagnostics {
    let tools = match Tools::rehearsing() {
        Ok(tools) => tools,
        Err(error) => {
            let message = format!("cannot check the configuration: {error}");
            return Diagnostics::from_iter([Diagnostic::error(Span::NOWHERE, message)]);
        }
    };
    let keys = (0_u32..).map(ListenerKey).take(plan.listeners.len());
    let mut found = match prepare(plan, &keys.collect::<Vec<_>>(), &tools) {
        Ok((_, found)) | Err(found) => found,
    };
    found.extend_with_later(check_log_files(plan.document()));
    found
}

fn names(logs: Option<&Vec<Setting<Text>>>) -> impl Iterator<Item = &str> {
    logs.into_iter().flatten().map(|name| name.as_str())
}

impl PlannedListener {
    /// The stage of this listener.
    pub(crate) fn stage(&self) -> ListenerStage {
        let access = self.access.as_ref();
        let access =
            access.map(|access| Arc::new(AccessRules::from(access)) as Arc<dyn RequestFilter>);
        ListenerStage {
            name: Arc::from(self.name.as_str()),
            connection_filters: access.into_iter().collect(),
            hosts: self.hosts.clone(),
        }
    }
}

/// State for building a stage.
struct StageBuilder<'m> {
    resources: Resources<'m>,
    logs: PreparedLogs,
    /// Filters of all sites, which run first.
    first_filters: Vec<Arc<dyn RequestFilter>>,
    actions: Vec<Arc<dyn Action>>,
    /// Numbers of the actions, by address.
    numbers: HashMap<*const (), usize>,
    error_pages: Vec<ErrorPages>,
    found: Diagnostics,
}

impl StageBuilder<'_> {
    fn site(&mut self, site: &PlannedSite) -> SiteStage {
        let mut pipeline = Pipeline {
            filters: self.first_filters.clone(),
            finish: Finish { error_pages: self.error_pages(site), compression: None },
            logs: self.logs.log_set(names(site.settings.log.as_ref())),
            origin: Origin { site: Some(self.logs.plan.add_site(&site.name)), route: None },
            ..Pipeline::default()
        };
        self.open_filters(site.name.clone(), site.settings.filters(), &mut pipeline);
        let routes = 0..site.targets.len();
        let targets = routes.map(|number| self.route(site, number, &pipeline)).collect();
        SiteStage { pipeline, routes: site.routes.clone(), targets }
    }

    fn route(&mut self, site: &PlannedSite, number: usize, of_site: &Pipeline) -> RouteStage {
        let route = &site.targets[number];
        let mut pipeline = Pipeline {
            logs: of_site.logs,
            finish: of_site.finish.clone(),
            origin: Origin { route: Some(self.logs.plan.add_route(&route.name)), ..of_site.origin },
            ..Pipeline::default()
        };
        let place = format!("{} {}", site.name, route.name);
        if let Some(settings) = &route.settings {
            if settings.log.is_some() {
                pipeline.logs = self.logs.log_set(names(settings.log.as_ref()));
            }
            self.open_filters(place, settings.filters(), &mut pipeline);
        } else {
            self.resources.keeper.set_place(place);
        }
        let offer = if route.has_path { site.routes.offer(number) } else { Offer::UNKNOWN };
        RouteStage { pipeline, end: self.open_action(route, offer) }
    }

    fn open_filters(
        &mut self,
        place: String,
        filters: impl Iterator<Item = Directive<Arc<dyn FilterDirective>>>,
        pipeline: &mut Pipeline,
    ) {
        self.resources.keeper.set_place(place);
        for filter in filters.filter_map(|filter| filter.section) {
            if let Err(problems) = filter.open(&mut self.resources, pipeline) {
                self.found.extend(problems);
            }
        }
        pipeline.filters.shrink_to_fit();
        pipeline.decorations.shrink_to_fit();
    }

    /// Opens the action of a route. If that fails, the errors are reported, and the stage is not
    /// used.
    fn open_action(&mut self, route: &PlannedRoute, offer: Offer<'_>) -> RouteEnd {
        let opened = route.action.as_ref().map(|action| action.open(offer, &mut self.resources));
        match opened {
            Some(Ok(OpenAction::Answer(action))) => RouteEnd::Action(self.number(action)),
            Some(Ok(OpenAction::Rewrite(rewrite))) => RouteEnd::Rewrite(rewrite),
            Some(Err(problems)) => {
                self.found.extend(problems);
                RouteEnd::Action(0)
            }
            None => RouteEnd::Action(0),
        }
    }

    /// The number of an action. Routes that share one share its handler on each reactor.
    fn number(&mut self, action: Arc<dyn Action>) -> usize {
        let next = self.actions.len();
        let number = self.numbers.entry(Arc::as_ptr(&action).cast());
        let number = *number.or_insert(next);
        if number == next {
            self.actions.push(action);
        }
        number
    }

    fn error_pages(&mut self, site: &PlannedSite) -> Option<usize> {
        if site.settings.error_pages.is_empty() {
            return None;
        }
        let settings = site.settings.root.value().as_ref();
        let root = settings.map(|root| root.open_folder(&self.resources));
        // Reported where its route is opened, and not again by each page that needs it.
        let is_broken = root.as_ref().is_some_and(Result::is_err);
        let root = root.and_then(Result::ok);
        let root = root.as_ref().map(FilesAction::shared);
        let mut found = Diagnostics::new();
        let pages = ErrorPages::new(&site.settings.error_pages, root, &mut found);
        let found = found.iter().filter(|one| !(is_broken && one.is_consequence));
        self.found.extend(found.cloned().collect());
        self.error_pages.push(pages);
        Some(self.error_pages.len() - 1)
    }
}
