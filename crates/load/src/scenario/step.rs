//! One `[[scenario.step]]`: from the document to what a user does.

use std::time::Duration;

use super::capture;
use super::document::{Builder, FieldNode};
use super::expect;
use super::plan::{Numbered, Resource, Step};
use super::reader::{Node, Table};
use crate::request::{Content, Draft, Fault, Message, Part};
use crate::template::Names;
use crate::units::duration;

/// The longest think time.
pub const THINK_MAX: Duration = Duration::from_hours(1);
/// The most redirects that may be followed for one request.
pub const REDIRECTS_MAX: u8 = 20;
/// The most resources of one step.
pub const RESOURCES_MAX: usize = 1000;

/// The keys of a step.
const KEYS: [&str; 10] = [
    "name",
    "request",
    "fields",
    "content",
    "content_file",
    "form",
    "think",
    "capture",
    "expect",
    "resources",
];

/// What a step has from its scenario.
pub(super) struct Around<'a> {
    /// What stands before the name of the step, if there are several scenarios.
    pub(super) prefix: String,
    /// Fields of the scenario.
    pub(super) fields: Vec<FieldNode<'a>>,
    /// What has been captured by the steps before.
    pub(super) captured: Vec<String>,
}

impl<'t> Builder<'_, '_, 't> {
    /// Reads a step and adds what it captures to `around`.
    pub(super) fn step(&mut self, node: Node<'t>, around: &mut Around<'t>) -> Option<Step> {
        let table = self.reader.table(node, "a step", &KEYS)?;
        let Some(request) = table.get("request") else {
            let message = "a step has no request; expected request = \"GET /path\"";
            self.reader.wrong(&table.span, message);
            return None;
        };
        let line = self.reader.text(request, "request")?;
        let own = table.get("name");
        let own = own.and_then(|node| self.reader.text(node, "name"));
        let name = format!("{}{}", around.prefix, own.unwrap_or(line));
        let number = self.new_step(&name);

        let content = self.content(&table);
        let fields = self.fields(&table, around);
        let message = self.message(request, &fields, content, &around.captured);
        let rules = expect::read(&mut self.reader, table.get("expect"));
        let expects = rules.into_iter().map(|what| Numbered {
            assertion: self.new_assertion(what.name()),
            what,
        });
        let expects = expects.collect();
        let captures = self.captures(&table, around);
        let resources = self.resources(&table, &fields, around);
        let resource = self.resource_numbers(&name, resources.len());
        let think = self.think(&table);
        let (message, followed) = message?;
        Some(Step {
            number,
            message,
            followed,
            own_cookies: fields.iter().any(|field| field.is_named("cookie")),
            expects,
            captures,
            redirect: self.new_assertion("redirects end on this host"),
            resources,
            resource,
            think,
        })
    }

    fn captures(
        &mut self,
        table: &Table<'t>,
        around: &mut Around<'t>,
    ) -> Vec<Numbered<(usize, capture::Capture)>> {
        let Some(node) = table.get("capture") else {
            return Vec::new();
        };
        let mut captures = Vec::new();
        for capture in capture::read(&mut self.reader, node) {
            let known = around
                .captured
                .iter()
                .position(|known| *known == capture.name);
            let slot = known.unwrap_or_else(|| {
                around.captured.push(capture.name.clone());
                around.captured.len() - 1
            });
            let assertion = self.new_assertion(format!("capture {}", capture.name));
            let what = (slot, capture);
            captures.push(Numbered { assertion, what });
        }
        captures
    }

    /// The one of `content`, `content_file` and `form` that is there, with its place.
    fn content(&mut self, table: &Table<'t>) -> (Content, Option<Node<'t>>) {
        let keys = ["content", "content_file", "form"];
        let nodes = keys.iter().filter_map(|key| Some((*key, table.get(key)?)));
        let nodes: Vec<_> = nodes.collect();
        let Some((key, node)) = nodes.first().copied() else {
            return (Content::None, None);
        };
        if let Some((_, second)) = nodes.get(1) {
            let message = "a step has one of content, content_file and form";
            self.reader.wrong(&second.span(), message);
        }
        let content = match key {
            "form" => Content::Form(
                self.reader
                    .pairs(node, "form")
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), text_of(value)))
                    .collect(),
            ),
            "content" => Content::Text(
                self.reader
                    .text(node, "content")
                    .unwrap_or_default()
                    .to_owned(),
            ),
            _ => {
                let name = self.reader.text(node, "content_file").unwrap_or_default();
                Content::Bytes(self.read_file(node, name))
            }
        };
        (content, Some(node))
    }

    /// The fields of a step: those of the command line, of the scenario, and its own, the later hiding the earlier.
    fn fields(&mut self, table: &Table<'t>, around: &Around<'t>) -> Vec<FieldNode<'t>> {
        let own = table.get("fields");
        let own = own.map_or(Vec::new(), |node| self.field_nodes(node));
        let hides = |near: &[FieldNode<'t>], far: &FieldNode<'t>| {
            near.iter().any(|field| field.is_named(&far.name))
        };
        let mut fields: Vec<FieldNode<'t>> = around.fields.clone();
        fields.retain(|field| !hides(&own, field));
        fields.extend(own);
        let mut common = self.common_fields();
        common.retain(|field| !hides(&fields, field));
        common.extend(fields);
        common
    }

    /// The request of a step, and the one that follows its redirects.
    fn message(
        &mut self,
        request: Node<'t>,
        fields: &[FieldNode<'t>],
        (content, content_node): (Content, Option<Node<'t>>),
        captured: &[String],
    ) -> Option<(Message, Message)> {
        let line = request.get_ref().as_str().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (method, target) = match words[..] {
            [target] => ("", target),
            [method, target] => (method, target),
            _ => {
                let message = "expected a method and a target, as in \"GET /path\"";
                self.reader.wrong(&request.span(), message);
                return None;
            }
        };
        let mut draft = self.draft(request, target)?;
        method.clone_into(&mut draft.method);
        draft.content = content;
        draft.fields = fields.iter().map(FieldNode::pair).collect();
        let columns = self.columns.clone();
        let names = Names {
            columns: &columns,
            captures: captured,
        };
        match draft.compile(&names) {
            Ok(message) => {
                let followed = follow(&draft).compile(&names).ok()?;
                Some((message, followed))
            }
            Err(faults) => {
                for fault in faults {
                    let offset = fault.offset;
                    let node = match fault.part {
                        Part::Target => {
                            let before = line.find(&draft.target).unwrap_or(0);
                            let message = fault.message;
                            self.reader.wrong_inside(request, before + offset, message);
                            continue;
                        }
                        Part::Field(number) => fields[number].node,
                        Part::Content => content_node,
                        Part::Method | Part::Host => None,
                    };
                    self.fault(node.unwrap_or(request), fault);
                }
                None
            }
        }
    }

    fn fault(&mut self, node: Node<'t>, fault: Fault) {
        match node.get_ref().as_str() {
            Some(_) if fault.offset > 0 => {
                self.reader.wrong_inside(node, fault.offset, fault.message);
            }
            _ => self.reader.wrong(&node.span(), fault.message),
        }
    }

    fn resources(
        &mut self,
        table: &Table<'t>,
        fields: &[FieldNode<'t>],
        around: &Around<'t>,
    ) -> Vec<Message> {
        let Some(list) = table.get("resources") else {
            return Vec::new();
        };
        let nodes = self.reader.array(list, "resources");
        if nodes.len() > RESOURCES_MAX {
            let message = format!("{} resources, at most {RESOURCES_MAX}", nodes.len());
            self.reader.wrong(&list.span(), message);
        }
        // What describes the content of the page's request is no business of theirs.
        let fields: Vec<FieldNode<'t>> = fields
            .iter()
            .filter(|field| !describes_content(&field.name))
            .cloned()
            .collect();
        let mut messages = Vec::new();
        for node in nodes {
            if self.reader.text(node, "a resource").is_some() {
                let none = (Content::None, None);
                let message = self.message(node, &fields, none, &around.captured);
                messages.extend(message.map(|(message, _)| message));
            }
        }
        messages
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

    /// `"2s"` or `"1s..3s"`.
    fn think(&mut self, table: &Table<'t>) -> (Duration, Duration) {
        let Some(node) = table.get("think") else {
            return (Duration::ZERO, Duration::ZERO);
        };
        let text = self.reader.text(node, "think").unwrap_or("0");
        let times = match text.split_once("..") {
            Some((from, to)) => duration(from.trim()).zip(duration(to.trim())),
            None => duration(text).map(|time| (time, time)),
        };
        let times = times.filter(|(from, to)| from <= to && *to <= THINK_MAX);
        times.unwrap_or_else(|| {
            let message = format!(
                "\"{text}\" is no think time; expected one such as \"2s\" or \"500ms..3s\", at most {} s",
                THINK_MAX.as_secs()
            );
            self.reader.wrong(&node.span(), message);
            (Duration::ZERO, Duration::ZERO)
        })
    }
}

/// What browsers ask for where a redirect does not ask for the same again.
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

fn text_of(node: Node<'_>) -> String {
    node.get_ref().as_str().unwrap_or_default().to_owned()
}
