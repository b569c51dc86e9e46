//! From a plan to a stage: folders, logs, user files and templates are opened, and everything is put in its place.

use std::collections::HashMap;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, Text};
use vervet_engine::listener::ListenerKey;

use super::equals::Equals;
use super::filters::FilterMaker;
use super::tools::{Purpose, Tools};
use crate::access_log::{Opening, Origin, PreparedLogs};
use crate::actions::{ErrorPages, FilesAction, FilesSetup, UserFoldersAction};
use crate::filters::access::AccessRules;
use crate::filters::blocks::Blocks;
use crate::filters::forwarded::Forwarders;
use crate::options::CacheLimits;
use crate::pages::{PageAction, PageSettings, PageSetup};
use crate::plan::{Plan, PlannedEnd, PlannedListener, PlannedRoute, PlannedSite};
use crate::settings::Document;
use crate::web::{
    Action, Finish, ListenerStage, Passage, RequestFilter, RouteEnd, RouteStage, SiteStage, Stage,
};

/// Makes the stage of a plan, or says what cannot be had. `keys` are those that the engine knows the listeners by, in the
/// order of the plan.
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
    let setup = FilesSetup {
        pool: &tools.pool,
        limits: CacheLimits {
            bytes_max: document.file_cache.bytes(),
            ..CacheLimits::default()
        },
        server: &document.server,
        media_types: &media_types,
        default_media_type: &document.default_media_type,
    };
    let logs = open_logs(document, tools, &mut found);
    let forwarders = document.forwarded.value().as_ref().map(Forwarders::from);
    let mut maker = Maker {
        setup,
        pages: tools.page_setup(&document.server),
        logs,
        forwarders: forwarders.map(|forwarders| Arc::new(forwarders) as Arc<dyn RequestFilter>),
        filters: FilterMaker {
            equals: Equals::default(),
            keeping: tools.kept.begin(),
            tools,
            found,
        },
        actions: Vec::new(),
        numbers: HashMap::new(),
        error_pages: Vec::new(),
    };
    let sites: Vec<_> = plan.sites.iter().map(|site| maker.site(site)).collect();
    // What belongs to no site is looked for where the first one's requests are.
    if let Some(first) = sites.first() {
        maker.logs.plan.set_refused(first.passage.logs);
    }
    let mut found = std::mem::take(&mut maker.filters.found);
    found.sort();
    if found.has_errors() {
        return Err(found);
    }
    let listeners = plan.listeners.iter().zip(keys);
    let listeners = listeners
        .map(|(listener, key)| (*key, listener.stage()))
        .collect();
    maker.filters.keeping.settle();
    maker.logs.activate();
    let stage = Stage {
        generation: 1,
        listeners,
        sites,
        actions: maker.actions,
        error_pages: maker.error_pages,
        server: Arc::from(document.server.as_str()),
        error_log: Some(tools.error_log.clone()),
        needs_request_ids: maker.logs.plan.needs().request_ids || has_field_changes(plan),
        logs: Arc::new(maker.logs.plan),
        blocks: Arc::clone(&tools.blocks),
        tracer: tools.tracer.clone(),
    };
    Ok((stage, found))
}

fn open_logs(document: &Document, tools: &Tools, found: &mut Diagnostics) -> PreparedLogs {
    let opening = match tools.purpose {
        Purpose::Rehearse => Opening::Rehearsal,
        Purpose::Serve => Opening::Work(tools.owner),
    };
    PreparedLogs::open(&document.log, &tools.logs, opening, found)
}

/// What would be found if the plan were to be served now. Nothing is written, and no socket is bound.
pub fn rehearse(plan: &Plan) -> Diagnostics {
    let tools = match Tools::rehearsing() {
        Ok(tools) => tools,
        Err(error) => {
            let message = format!("cannot rehearse: {error}");
            return Diagnostics::from_iter([Diagnostic::error(Span::NOWHERE, message)]);
        }
    };
    let keys = (0_u32..).map(ListenerKey).take(plan.listeners.len());
    match prepare(plan, &keys.collect::<Vec<_>>(), &tools) {
        Ok((_, found)) | Err(found) => found,
    }
}

/// Whether some answers have their fields changed: their values may hold the id of the request.
fn has_field_changes(plan: &Plan) -> bool {
    plan.sites.iter().any(|site| {
        let mut routes = site.settings.route.iter();
        site.settings.filters().fields.is_some()
            || routes.any(|route| route.filters().fields.is_some())
    })
}

fn names(logs: &[Setting<Text>]) -> impl Iterator<Item = &str> {
    logs.iter().map(|name| name.as_str())
}

impl PlannedListener {
    /// What it leads to.
    pub(crate) fn stage(&self) -> ListenerStage {
        let access = self.access.as_ref();
        ListenerStage {
            name: Arc::from(self.name.as_str()),
            access: access.map(|access| Arc::new(AccessRules::from(access))),
            hosts: self.hosts.clone(),
        }
    }
}

/// An action, or all that is wrong with it.
type Made = Result<Arc<dyn Action>, Vec<Diagnostic>>;

/// What a stage is put together with.
struct Maker<'m> {
    setup: FilesSetup<'m>,
    pages: PageSetup<'m>,
    logs: PreparedLogs,
    forwarders: Option<Arc<dyn RequestFilter>>,
    filters: FilterMaker<'m>,
    actions: Vec<Arc<dyn Action>>,
    /// Of the actions, by where they lie.
    numbers: HashMap<*const (), usize>,
    error_pages: Vec<ErrorPages>,
}

impl<'m> Maker<'m> {
    fn site(&mut self, site: &'m PlannedSite) -> SiteStage {
        let settings = site.settings.filters();
        let blocks: Arc<dyn RequestFilter> = Arc::<Blocks>::clone(&self.filters.tools.blocks);
        let own = self.filters.filters(&site.name, settings);
        let filters = self.forwarders.iter().cloned().chain([blocks]).chain(own);
        let filters = filters.collect();
        let finish = Finish {
            error_pages: self.error_pages(site),
            compression: self.filters.compression(settings, None),
        };
        let passage = Passage {
            filters,
            decorations: self.filters.decorations(settings),
            logs: self.logs.choice(names(settings.log.unwrap_or_default())),
            finish,
            origin: Origin {
                site: Some(self.logs.plan.add_site(&site.name)),
                route: None,
            },
        };
        let targets = site.targets.iter();
        let targets = targets
            .map(|route| self.route(route, (&site.name, &passage)))
            .collect();
        SiteStage {
            passage,
            routes: site.routes.clone(),
            targets,
        }
    }

    fn route(&mut self, route: &'m PlannedRoute, (name, site): (&str, &Passage)) -> RouteStage {
        let mut passage = Passage {
            logs: site.logs,
            finish: site.finish.clone(),
            origin: Origin {
                route: Some(self.logs.plan.add_route(&route.name)),
                ..site.origin
            },
            ..Passage::default()
        };
        let place = format!("{name} {}", route.name);
        if let Some(settings) = &route.settings {
            let settings = settings.filters();
            passage.filters = self.filters.filters(&place, settings);
            passage.decorations = self.filters.decorations(settings);
            passage.logs = settings
                .log
                .map_or(site.logs, |logs| self.logs.choice(names(logs)));
            passage.finish.compression = self
                .filters
                .compression(settings, site.finish.compression.as_ref());
        }
        RouteStage {
            passage,
            end: self.end(&place, &route.end),
        }
    }

    /// The end of a route. One that cannot be had is found, and no stage comes of it.
    fn end(&mut self, place: &str, end: &PlannedEnd) -> RouteEnd {
        let action = match end {
            PlannedEnd::Missing => Err(Vec::new()),
            PlannedEnd::Rewrite(rewrite) => return RouteEnd::Rewrite(Arc::clone(rewrite)),
            PlannedEnd::Made(action) => Ok(Arc::clone(action)),
            PlannedEnd::Files(files) => self.folder(FilesAction::new(files, &self.setup)),
            PlannedEnd::Alias(alias, rest) => {
                self.folder(FilesAction::alias(alias, *rest, &self.setup))
            }
            PlannedEnd::UserFolders(folders) => one(UserFoldersAction::new(folders, &self.setup)),
            PlannedEnd::Page(page) => self.page(place, page),
        };
        let problems = match action {
            Ok(action) => return RouteEnd::Action(self.number(action)),
            Err(problems) => problems,
        };
        for problem in problems {
            self.filters.found.push(problem);
        }
        RouteEnd::Action(0)
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

    /// The action of another route or of the last plan where it is the same folder: it has one handler, which goes on, and what
    /// that knows.
    fn folder(&mut self, made: Result<FilesAction, Diagnostic>) -> Made {
        let made = made.map_err(|problem| vec![problem])?;
        let kept = self
            .filters
            .keeping
            .keep(&made.place(), &made, || Ok(made.clone()));
        kept.map(|action: Arc<FilesAction>| action as Arc<dyn Action>)
    }

    /// The page of the last plan where its section is the same, unless it is out of order: then all that is wrong is
    /// found anew.
    fn page(&mut self, place: &str, page: &Arc<PageSettings>) -> Made {
        let section = (Arc::clone(page), self.setup.server.to_owned());
        let make = || page.action(self.pages);
        let place = format!("{place} page");
        let kept: Arc<PageAction> = self.filters.keeping.keep(&place, &section, make)?;
        if !kept.page().problems_now(self.pages.now).is_empty() {
            page.action(self.pages)?;
        }
        Ok(kept)
    }

    fn error_pages(&mut self, site: &PlannedSite) -> Option<usize> {
        if site.settings.error_pages.is_empty() {
            return None;
        }
        let root = site.settings.root.value().as_ref();
        // A folder that cannot be opened is found where its route is made.
        let root = root.and_then(|root| FilesAction::new(root, &self.setup).ok());
        let root = root.as_ref().map(FilesAction::shared);
        let pages = ErrorPages::new(&site.settings.error_pages, root, &mut self.filters.found);
        self.error_pages.push(pages);
        Some(self.error_pages.len() - 1)
    }
}

fn shared<A: Action + 'static>(action: A) -> Arc<dyn Action> {
    Arc::new(action)
}

fn one<A: Action + 'static>(action: Result<A, Diagnostic>) -> Made {
    action.map(shared).map_err(|problem| vec![problem])
}
