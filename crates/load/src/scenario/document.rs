//! The document as a whole: the server, the feed, and each kind of user.

use std::str::FromStr as _;
use std::sync::Arc;

use toml::de::DeTable;

use super::plan::{Cookies, Kind, Plan, Scenario};
use super::reader::{Node, Reader, Table};
use super::step::{Around, REDIRECTS_MAX};
use crate::feed::{Cursor, Feed, Order};
use crate::finding::{Finding, did_you_mean};
use crate::mix::{Mix, WEIGHT_MAX};
use crate::request::{Common, Draft, Message, Url};
use crate::share::Share;
use crate::targets::ReadFile;
use crate::template::Shared;

/// The most bytes of a document.
pub const DOCUMENT_BYTES_MAX: usize = 64 << 20;
/// The most scenarios of a document.
pub const SCENARIOS_MAX: usize = 100;
/// The most steps of a document.
pub const STEPS_MAX: usize = 10_000;
/// The most assertions of a document.
const ASSERTIONS_MAX: usize = 60_000;

// A step counts twice when it has resources, and so do assertions; both have numbers of 16 bits.
const _: () = assert!(STEPS_MAX * 2 < u16::MAX as usize);
const _: () = assert!(ASSERTIONS_MAX < u16::MAX as usize);

const KEYS: [&str; 4] = ["base", "feed", "fields", "scenario"];
const FEED_KEYS: [&str; 2] = ["file", "order"];
const SCENARIO_KEYS: [&str; 6] = ["name", "weight", "cookies", "redirects", "fields", "step"];
const COOKIES: [(&str, Cookies); 3] = [
    ("visit", Cookies::Visit),
    ("user", Cookies::User),
    ("none", Cookies::None),
];

/// What stands beside the document.
pub struct Setting<'a, 'r> {
    /// What the command line says of all requests; its columns are those of `feed`.
    pub common: Common<'a>,
    /// Values for the requests, unless the document names them.
    pub feed: Option<Cursor>,
    /// For random values.
    pub seed: u64,
    /// Whose turns these users take of numbers, rows and visits.
    pub share: Share,
    /// Reads the files that the document names.
    pub read: &'a mut ReadFile<'r>,
}

/// What has been read of a document.
pub(super) struct Builder<'a, 'r, 't> {
    pub(super) reader: Reader<'t>,
    pub(super) columns: Vec<String>,
    base: Option<Url>,
    common: Common<'a>,
    read: &'a mut ReadFile<'r>,
    steps: Vec<String>,
    assertions: Vec<String>,
    captures: usize,
}

/// A field with the place of its value, if that is in the document.
#[derive(Clone)]
pub(super) struct FieldNode<'t> {
    pub(super) name: String,
    value: String,
    pub(super) node: Option<Node<'t>>,
}

impl FieldNode<'_> {
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(super) fn pair(&self) -> (String, String) {
        (self.name.clone(), self.value.clone())
    }
}

impl Scenario {
    /// Reads a document, or tells all that is wrong with it.
    pub fn parse(file: &str, text: &str, setting: Setting<'_, '_>) -> Result<Self, Vec<Finding>> {
        let mut reader = Reader::new(file, text);
        if text.len() > DOCUMENT_BYTES_MAX {
            reader.wrong_whole(format!(
                "{} bytes, at most {DOCUMENT_BYTES_MAX}",
                text.len()
            ));
            return Err(reader.finish(()).err().unwrap_or_default());
        }
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            reader.wrong(&error.span().unwrap_or_default(), error.message());
        }
        // What follows a mistake of the language itself would mostly be its echo.
        if !errors.is_empty() {
            return Err(reader.finish(()).err().unwrap_or_default());
        }
        let Setting {
            common,
            feed,
            seed,
            share,
            read,
        } = setting;
        let mut builder = Builder {
            reader,
            columns: common.columns.to_vec(),
            base: common.base.cloned(),
            common,
            read,
            steps: Vec::new(),
            assertions: Vec::new(),
            captures: 0,
        };
        let table = Table::new(&document);
        builder.reader.check_keys(&table, "a document", &KEYS);
        builder.read_base(&table);
        let feed = builder.feed(&table, feed);
        let kinds = builder.kinds(&table);
        builder.finish(kinds, Shared::new(feed, seed, share))
    }
}

impl<'t> Builder<'_, '_, 't> {
    fn finish(self, kinds: Vec<Kind>, shared: Shared) -> Result<Scenario, Vec<Finding>> {
        let weights: Vec<u32> = kinds.iter().map(|kind| kind.weight).collect();
        let Self {
            reader,
            base,
            steps,
            assertions,
            captures,
            ..
        } = self;
        let base = reader.finish(base)?;
        // A document without findings has a server.
        base.map(|base| {
            Scenario::new(Plan {
                base,
                kinds,
                mix: Mix::new(&weights, shared.share()),
                shared: Arc::new(shared),
                steps,
                assertions,
                captures,
            })
        })
        .ok_or_else(Vec::new)
    }

    /// The server: the one of the command line, or `base`.
    fn read_base(&mut self, table: &Table<'t>) {
        if let Some(node) = table.get("base")
            && let Some(text) = self.reader.text(node, "base")
        {
            match Url::parse(text) {
                Ok(url) if self.base.is_none() => self.base = Some(url),
                Ok(_) => {}
                // The command line may replace what cannot be asked.
                Err(_) if self.base.is_some() => {}
                Err(error) => self.reader.wrong(&node.span(), error.to_string()),
            }
        } else if self.base.is_none() {
            let message = "no server; give its URL, or write base = \"http://HOST:PORT\"";
            self.reader.wrong_whole(message);
        }
    }

    fn feed(&mut self, table: &Table<'t>, given: Option<Cursor>) -> Option<Cursor> {
        let Some(node) = table.get("feed") else {
            return given;
        };
        let table = self.reader.table(node, "feed", &FEED_KEYS)?;
        if given.is_some() {
            let message = "a second feed; the command line names one";
            self.reader.wrong(&node.span(), message);
            return given;
        }
        let order = table.get("order").and_then(|node| {
            let order = Order::from_str(self.reader.text(node, "order")?);
            order
                .map_err(|message| self.reader.wrong(&node.span(), message))
                .ok()
        });
        let Some(file) = table.get("file") else {
            let message = "the feed has no file; expected file = \"NAME.csv\"";
            self.reader.wrong(&node.span(), message);
            return None;
        };
        let name = self.reader.text(file, "file")?;
        let bytes = self.read_file(file, name);
        match Feed::parse(name, &bytes) {
            Ok(feed) => {
                self.columns = feed.columns().to_vec();
                Some(Cursor::new(Arc::new(feed), order.unwrap_or_default()))
            }
            Err(findings) => {
                for finding in findings {
                    self.reader.wrong(&file.span(), finding.to_string());
                }
                None
            }
        }
    }

    fn kinds(&mut self, table: &Table<'t>) -> Vec<Kind> {
        let fields = table.get("fields");
        let fields = fields.map_or(Vec::new(), |node| self.field_nodes(node));
        let Some(node) = table.get("scenario") else {
            let message =
                "there is no scenario; expected [[scenario]] with [[scenario.step]] below it";
            self.reader.wrong_whole(message);
            return Vec::new();
        };
        let nodes = self.reader.array(node, "scenario");
        if nodes.is_empty() || nodes.len() > SCENARIOS_MAX {
            let message = format!("{} scenarios; expected 1 to {SCENARIOS_MAX}", nodes.len());
            self.reader.wrong(&node.span(), message);
            return Vec::new();
        }
        let several = nodes.len() > 1;
        let mut kinds = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let Some(table) = self.reader.table(node, "a scenario", &SCENARIO_KEYS) else {
                continue;
            };
            let name = table.get("name");
            let name = name.and_then(|node| self.reader.text(node, "name"));
            let name = name.map_or_else(|| format!("scenario {}", index + 1), str::to_owned);
            let prefix = if several {
                format!("{name}: ")
            } else {
                String::new()
            };
            kinds.push(self.kind(&table, prefix, &fields));
        }
        kinds
    }

    fn kind(&mut self, table: &Table<'t>, prefix: String, fields: &[FieldNode<'t>]) -> Kind {
        let own = table.get("fields");
        let own = own.map_or(Vec::new(), |node| self.field_nodes(node));
        let far = fields
            .iter()
            .filter(|field| !own.iter().any(|near| near.is_named(&field.name)));
        let fields = far.cloned().chain(own.clone()).collect();
        let weight = table.get("weight").and_then(|node| {
            self.reader
                .number(node, "weight", 1..u64::from(WEIGHT_MAX) + 1)
        });
        let redirects = table.get("redirects").and_then(|node| {
            self.reader
                .number(node, "redirects", 0..u64::from(REDIRECTS_MAX) + 1)
        });
        let cookies = table.get("cookies").and_then(|node| self.cookies(node));
        let mut around = Around {
            prefix,
            fields,
            captured: Vec::new(),
        };
        let steps = self.steps(table, &mut around);
        self.captures = self.captures.max(around.captured.len());
        Kind {
            weight: weight
                .and_then(|weight| u32::try_from(weight).ok())
                .unwrap_or(1),
            cookies: cookies.unwrap_or(Cookies::Visit),
            redirects: redirects
                .and_then(|most| u8::try_from(most).ok())
                .unwrap_or(0),
            uses_feed: steps.iter().any(|step| {
                step.message.uses_feed() || step.resources.iter().any(Message::uses_feed)
            }),
            steps,
        }
    }

    fn steps(&mut self, table: &Table<'t>, around: &mut Around<'t>) -> Vec<super::plan::Step> {
        let Some(node) = table.get("step") else {
            let message = "a scenario has no step; expected [[scenario.step]] below it";
            self.reader.wrong(&table.span, message);
            return Vec::new();
        };
        let nodes = self.reader.array(node, "step");
        if nodes.is_empty() {
            self.reader.wrong(&node.span(), "a scenario needs a step");
        }
        let mut steps = Vec::new();
        for node in nodes {
            if self.steps.len() >= STEPS_MAX || self.assertions.len() >= ASSERTIONS_MAX {
                let message =
                    format!("more than {STEPS_MAX} steps, or {ASSERTIONS_MAX} assertions of them");
                self.reader.wrong(&node.span(), message);
                break;
            }
            steps.extend(self.step(node, around));
        }
        steps
    }

    fn cookies(&mut self, node: Node<'t>) -> Option<Cookies> {
        let text = self.reader.text(node, "cookies")?;
        let known = COOKIES.iter().find(|(name, _)| *name == text);
        if known.is_none() {
            let hint = did_you_mean(text, COOKIES.map(|(name, _)| name));
            let message =
                format!("\"{text}\" is no way to keep cookies{hint}; expected visit, user or none");
            self.reader.wrong(&node.span(), message);
        }
        known.map(|&(_, cookies)| cookies)
    }

    pub(super) fn field_nodes(&mut self, node: Node<'t>) -> Vec<FieldNode<'t>> {
        let pairs = self.reader.pairs(node, "fields").into_iter();
        let fields = pairs.map(|(name, node)| FieldNode {
            name: name.to_owned(),
            value: node.get_ref().as_str().unwrap_or_default().to_owned(),
            node: Some(node),
        });
        fields.collect()
    }

    /// The fields of the command line.
    pub(super) fn common_fields(&self) -> Vec<FieldNode<'t>> {
        let fields = self.common.fields.iter().map(|(name, value)| FieldNode {
            name: name.clone(),
            value: value.clone(),
            node: None,
        });
        fields.collect()
    }

    /// A request of the server for a target; nothing, and a finding, where it is of another.
    pub(super) fn draft(&mut self, node: Node<'t>, target: &str) -> Option<Draft> {
        // Without a server, which has been told, all else can still be looked at.
        let base = self
            .base
            .clone()
            .or_else(|| Url::parse("http://localhost").ok())?;
        let is_whole = target.contains("://") || target.starts_with("unix:");
        if !(is_whole || target.starts_with('/') || target == "*") {
            let message = format!("the target {target:?} does not begin with a slash");
            self.reader.wrong(&node.span(), message);
            return None;
        }
        match base.join(target) {
            Ok(url) if self.base.is_none() || base.has_same_origin(&url) => {
                let mut draft = Draft::get(&url);
                let common = self.common.credentials.cloned();
                draft.credentials = draft.credentials.or(common);
                draft.framing = self.common.framing;
                Some(draft)
            }
            Ok(url) => {
                let message = format!("{} is not {}: one run asks one server", url.host, base.host);
                self.reader.wrong(&node.span(), message);
                None
            }
            Err(error) => {
                self.reader.wrong(&node.span(), error.to_string());
                None
            }
        }
    }

    pub(super) fn read_file(&mut self, node: Node<'t>, name: &str) -> Vec<u8> {
        (self.read)(name).unwrap_or_else(|error| {
            self.reader
                .wrong(&node.span(), format!("cannot read {name}: {error}"));
            Vec::new()
        })
    }

    /// The number of a new step.
    pub(super) fn new_step(&mut self, name: &str) -> u16 {
        self.steps.push(name.to_owned());
        u16::try_from(self.steps.len() - 1).unwrap_or(u16::MAX)
    }

    /// The number of a new assertion. Figures tell it below its step.
    pub(super) fn new_assertion(&mut self, name: impl Into<String>) -> u16 {
        self.assertions.push(name.into());
        u16::try_from(self.assertions.len() - 1).unwrap_or(u16::MAX)
    }
}
