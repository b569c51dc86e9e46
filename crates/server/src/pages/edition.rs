//! One version of a page: compiled, checked, and valid until a file changes.

use crate::pages::checks::{Checked, problems};
use crate::pages::folder::{TemplateFolder, Witness};
use crate::pages::limits::NESTING_MAX;
use crate::pages::moment;
use crate::pages::options::{Mode, PageOptions};
use crate::pages::problem::PageProblem;
use crate::pages::scope::Uses;
use crate::pages::sized;
use crate::pages::sources::Sources;
use crate::pages::target::is_link;
use crate::response::Head;
use bytes::Bytes;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use vervet_http::field::Known;
use vervet_http::media_type;
use vervet_http::status::Status;
use vervet_http::text::write_html;

/// The media type of a page without a known extension.
const MEDIA_TYPE: &str = "text/html; charset=utf-8";

/// Extensions of templates, which do not determine the media type.
const TEMPLATE_EXTENSIONS: &[&str] = &[".j2", ".jinja", ".jinja2"];

/// Failures of one edition that are reported; more are only counted.
const TOLD_MAX: usize = 32;

/// A compiled page.
pub(crate) struct Edition {
    pub(crate) environment: Environment<'static>,
    pub(crate) uses: Uses,
    /// The head of a plain answer: 200 with the fields that every page has.
    pub(crate) head: Bytes,
    pub(crate) media_type: &'static str,
    /// The states of templates that were named by expressions.
    pub(crate) found: Arc<Mutex<Vec<Witness>>>,
    told: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for Edition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Edition").field("uses", &self.uses).finish_non_exhaustive()
    }
}

impl Edition {
    /// Compiles the page of `options` from its sources, or returns all its problems.
    pub(crate) fn compile(
        options: &PageOptions,
        folder: &Arc<TemplateFolder>,
        sources: &Sources,
    ) -> Result<Self, Vec<PageProblem>> {
        if !sources.problems.is_empty() {
            return Err(sources.problems.clone());
        }
        let mut environment = base(options);
        for (name, text) in &sources.texts {
            let added = environment.add_template_owned(name.clone(), text.clone());
            added.map_err(|error| vec![problem_of(&error, folder, sources)])?;
        }
        let checked =
            Checked { folder, sources, environment: &environment, parameters: &options.parameters };
        let problems = problems(checked, &options.template);
        if !problems.is_empty() {
            return Err(problems);
        }
        let found = Arc::default();
        let has_open = sources.outlines.values().any(|outline| outline.has_open_references);
        if has_open {
            set_loader(&mut environment, Arc::clone(folder), Arc::clone(&found));
        }
        let media_type = media_type_of(&options.template);
        Ok(Self {
            environment,
            uses: if has_open { Uses::ALL } else { uses_of(options, sources) },
            head: plain_head(&options.server, media_type),
            media_type,
            found,
            told: Mutex::default(),
        })
    }

    /// Whether a failure was not reported before, so that a page that always fails does not fill
    /// the log.
    pub(crate) fn is_news(&self, failure: String) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < TOLD_MAX && told.insert(failure)
    }
}

fn problem_of(error: &Error, folder: &TemplateFolder, sources: &Sources) -> PageProblem {
    PageProblem::from_error(error, &folder.path, |name| sources.texts.get(name).map(String::as_str))
}

/// The template engine with our escaping, filters and limits, without templates.
fn base(options: &PageOptions) -> Environment<'static> {
    let mut environment = Environment::new();
    // Captured markup, such as the result of a macro, counts as markup in templates of every name.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, _, value| write_value(out, value));
    environment.set_auto_reload(false);
    environment.set_fuel(Some(options.limits.steps_max));
    environment.set_recursion_limit(NESTING_MAX);
    environment.set_debug(options.mode == Mode::Development);
    sized::add(&mut environment);
    environment.add_filter("date", moment::date);
    environment.add_filter("link", link);
    environment
}

/// The filter `link`: a URL that may stand in `href`, and nothing where it would run a script.
fn link(value: &Value) -> Value {
    match value.as_str() {
        Some(url) if is_link(url) => value.clone(),
        _ => Value::from("about:invalid"),
    }
}

/// Templates that are named by expressions are read when they are asked for.
fn set_loader(
    environment: &mut Environment<'static>,
    folder: Arc<TemplateFolder>,
    found: Arc<Mutex<Vec<Witness>>>,
) {
    environment.set_loader(move |name| {
        let (witness, text) = folder.read(name);
        let text = text.map_err(|wrong| Error::new(ErrorKind::TemplateNotFound, wrong))?;
        // Kept for what is kept alone: a name that nothing has, which visitors can make up, is
        // looked up each time.
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if !found.contains(&witness) {
            found.push(witness);
        }
        Ok(Some(text))
    });
}

fn uses_of(options: &PageOptions, sources: &Sources) -> Uses {
    let mut uses = Uses::default();
    let names = sources.outlines.values().flat_map(|outline| &outline.used);
    names.for_each(|name| uses.add_name(name));
    for parameter in &*options.parameters {
        uses.add_source(parameter.from);
    }
    uses
}

fn media_type_of(template: &str) -> &'static str {
    let plain = TEMPLATE_EXTENSIONS.iter().find_map(|extension| template.strip_suffix(extension));
    let name = plain.unwrap_or(template);
    media_type::by_file_name(name.as_bytes()).unwrap_or(MEDIA_TYPE)
}

fn plain_head(server: &str, media_type: &str) -> Bytes {
    let mut head = Head::new(Status::OK, server);
    head.field(Known::ContentType, media_type.as_bytes());
    head.field(Known::CacheControl, b"no-store");
    Bytes::from(head.into_bytes())
}

/// Writes a value as a page shows it, the one way by which a value gets into a page: escaped for
/// HTML, in text and in quoted attributes, always. It does not ask for the name of the template or
/// for `autoescape`: only what a page marks with `|safe`, and markup that a template itself has
/// captured (`set` blocks, macros), goes in as it is. What is undefined or none shows as nothing.
fn write_value(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        return Ok(if value.is_safe() { out.write_str(text) } else { write_html(out, text) }?);
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(()),
        ValueKind::Number | ValueKind::Bool => Ok(write!(out, "{value}")?),
        ValueKind::Invalid => Err(Error::new(ErrorKind::InvalidOperation, value.to_string())),
        _ => Ok(write_html(out, &value.to_string())?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_follow_the_name() {
        for (name, expected) in [
            ("a.html", "text/html; charset=utf-8"),
            ("a.html.j2", "text/html; charset=utf-8"),
            ("feeds/a.json.jinja", "application/json"),
            ("a.txt", "text/plain; charset=utf-8"),
            ("a.svg", "image/svg+xml"),
            ("a", "text/html; charset=utf-8"),
            ("a.unknown", "text/html; charset=utf-8"),
        ] {
            assert_eq!(media_type_of(name), expected, "{name}");
        }
    }
}
