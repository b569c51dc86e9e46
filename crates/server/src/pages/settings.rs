//! `page = "hello.html"`: the directives of a page.

use std::path::PathBuf;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Named, Path, Size, Time, section};
use vervet_engine::reactor::Now;

use crate::actions::{ActionDirective, OpenAction};
use crate::caches::Caches;
use crate::error_log::ProblemLog;
use crate::files::root::Symlinks;
use crate::matching::Offer;
use crate::pages::handler::PageAction;
use crate::pages::limits::PageLimits;
use crate::pages::options::{Mode, PageOptions};
use crate::pages::page::{Page, PageError};
use crate::pages::parameter_settings::ParameterSettings;
use crate::pages::parameters::BadParameter;
use crate::resources::{Needs, Opened, Resources};

section! {
    /// Renders a template for each request. See `docs/pages.md` for the template language and the
    /// available variables.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/hello"
    /// page = "pages/hello.html"
    ///
    /// [[site.route]]
    /// path = "/orders/:id(integer)"
    /// page = { template = "pages/order.html", folder = "pages", parameters = { id = "integer" } }
    /// ```
    pub struct PageSettings short(template) {
        /// The template file. Its extension determines the media type.
        pub template: Path,
        /// The folder that all templates must be in; if not set, that of `template`. Included and
        /// extended templates are named by their paths relative to it.
        pub folder: Option<Path>,
        /// Parameters that clients may send, by name; templates use them as variables. A request
        /// with an invalid value gets 400.
        pub parameters: Named<ParameterSettings>,
        /// How changes and errors of templates are handled.
        pub mode: Mode = "production",
        /// Whether templates may be symbolic links.
        pub symlinks: Symlinks = "refuse",
        /// Maximum number of template engine steps per request; above it, the response is 500.
        pub steps_max: u64 = 1000000 in 1000..=1000000000,
        /// Maximum size of the page; above it, the response is 500.
        pub output_bytes_max: Size = "8MiB" in "1KiB"..="256MiB",
        /// Maximum CPU time per request, checked while the page is written; above it, the response
        /// is 500.
        pub time_max: Time = "500ms" in "10ms"..="60s",
        /// Maximum size of a form; larger ones get 413.
        pub form_bytes_max: Size = "1MiB" in "1KiB"..="64MiB",
    }
}

/// The settings that all pages of a server share.
#[derive(Debug, Clone, Copy)]
pub struct PageSetup<'s> {
    /// The value of the Server field.
    pub server: &'s str,
    /// The log for problems while the server runs.
    pub journal: &'s Arc<dyn ProblemLog>,
    /// The counters of all caches.
    pub caches: &'s Caches,
    /// The time when the pages are opened.
    pub now: Now,
}

impl ActionDirective for PageSettings {
    fn needs(&self, needs: &mut Needs) {
        if let Some(folder) = self.folder.value() {
            needs.read(folder, self.folder.span());
        } else if let Some(folder) = self.template.parent() {
            needs.read(&self.template, self.template.span());
            needs.read(folder, self.template.span());
        }
    }

    /// The page of the last plan where its section is the same, unless it has problems now: then
    /// all are reported.
    fn open(&self, _: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        let journal: Arc<dyn ProblemLog> = Arc::new(resources.error_log.clone());
        let setup = PageSetup {
            server: resources.server,
            journal: &journal,
            caches: resources.pool.caches(),
            now: resources.now,
        };
        let open = || self.action(setup).map_err(Diagnostics::from_iter);
        let section = (self.clone(), resources.server.to_owned());
        let kept: Arc<PageAction> = resources.keeper.keep("page", &section, open)?;
        if !kept.page().problems_now(setup.now).is_empty() {
            open()?;
        }
        Ok(OpenAction::Answer(kept))
    }
}

impl PageSettings {
    /// The options of the page, or all that is wrong with the directives. No file is looked at.
    pub fn options(&self, setup: PageSetup<'_>) -> Result<PageOptions, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let place = self.place().map_err(|problem| found.push(problem));
        let mut parameters = Vec::new();
        for (name, settings) in self.parameters.iter() {
            match settings.parameter(name) {
                Ok(parameter) => parameters.push(parameter),
                Err(problems) => found.extend(problems),
            }
        }
        let (Ok((folder, template)), true) = (place, found.is_empty()) else {
            return Err(found);
        };
        Ok(PageOptions {
            parameters: parameters.into(),
            symlinks: *self.symlinks,
            mode: *self.mode,
            limits: self.limits(),
            server: setup.server.to_owned(),
            journal: Arc::clone(setup.journal),
            caches: setup.caches.clone(),
            ..PageOptions::new(folder, template)
        })
    }

    /// The action. Templates are read; each of their problems is an error at the directive that
    /// names the page.
    pub fn action(&self, setup: PageSetup<'_>) -> Result<PageAction, Vec<Diagnostic>> {
        let options = self.options(setup)?;
        let page = Page::new(options, setup.now).map_err(|error| vec![self.refusal(&error)])?;
        let problems = page.problems();
        if problems.is_empty() {
            return Ok(PageAction::new(page));
        }
        let found = problems.iter().map(|problem| {
            let mut diagnostic = Diagnostic::error(self.template.span(), problem.to_string());
            for (number, text) in &problem.excerpt {
                if *number == problem.line {
                    diagnostic = diagnostic.note(format!("line {number}: {}", text.trim()));
                }
            }
            diagnostic
        });
        Err(found.collect())
    }

    /// The folder, and the path of the template relative to it.
    fn place(&self) -> Result<(PathBuf, String), Diagnostic> {
        let template: &std::path::Path = &self.template;
        let (folder, name) = if let Some(folder) = self.folder.value() {
            (folder.to_path_buf(), template.strip_prefix(folder).ok())
        } else {
            let parent = template.parent().filter(|parent| *parent != "");
            let here = parent.unwrap_or(std::path::Path::new("."));
            let name = template.file_name().map(std::path::Path::new);
            (here.to_owned(), name)
        };
        let Some(name) = name else {
            let text = format!("{} is not in the template folder", template.display());
            return Err(Diagnostic::error(self.template.span(), text)
                .note_at(self.folder.span(), "the template folder"));
        };
        let name = name.to_str().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            let text =
                "the path of a template must be UTF-8 and name a file in the template folder";
            Diagnostic::error(self.template.span(), text)
        })?;
        Ok((folder, name.to_owned()))
    }

    fn limits(&self) -> PageLimits {
        let bytes = |size: Size| usize::try_from(size.bytes()).unwrap_or(usize::MAX);
        PageLimits {
            steps_max: *self.steps_max,
            output_bytes_max: bytes(*self.output_bytes_max),
            time_max: **self.time_max,
            form_bytes_max: self.form_bytes_max.bytes(),
        }
    }

    /// The finding for an invalid parameter.
    fn refusal(&self, error: &PageError) -> Diagnostic {
        let (PageError::Name(name) | PageError::Default(BadParameter { name, .. })) = error;
        let mut named = self.parameters.iter().filter(|(own, _)| own.as_str() == name);
        let span = match (named.next(), error) {
            (Some((_, settings)), PageError::Default(_)) => settings.default.span(),
            (Some((own, _)), PageError::Name(_)) => own.span(),
            (None, _) => self.parameters.span(),
        };
        Diagnostic::error(span, error.to_string())
    }
}
