//! The requests of a step, its captures and its assertions, compiled.

use vervet_config::{Diagnostic, Setting, Span, cited};

use super::capture::Capture;
use super::compile::{CAPTURES_MAX, Compiler, Field, Surroundings};
use super::document::{RequestLine, StepSection};
use super::expect;
use super::plan::{Numbered, Resource, Step};
use crate::request::{Content, Draft, DraftPart, Message, Url};
use crate::template::{Names, is_name};

/// The most resources of one step.
pub const RESOURCES_MAX: usize = 1000;

/// The body of a request, with its place.
struct Body {
    content: Content,
    span: Option<Span>,
}

impl Compiler<'_, '_, '_> {
    /// Compiles a step and adds what it captures to `around`.
    pub(super) fn step(&mut self, step: &StepSection, around: &mut Surroundings) -> Option<Step> {
        let own = step.name.value().as_ref();
        let own = own.map_or(step.request.line(), |name| &**name);
        let name = format!("{}{own}", around.prefix);
        let number = self.new_step(&name);

        let body = self.body(step);
        let fields = self.fields(&around.fields, &step.fields);
        let message = self.message(&step.request, &fields, body, &around.captured);
        let rules = expect::rules(&step.expect, &mut self.found).into_iter();
        let expects =
            rules.map(|what| Numbered { assertion: self.new_assertion(what.name()), what });
        let expects = expects.collect();
        let captures = self.captures(step, &mut around.captured);
        let resources = self.resources(step, &fields, &around.captured);
        let resource = self.resource_numbers(&name, resources.len());
        let (message, followed) = message?;
        Some(Step {
            number,
            message,
            followed,
            own_cookies: fields.iter().any(|field| field.is_named("cookie")),
            expects,
            captures,
            redirect: self.new_assertion("redirects stay on this host"),
            resources,
            resource,
            think: *step.think,
        })
    }

    fn captures(
        &mut self,
        step: &StepSection,
        captured: &mut Vec<String>,
    ) -> Vec<Numbered<(usize, Capture)>> {
        let mut compiled = Vec::new();
        if captured.len() + step.capture.len() > CAPTURES_MAX {
            let message = format!("the scenario captures more than {CAPTURES_MAX} values");
            self.wrong(step.capture.span(), message);
            return compiled;
        }
        for (name, section) in step.capture.iter() {
            if !is_name(name) {
                let message = format!("`{}` is not a valid variable name", cited(name));
                let problem = Diagnostic::error(name.span(), message);
                let expected = "letters, digits, `_` and `-`, beginning with a letter";
                self.found.push(problem.expected(expected));
            }
            let known = captured.iter().position(|known| known == name.value());
            let slot = known.unwrap_or_else(|| {
                captured.push(name.to_string());
                captured.len() - 1
            });
            if let Some(capture) = Capture::compile(section, &mut self.found) {
                compiled.push(Numbered {
                    assertion: self.new_assertion(format!("capture {}", **name)),
                    what: (slot, capture),
                });
            }
        }
        compiled
    }

    /// The body: `content`, `content_file` or `form`.
    fn body(&mut self, step: &StepSection) -> Body {
        let (text, file, form) = (&step.content, &step.content_file, &step.form);
        let mut spans = Vec::new();
        let mut body = Content::None;
        if let Some(text) = text.value() {
            spans.push(step.content.span());
            body = Content::Text(text.to_string());
        }
        if let Some(name) = file.value() {
            spans.push(file.span());
            let name = file.clone().map(|_| name.clone());
            body = Content::Bytes(self.file(&name).unwrap_or_default());
        }
        if let Some(pairs) = form.value() {
            spans.push(form.span());
            let pairs = pairs.iter();
            let pairs = pairs.map(|(name, value)| (name.to_string(), value.to_string()));
            body = Content::Form(pairs.collect());
        }
        spans.sort();
        if let [_, second, ..] = spans[..] {
            let problem = Diagnostic::error(second, "the step has two bodies");
            let expected = "only one of `content`, `content_file` and `form`";
            self.found.push(problem.expected(expected));
        }
        Body { content: body, span: spans.first().copied() }
    }

    /// A request, and the one that follows its redirects.
    fn message(
        &mut self,
        request: &Setting<RequestLine>,
        fields: &[Field],
        body: Body,
        captured: &[String],
    ) -> Option<(Message, Message)> {
        let (method, target) = request.method_and_target();
        let mut draft = self.draft(request.span(), target)?;
        method.clone_into(&mut draft.method);
        draft.content = body.content;
        let pairs = fields.iter();
        draft.fields = pairs.map(|field| (field.name.clone(), field.value.clone())).collect();
        let columns = std::mem::take(&mut self.columns);
        let names = Names { columns: &columns, captures: captured };
        let compiled = draft
            .compile(&names)
            .and_then(|message| Ok((message, follow(&draft).compile(&names)?)));
        self.columns = columns;
        let faults = match compiled {
            Ok(messages) => return Some(messages),
            Err(faults) => faults,
        };
        for mut fault in faults {
            let (span, text) = match fault.part {
                DraftPart::Target => {
                    fault.offset += request.line().find(&draft.target).unwrap_or(0);
                    (Some(request.span()), request.line())
                }
                DraftPart::Field(number) => (fields[number].span, fields[number].value.trim()),
                DraftPart::Content => match &draft.content {
                    Content::Text(text) => (body.span, text.as_str()),
                    _ => (body.span, ""),
                },
                DraftPart::Method | DraftPart::Host => (None, ""),
            };
            match span {
                Some(span) => self.wrong_inside(span, text, fault),
                None => self.wrong(request.span(), fault.message),
            }
        }
        None
    }

    /// A request for a target; `None`, and a finding, if it is on another host.
    fn draft(&mut self, span: Span, target: &str) -> Option<Draft> {
        // Without a server, which has been reported, all else can still be checked.
        let base = self.base.clone();
        let base = base.or_else(|| Url::parse("http://localhost").ok())?;
        let is_whole = target.contains("://") || target.starts_with("unix:");
        if !(is_whole || target.starts_with('/') || target == "*") {
            let message = format!("the target `{}` does not begin with a slash", cited(target));
            self.wrong(span, message);
            return None;
        }
        let message = match base.join(target) {
            Ok(url) if self.base.is_none() || base.has_same_origin(&url) => {
                let mut draft = Draft::get(&url);
                let common = self.common.credentials.cloned();
                draft.credentials = draft.credentials.or(common);
                draft.framing = self.common.framing;
                return Some(draft);
            }
            Ok(url) => format!("{} is not {}: a run has one target host", url.host, base.host),
            Err(error) => error.to_string(),
        };
        self.wrong(span, message);
        None
    }

    fn resources(
        &mut self,
        step: &StepSection,
        fields: &[Field],
        captured: &[String],
    ) -> Vec<Message> {
        let resources = &step.resources;
        if resources.len() > RESOURCES_MAX {
            let message = format!("{} resources, at most {RESOURCES_MAX}", resources.len());
            self.wrong(resources.span(), message);
        }
        // Fields that describe the body of the page's request do not apply to them.
        let fields = fields.iter().filter(|it| !describes_content(&it.name));
        let fields: Vec<Field> = fields.cloned().collect();
        let messages = resources.iter().filter_map(|request| {
            let none = Body { content: Content::None, span: None };
            let messages = self.message(request, &fields, none, captured);
            messages.map(|(message, _)| message)
        });
        messages.collect()
    }

    fn resource_numbers(&mut self, name: &str, resources: usize) -> Resource {
        if resources == 0 {
            return Resource::default();
        }
        let name = format!("{name}: resources");
        Resource {
            step: self.new_step(&name),
            assertion: self.new_assertion("status is 200 to 399"),
        }
    }
}

/// The request after a redirect that changes the method to GET.
fn follow(draft: &Draft) -> Draft {
    let mut draft = draft.clone();
    "GET".clone_into(&mut draft.method);
    draft.content = Content::None;
    draft.fields.retain(|(name, _)| !describes_content(name));
    draft
}

fn describes_content(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("content-") || name == "transfer-encoding"
}
