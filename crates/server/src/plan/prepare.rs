//! From a plan to a stage: folders, logs, user files and templates are opened, and everything is put in its place.

use std::collections::HashMap;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics};
use vervet_engine::listener::ListenerKey;
use vervet_engine::reactor::Now;

use super::ends::PlannedEnd;
use super::filters::{compression, request_filters};
use super::kept::{Keeping, Kept};
use super::logs::OpenLogs;
use super::planned::{Plan, PlannedRoute, PlannedSite};
use crate::access_log::{Logs, Origin};
use crate::actions::{ErrorPages, FilesAction, FilesSetup, UserFoldersAction};
use crate::files_pool::FilesPool;
use crate::filters::blocks::Blocks;
use crate::options::CacheLimits;
use crate::pages::{Journal, PageSetup};
use crate::web::{Action, Finish, ListenerStage, Passage, RouteEnd, RouteStage, SiteStage, Stage};

/// What outlives plans and stages.
#[derive(Debug)]
pub struct Tools {
    /// Folders that are open.
    pub pool: Arc<FilesPool>,
    /// Filters that remember something.
    pub kept: Kept,
    /// Who is blocked for now.
    pub blocks: Arc<Blocks>,
    /// Log targets that are open.
    pub logs: Logs,
    /// Where parts that work on their own tell their problems.
    pub journal: Arc<dyn Journal>,
    /// Whom log files are given to, when privileges are to be dropped.
    pub owner: Option<(u32, u32)>,
}

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
    let mut maker = Maker {
        setup,
        pages: PageSetup {
            server: &document.server,
            journal: &tools.journal,
            now: Now::read(),
        },
        logs: OpenLogs::open(document, &tools.logs, tools.owner, &mut found),
        keeping: tools.kept.begin(),
        actions: Vec::new(),
        all_error_pages: Vec::new(),
        found,
    };
    let sites: Vec<_> = plan.sites.iter().map(|site| maker.site(site)).collect();
    let Maker {
        logs,
        keeping,
        actions,
        all_error_pages,
        mut found,
        ..
    } = maker;
    found.sort();
    if found.has_errors() {
        return Err(found);
    }
    keeping.settle();
    let listeners = plan.listeners.iter().zip(keys).map(|(listener, key)| {
        let stage = ListenerStage {
            name: Arc::from(listener.name.as_str()),
            access: None,
            hosts: listener.hosts.clone(),
        };
        (*key, stage)
    });
    let stage = Stage {
        generation: 0,
        listeners: listeners.collect::<HashMap<_, _>>(),
        sites,
        actions,
        error_pages: all_error_pages,
        server: Arc::from(document.server.as_str()),
        logs: Arc::new(logs.plan),
        blocks: Arc::clone(&tools.blocks),
    };
    Ok((stage, found))
}

/// What a stage is put together with.
struct Maker<'m> {
    setup: FilesSetup<'m>,
    pages: PageSetup<'m>,
    logs: OpenLogs,
    keeping: Keeping<'m>,
    actions: Vec<Arc<dyn Action>>,
    all_error_pages: Vec<ErrorPages>,
    found: Diagnostics,
}

impl Maker<'_> {
    fn site(&mut self, site: &PlannedSite) -> SiteStage {
        let settings = site.settings.value();
        let origin = Origin {
            site: Some(self.logs.plan.add_site(&site.name)),
            route: None,
        };
        let finish = Finish {
            error_pages: self.error_pages(site),
            compression: compression(settings.filters(), None),
        };
        let passage = Passage {
            filters: request_filters(settings.filters(), &mut self.found).into_boxed_slice(),
            logs: self.logs.choice(settings.filters().log.unwrap_or_default()),
            finish,
            origin,
        };
        let targets = site.targets.iter().map(|route| self.route(route, &passage));
        let targets = targets.collect();
        SiteStage {
            passage,
            routes: site.routes.clone(),
            targets,
        }
    }

    fn route(&mut self, route: &PlannedRoute, site: &Passage) -> RouteStage {
        let origin = Origin {
            route: Some(self.logs.plan.add_route(&route.name)),
            ..site.origin
        };
        let settings = route.settings.as_ref().map(|settings| settings.filters());
        let mut passage = Passage {
            filters: Box::default(),
            logs: site.logs,
            finish: site.finish.clone(),
            origin,
        };
        if let Some(settings) = settings {
            passage.filters = request_filters(settings, &mut self.found).into_boxed_slice();
            passage.logs = settings
                .log
                .map_or(site.logs, |names| self.logs.choice(names));
            passage.finish.compression = compression(settings, site.finish.compression.as_ref());
        }
        RouteStage {
            passage,
            end: self.end(&route.end),
        }
    }

    /// The end of a route. One that cannot be had is found, and no stage comes of it.
    fn end(&mut self, end: &PlannedEnd) -> RouteEnd {
        let action = match end {
            PlannedEnd::Rewrite(rewrite) => return RouteEnd::Rewrite(Arc::clone(rewrite)),
            PlannedEnd::Made(action) => Ok(Arc::clone(action)),
            PlannedEnd::Files(files) => one(FilesAction::new(files, &self.setup)),
            PlannedEnd::Alias(alias, rest) => one(FilesAction::alias(alias, *rest, &self.setup)),
            PlannedEnd::UserFolders(folders) => one(UserFoldersAction::new(folders, &self.setup)),
            PlannedEnd::Page(page) => page.action(self.pages).map(shared),
        };
        match action {
            Ok(action) => self.actions.push(action),
            Err(problems) => problems
                .into_iter()
                .for_each(|problem| self.found.push(problem)),
        }
        RouteEnd::Action(self.actions.len().saturating_sub(1))
    }

    fn error_pages(&mut self, site: &PlannedSite) -> Option<usize> {
        if site.settings.error_pages.is_empty() {
            return None;
        }
        let root = site.settings.root.value().as_ref();
        // A folder that cannot be opened is found where its route is made.
        let root = root.and_then(|root| FilesAction::new(root, &self.setup).ok());
        let root = root.as_ref().map(FilesAction::shared);
        let pages = ErrorPages::new(&site.settings.error_pages, root, &mut self.found);
        self.all_error_pages.push(pages);
        Some(self.all_error_pages.len() - 1)
    }
}

fn shared<A: Action + 'static>(action: A) -> Arc<dyn Action> {
    Arc::new(action)
}

fn one<A: Action + 'static>(
    action: Result<A, Diagnostic>,
) -> Result<Arc<dyn Action>, Vec<Diagnostic>> {
    action.map(shared).map_err(|problem| vec![problem])
}
