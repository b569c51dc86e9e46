//! Where routes lead: to exactly one action each. What needs no files is made here; the rest waits for the stage.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span};

use crate::actions::{
    Alias, RedirectAction, RespondAction, RewriteAction, ServeFiles, StatusAction, UserFolders,
};
use crate::matching::{Offer, Rest};
use crate::pages::PageSettings;
use crate::settings::Route;
use crate::web::Action;

/// What a route leads to.
#[derive(Clone, Debug)]
pub(crate) enum PlannedEnd {
    /// An action that is made already.
    Made(Arc<dyn Action>),
    /// Another route.
    Rewrite(Arc<RewriteAction>),
    /// A folder.
    Files(Arc<ServeFiles>),
    /// A folder or a file.
    Alias(Arc<Alias>, Rest),
    /// The folders of the users of the machine.
    UserFolders(Arc<UserFolders>),
    /// A template.
    Page(Arc<PageSettings>),
    /// What has a mistake, which has been told: no plan with it is served.
    Missing,
}

/// What makes the ends of one route.
#[derive(Clone, Copy)]
struct Maker<'m> {
    offer: Offer<'m>,
    server: &'m str,
}

/// A directive that gives the route an end, with what it comes to.
struct Given {
    name: &'static str,
    span: Span,
    end: Result<PlannedEnd, Diagnostic>,
}

/// The end of a route. Where there is not exactly one that is understood, that is found.
pub(super) fn planned_end(
    route: &Setting<Arc<Route>>,
    offer: Offer<'_>,
    server: &str,
    found: &mut Diagnostics,
) -> PlannedEnd {
    let given = Maker { offer, server }.given(route);
    let Some((first, others)) = given.split_first() else {
        let problem = Diagnostic::error(route.span(), "the route does nothing");
        let problem = problem.expected(format!("one of {}", ACTIONS.join(", ")));
        found.push(problem.consequence());
        return PlannedEnd::Missing;
    };
    for other in others {
        let message = format!(
            "a route does one thing: `{}` or `{}`",
            first.name, other.name
        );
        found.push(
            Diagnostic::error(other.span, message).note_at(first.span, "the other one is here"),
        );
    }
    match &first.end {
        Ok(end) => end.clone(),
        Err(problem) => {
            found.push(problem.clone());
            PlannedEnd::Missing
        }
    }
}

/// The directives of a route that say what it does.
const ACTIONS: [&str; 8] = [
    "`files`",
    "`alias`",
    "`user_folders`",
    "`page`",
    "`respond`",
    "`status`",
    "`redirect`",
    "`rewrite`",
];

impl Maker<'_> {
    /// The registry of actions: one line each.
    fn given(self, route: &Route) -> Vec<Given> {
        [
            Self::end("files", &route.files, |files, _| {
                Ok(PlannedEnd::Files(Arc::clone(files)))
            }),
            Self::end("alias", &route.alias, |alias, _| {
                Ok(PlannedEnd::Alias(Arc::clone(alias), self.offer.rest))
            }),
            Self::end("user_folders", &route.user_folders, |folders, _| {
                Ok(PlannedEnd::UserFolders(Arc::clone(folders)))
            }),
            Self::end("page", &route.page, |page, _| {
                Ok(PlannedEnd::Page(Arc::clone(page)))
            }),
            Self::end("respond", &route.respond, |respond, _| {
                made(RespondAction::new(respond, self.server))
            }),
            Self::end("status", &route.status, |status, setting| {
                let status = setting.clone().map(|_| *status);
                made(StatusAction::new(&status, self.server))
            }),
            Self::end("redirect", &route.redirect, |redirect, _| {
                made(RedirectAction::new(redirect, self.offer, self.server))
            }),
            Self::end("rewrite", &route.rewrite, |target, setting| {
                let target = setting.clone().map(|_| target.clone());
                Ok(PlannedEnd::Rewrite(Arc::new(RewriteAction::new(
                    &target, self.offer,
                )?)))
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn end<T>(
        name: &'static str,
        setting: &Setting<Option<T>>,
        make: impl FnOnce(&T, &Setting<Option<T>>) -> Result<PlannedEnd, Diagnostic>,
    ) -> Option<Given> {
        let end = match setting.value() {
            Some(value) => make(value, setting),
            None if setting.is_unread() => Ok(PlannedEnd::Missing),
            None => return None,
        };
        Some(Given {
            name,
            span: setting.span(),
            end,
        })
    }
}

fn made<A: Action + 'static>(action: Result<A, Diagnostic>) -> Result<PlannedEnd, Diagnostic> {
    Ok(PlannedEnd::Made(Arc::new(action?)))
}
