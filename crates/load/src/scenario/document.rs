//! The sections of a scenario file, read by `vervet_config`. `compile` turns them into what users
//! do.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use serde_json::Value as Json;
use vervet_config::{
    FromConfig, FromText, Named, Node, Reader, Setting, Shape, Shown, TextShape, Value,
};

use crate::check::StatusSet;
use crate::feed::Order;
use crate::units::duration;

/// The longest think time.
pub const THINK_MAX: Duration = Duration::from_hours(1);

/// Names with texts, such as the header fields of a request.
pub(super) type Pairs = Named<Setting<Verbatim>>;

vervet_config::section! {
    /// A scenario file: the requests that each kind of user sends, step by step. `vervet load
    /// --scenario FILE` runs it.
    ///
    /// `{name}` in a text is replaced by the value of a variable; environment variables (`${NAME}`)
    /// are not expanded.
    pub struct Document {
        /// URL of the server, such as `http://127.0.0.1:8080`. A URL on the command line takes
        /// precedence.
        pub base: Option<Verbatim>,
        /// CSV file with values for variables. An error if the command line has `--feed`, too.
        pub feed: Option<FeedSection>,
        /// Header fields of all requests, such as `{ Accept = "text/html" }`.
        pub fields: Pairs,
        /// The scenarios, one per kind of user: 1 to 100.
        pub scenario: Vec<Setting<ScenarioSection>>,
    }
}

vervet_config::section! {
    /// A CSV file whose first line names its columns. Each visit takes the next row; `{NAME}` in a
    /// text is replaced by the value in the column `NAME`.
    pub struct FeedSection {
        /// Path of the file, relative to the scenario file.
        pub file: Verbatim,
        /// Order in which rows are used.
        pub order: Order = "sequential",
    }
}

vervet_config::section! {
    /// What one kind of user does. A visit runs all steps in order; then the user starts a new
    /// visit.
    pub struct ScenarioSection in part {
        /// Prefix for the names of its steps in the report, if there are several scenarios
        /// [default: its number].
        pub name: Option<Verbatim>,
        /// Share of visits, relative to the weights of the other scenarios.
        pub weight: u32 = 1 in 1..=10000,
        /// How long cookies are kept.
        pub cookies: Cookies = "visit",
        /// Maximum number of redirects to follow per request; 0 follows none.
        pub redirects: u8 = 0 in 0..=20,
        /// Header fields of all requests of this kind. They replace those of the same name at the
        /// top level.
        pub fields: Pairs,
        /// The steps of a visit, at least one.
        pub step: Vec<Setting<StepSection>>,
    }
}

vervet_config::words! {
    /// How long cookies are kept.
    pub enum Cookies {
        /// Until the visit ends; the next visit starts without cookies.
        Visit = "visit",
        /// For the lifetime of the user.
        User = "user",
        /// Cookies are ignored.
        None = "none",
    }
}

vervet_config::section! {
    /// One request of a visit, with assertions on its response.
    pub struct StepSection in part {
        /// Method and target. Without a method, GET, or POST if the step has a body.
        pub request: RequestLine,
        /// Name in the report [default: the request].
        pub name: Option<Verbatim>,
        /// Header fields, such as `{ Accept = "text/html" }`. They replace those of the same name
        /// in the scenario and at the top level.
        pub fields: Pairs,
        /// Request body: a text with variables.
        pub content: Option<Verbatim>,
        /// Request body: a file, sent unchanged; relative to the scenario file.
        pub content_file: Option<Verbatim>,
        /// Request body: an HTML form, such as `{ user = "ann", password = "secret" }`.
        pub form: Option<Pairs>,
        /// Assertions on the response.
        pub expect: ExpectSection,
        /// Values to take from the response for later steps, by name.
        pub capture: Named<Setting<CaptureSection>>,
        /// Targets to request after the response, one after the other, such as the images of a
        /// page; at most 1000.
        pub resources: Vec<Setting<RequestLine>>,
        /// Think time before the next step: a time, or a range to draw a random time from; at most
        /// one hour.
        pub think: Think = "0s",
    }
}

vervet_config::section! {
    /// Assertions on a response. The first one that fails makes the request fail and ends the
    /// visit.
    pub struct ExpectSection in part {
        /// Expected status codes: `200`, `"2xx"`, `"200-204"`, or a list of them; 200 to 399 if not
        /// set.
        pub status: Option<StatusSet>,
        /// Texts that the response body must contain.
        pub contains: Vec<Setting<Verbatim>>,
        /// Texts that the response body must not contain.
        pub lacks: Vec<Setting<Verbatim>>,
        /// Headers that the response must have.
        pub field: Vec<Setting<Verbatim>>,
        /// JSON pointers (RFC 6901) and the expected value of each, such as `{ "/user/name" = "ann"
        /// }`.
        pub json: Named<Setting<JsonScalar>>,
        /// Length of the response body in bytes.
        pub bytes: Option<u64>,
    }
}

vervet_config::section! {
    /// Source of a captured value: `field`, `regex`, `field` and `regex`, or `json`. If nothing
    /// matches, the step fails.
    pub struct CaptureSection in part {
        /// Regular expression; the value is its first group, or the whole match if it has no group.
        pub regex: Option<Verbatim>,
        /// Name of a response header.
        pub field: Option<Verbatim>,
        /// JSON pointer (RFC 6901) into the response body.
        pub json: Option<Verbatim>,
    }
}

/// Text without expansion of `${NAME}`, unlike [`vervet_config::Text`]: in a template that is a
/// dollar sign and a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verbatim(String);

impl Deref for Verbatim {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromConfig for Verbatim {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        verbatim(node, reader, &Self::shape()).map(|text| Self(text.to_owned()))
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.clone())
    }
}

fn verbatim<'n>(node: &'n Node, reader: &mut Reader<'_>, shape: &Shape) -> Option<&'n str> {
    if let Value::Text(text) = &node.value {
        return Some(text);
    }
    reader.mismatch(node, shape);
    None
}

/// A method and a target as written; the method may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine(String);

impl RequestLine {
    /// The whole line.
    pub(super) fn line(&self) -> &str {
        &self.0
    }

    /// The method, empty if it is missing, and the target.
    pub(super) fn method_and_target(&self) -> (&str, &str) {
        let mut words = self.0.split_whitespace();
        match (words.next(), words.next()) {
            (Some(method), Some(target)) => (method, target),
            (target, _) => ("", target.unwrap_or_default()),
        }
    }
}

impl FromConfig for RequestLine {
    fn shape() -> Shape {
        Shape::Text(TextShape { noun: "method and target", example: "GET /path", pattern: None })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = verbatim(node, reader, &Self::shape())?;
        let words = text.split_whitespace().count();
        if !(1..=2).contains(&words) {
            let reason = format!("has {words} words");
            reader.refuse(node, &Self::shape(), &reason);
            return None;
        }
        Some(Self(text.to_owned()))
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.clone())
    }
}

/// A range of times, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// The minimum of the think time.
    pub from: Duration,
    /// The maximum of the think time.
    pub to: Duration,
}

impl FromText for Think {
    const SHAPE: TextShape =
        TextShape { noun: "time or range of times", example: "500ms..3s", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (duration(from.trim())?, duration(to.trim())?);
        if from > to {
            return Err("it ends before it begins".to_owned());
        }
        if to > THINK_MAX {
            return Err(format!("it is longer than {} s", THINK_MAX.as_secs()));
        }
        Ok(Self { from, to })
    }
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..{:?}", self.from, self.to)
    }
}

/// A JSON value without structure.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonScalar(pub(super) Json);

impl FromConfig for JsonScalar {
    fn shape() -> Shape {
        Shape::Either(vec![Verbatim::shape(), Shape::Number, Shape::Boolean])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let value = match &node.value {
            Value::Text(text) => Some(Json::from(text.as_str())),
            Value::Boolean(value) => Some(Json::from(*value)),
            Value::Integer(number) => i64::try_from(*number).ok().map(Json::from),
            Value::Number(number) => Some(Json::from(*number)),
            _ => None,
        };
        if value.is_none() {
            reader.mismatch(node, &Self::shape());
        }
        value.map(Self)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.to_string())
    }
}

impl FromConfig for StatusSet {
    fn shape() -> Shape {
        let range = TextShape { noun: "range of statuses", example: "2xx", pattern: None };
        let status = Shape::Integer { min: 200, max: 599 };
        Shape::List(Box::new(Shape::Either(vec![status, Shape::Text(range)])))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let nodes = node.elements().unwrap_or(std::slice::from_ref(node));
        let texts = nodes.iter().map(|node| match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            _ => String::new(),
        });
        let set = Self::parse(&texts.collect::<Vec<_>>().join(","));
        if set.is_none() {
            reader.refuse(node, &Self::shape(), "is not a set of status codes");
        }
        set
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}
