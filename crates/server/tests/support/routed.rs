//! A site of routes and actions as a document gives them, on a port of its own: the shortest way from a request to an
//! action, without filters.

use std::sync::Arc;

use vervet_config::{Diagnostics, Named, Setting, Text, read_text, section};
use vervet_engine::http::h1::RequestHead;
use vervet_engine::http::target::{NormalPath, RequestTarget, Scheme, TargetMethod};
use vervet_engine::{Exchange, Outcome, Service};
use vervet_server::FilesPool;
use vervet_server::actions::{
    Alias, ErrorPage, ErrorPages, ErrorPagesAtWork, FilesAction, FilesSetup, REWRITES_MAX,
    Redirect, RedirectAction, Respond, RespondAction, RewriteAction, ServeFiles, StatusAction,
    UserFolders, UserFoldersAction, method_not_allowed, not_found, slash_redirect,
    too_many_rewrites,
};
use vervet_server::matching::{
    Captures, FieldCondition, FieldRule, MethodName, MethodSet, PathRegex, PathRule, Pattern,
    Question, Route, Routed, Routes, TrailingSlash, raw_rest,
};
use vervet_server::options::CacheLimits;
use vervet_server::web::{Action, Handler, Request};
use vervet_testkit::RawClient;

use super::wire::Wire;

section! {
    /// A site.
    pub struct SiteSettings {
        /// The folder for error pages.
        pub root: Option<ServeFiles>,
        /// Error pages.
        pub error_pages: Named<ErrorPage>,
        /// Its routes.
        pub route: Vec<RouteSettings>,
    }
}

section! {
    /// A route.
    pub struct RouteSettings {
        /// Its path.
        pub path: Option<Pattern>,
        /// Its expression.
        pub regex: Option<PathRegex>,
        /// Its methods.
        pub method: Vec<MethodName>,
        /// Its fields.
        pub field: Named<FieldCondition>,
        /// The other form.
        pub trailing_slash: TrailingSlash = "strict",
        /// Action.
        pub respond: Option<Respond>,
        /// Action.
        pub status: Option<u16>,
        /// Action.
        pub redirect: Option<Redirect>,
        /// Action.
        pub rewrite: Option<Text>,
        /// Action.
        pub files: Option<ServeFiles>,
        /// Action.
        pub alias: Option<Alias>,
        /// Action.
        pub user_folders: Option<UserFolders>,
    }
}

#[derive(Debug)]
enum Leads {
    To(Box<dyn Action>),
    On(RewriteAction),
}

/// What all reactors of a site share.
#[derive(Debug)]
pub struct Site {
    routes: Routes,
    leads: Vec<Leads>,
    error_pages: ErrorPages,
}

impl Site {
    /// The site that a document gives, or the first message of what is wrong with it.
    pub fn read(document: &str) -> Result<Arc<Self>, String> {
        let reading = read_text::<SiteSettings>("site.toml", document);
        if let Some(first) = reading.diagnostics.iter().next() {
            return Err(first.message.clone());
        }
        let settings = reading.value.unwrap();
        let pool = Arc::new(FilesPool::new());
        let setup = FilesSetup {
            pool: &pool,
            limits: CacheLimits::default(),
            server: "Vervet",
            media_types: &[],
            default_media_type: "application/octet-stream",
        };
        let mut routes = Vec::new();
        let mut leads = Vec::new();
        for settings in settings.route.iter() {
            let route = route(settings)?;
            leads.push(leads_to(settings, &route, &setup)?);
            routes.push(route);
        }
        let root = settings
            .root
            .value()
            .as_ref()
            .map(|root| FilesAction::new(root, &setup).map_err(said));
        let root = root.transpose()?;
        let mut found = Diagnostics::new();
        let root = root.as_ref().map(FilesAction::shared);
        let error_pages = ErrorPages::new(settings.error_pages.value(), root, &mut found);
        match found.iter().next() {
            Some(first) => Err(first.message.clone()),
            None => Ok(Arc::new(Self {
                routes: Routes::new(routes),
                leads,
                error_pages,
            })),
        }
    }

    /// The site on a port of its own.
    pub fn start(document: &str) -> Wire {
        let site = Self::read(document).unwrap_or_else(|message| panic!("{message} in {document}"));
        Wire::start(move |_| AtWork {
            handlers: site.leads.iter().map(|_| None).collect(),
            error_pages: site.error_pages.at_work(),
            site: Arc::clone(&site),
        })
    }
}

fn said(diagnostic: vervet_config::Diagnostic) -> String {
    diagnostic.message
}

fn route(settings: &RouteSettings) -> Result<Route, String> {
    let path = match (settings.path.value(), settings.regex.value()) {
        (Some(pattern), _) => PathRule::Pattern(pattern.clone()),
        (None, Some(regex)) => PathRule::Regex(regex.clone()),
        (None, None) => PathRule::Any,
    };
    let fields = settings
        .field
        .iter()
        .map(|(name, condition)| FieldRule::of_settings(name, condition));
    Ok(Route {
        path,
        methods: MethodSet::of_settings(&settings.method),
        fields: fields.collect::<Result<_, _>>().map_err(said)?,
        slash: *settings.trailing_slash,
    })
}

fn leads_to(
    settings: &RouteSettings,
    route: &Route,
    setup: &FilesSetup<'_>,
) -> Result<Leads, String> {
    let offer = route.path.offer();
    let action: Box<dyn Action> = if let Some(respond) = settings.respond.value() {
        Box::new(RespondAction::new(respond, "Vervet").map_err(said)?)
    } else if let Some(redirect) = settings.redirect.value() {
        Box::new(RedirectAction::new(redirect, offer, "Vervet").map_err(said)?)
    } else if let Some(files) = settings.files.value() {
        Box::new(FilesAction::new(files, setup).map_err(said)?)
    } else if let Some(alias) = settings.alias.value() {
        Box::new(FilesAction::alias(alias, offer.rest, setup).map_err(said)?)
    } else if let Some(folders) = settings.user_folders.value() {
        Box::new(UserFoldersAction::new(folders, setup).map_err(said)?)
    } else if let Some(target) = settings.rewrite.value() {
        let target = &setting(&settings.rewrite, target.clone());
        return Ok(Leads::On(RewriteAction::new(target, offer).map_err(said)?));
    } else {
        let status = setting(&settings.status, settings.status.value().unwrap_or(204));
        Box::new(StatusAction::new(&status, "Vervet").map_err(said)?)
    };
    Ok(Leads::To(action))
}

fn setting<T, U>(of: &Setting<T>, value: U) -> Setting<U> {
    Setting::given(value, of.span())
}

struct AtWork {
    site: Arc<Site>,
    handlers: Vec<Option<Box<dyn Handler>>>,
    error_pages: ErrorPagesAtWork,
}

impl Service for AtWork {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        let now = exchange.now();
        let pages = self.error_pages.clone();
        self.route(exchange)
            .amend(move |response| pages.replace(response, now))
    }
}

impl AtWork {
    fn route(&mut self, exchange: Exchange<'_>) -> Outcome {
        let head = exchange.head();
        let Ok(target) = RequestTarget::parse(head.target, TargetMethod::Other) else {
            return Outcome::Done(not_found("Vervet"));
        };
        let raw_path = target.raw_path().unwrap();
        let Ok(path) = NormalPath::decode(raw_path) else {
            return Outcome::Done(not_found("Vervet"));
        };
        let site = Arc::clone(&self.site);
        let mut request = request(&exchange, (raw_path, path.as_bytes()), target.raw_query());
        for _ in 0..=REWRITES_MAX {
            let path = request.path.clone();
            let routed = site.routes.find(&question(head, &path));
            let number = match routed {
                Routed::To {
                    route,
                    captures,
                    rest,
                } => {
                    request.captures = captures;
                    let raw_path = request.raw_path.clone();
                    request.rest =
                        rest.map(|at| raw_rest(&raw_path, &path, at).into_owned().into());
                    route
                }
                Routed::Slash { form, .. } => {
                    return Outcome::Done(slash_redirect(&request, form, "Vervet"));
                }
                Routed::OtherMethods(methods) => {
                    return Outcome::Done(method_not_allowed(&methods, "Vervet"));
                }
                Routed::Missing => return Outcome::Done(not_found("Vervet")),
            };
            match &site.leads[number] {
                Leads::To(action) => {
                    let handler = self.handlers[number].get_or_insert_with(|| action.handler());
                    return handler.answer(&request, exchange);
                }
                Leads::On(rewrite) => {
                    let Ok(rewritten) = rewrite.rewrite(&request) else {
                        return Outcome::Done(not_found("Vervet"));
                    };
                    request.raw_path = rewritten.raw_path.into();
                    request.path = rewritten.path.into();
                    request.query = rewritten.query.map(Into::into);
                }
            }
        }
        Outcome::Done(too_many_rewrites("Vervet"))
    }
}

fn request<'a>(
    exchange: &Exchange<'a>,
    (raw_path, path): (&'a [u8], &[u8]),
    query: Option<&'a [u8]>,
) -> Request<'a> {
    let host = exchange.head().host().unwrap_or_default();
    let host = host.split(|&byte| byte == b':').next().unwrap_or_default();
    Request {
        head: exchange.head(),
        raw_path: raw_path.into(),
        path: path.to_vec().into(),
        query: query.map(Into::into),
        host: host.to_ascii_lowercase().into(),
        peer: exchange.peer(),
        client: None,
        captures: Captures::default(),
        rest: None,
        request_id: None,
        resumed: None,
        user: None,
        scheme: Scheme::Http,
        held: Vec::new(),
        now: exchange.now(),
    }
}

fn question<'q>(head: &'q RequestHead<'q>, path: &'q [u8]) -> Question<'q> {
    Question {
        path,
        method: head.method,
        method_token: head.method_token,
        fields: &head.fields,
    }
}

/// Sends requests on one connection and compares: `METHOD target` with fields behind it, and what comes back as
/// `status`, then ` -> Location`, then the content behind a colon.
#[track_caller]
pub fn check(wire: &Wire, rows: &[(&str, &str)]) {
    let mut client = RawClient::connect(wire.address);
    for (request, expected) in rows {
        let mut lines = request.split('\n');
        let line = lines.next().unwrap();
        let method = if line.starts_with('/') { "GET " } else { "" };
        let mut text = format!("{method}{line} HTTP/1.1\r\n");
        if !request.contains("\nHost:") {
            text.push_str("Host: example.org\r\n");
        }
        for field in lines {
            text.push_str(field);
            text.push_str("\r\n");
        }
        client.send(text + "\r\n");
        let response = if line.starts_with("HEAD ") {
            client.read_head_response()
        } else {
            client.read_response()
        };
        let mut shown = response.status.to_string();
        if let Some(location) = response.field("location") {
            shown = format!("{shown} -> {location}");
        }
        let text = String::from_utf8_lossy(&response.content);
        let is_ours = text.starts_with("<!DOCTYPE html>");
        if !text.is_empty() && !is_ours {
            shown = format!("{shown}: {text}");
        }
        assert_eq!(shown, *expected, "{request}");
    }
}

/// What is said of a document that cannot be.
#[track_caller]
pub fn check_refused(document: &str, expected: &str) {
    assert_eq!(
        Site::read(document).err().as_deref(),
        Some(expected),
        "{document}"
    );
}
