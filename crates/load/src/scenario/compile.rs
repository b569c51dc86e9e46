//! Compiles the sections of a scenario file: reads files, compiles requests, numbers steps and
//! assertions. All errors become findings with positions. `step` compiles the requests.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Documents, Reading, Setting, Sources, Span};

use super::document::{Document, FeedSection, Pairs, ScenarioSection, Verbatim};
use super::plan::{Kind, Plan, Scenario, Step};
use crate::feed::{Cursor, Feed};
use crate::mix::{Mix, WEIGHT_MAX};
use crate::request::{Common, Fault, Message, Url};
use crate::share::Share;
use crate::targets::ReadFile;
use crate::template::Shared;

/// The most bytes of a scenario file.
pub const DOCUMENT_BYTES_MAX: usize = vervet_config::SOURCE_BYTES_MAX;
/// The most scenarios of a file.
pub const SCENARIOS_MAX: usize = 100;
/// The most steps of a file.
pub const STEPS_MAX: usize = 10_000;
/// The most redirects that may be followed for one request.
pub const REDIRECTS_MAX: u8 = 20;
/// The most header fields of one table. Those of a scenario are compared with those of each step.
pub const FIELDS_MAX: usize = 256;
/// The most names that a scenario captures. Each capture and each variable is looked up among them.
pub const CAPTURES_MAX: usize = 1000;
/// The most assertions of a file.
const ASSERTIONS_MAX: usize = 60_000;

// A step counts twice when it has resources, and so do assertions; both have numbers of 16 bits.
const _: () = assert!(STEPS_MAX * 2 < u16::MAX as usize);
const _: () = assert!(ASSERTIONS_MAX < u16::MAX as usize);
// The bound of `weight` in its section.
const _: () = assert!(WEIGHT_MAX == 10_000);

/// Inputs of a scenario that its file does not contain.
pub struct Inputs<'a, 'r> {
    /// Settings of the command line for all requests; its columns are those of `feed`.
    pub common: Common<'a>,
    /// Values for the requests, unless the file names a feed.
    pub feed: Option<Cursor>,
    /// Seed of random values.
    pub seed: u64,
    /// Which numbers, rows and visits of the run these users take.
    pub share: Share,
    /// Reads the files that the scenario names.
    pub read: &'a mut ReadFile<'r>,
}

impl Scenario {
    /// Reads a scenario file: the scenario, or all findings.
    pub fn read(file: &str, text: impl Into<Vec<u8>>, inputs: Inputs<'_, '_>) -> Reading<Self> {
        let mut documents = Documents::new(&|_| None);
        documents.add(file, text);
        let reading = documents.read::<Document>();
        let mut compiler = Compiler {
            sources: &reading.sources,
            found: Diagnostics::new(),
            columns: inputs.common.columns.to_vec(),
            base: inputs.common.base.cloned(),
            common: inputs.common,
            read: inputs.read,
            steps: Vec::new(),
            assertions: Vec::new(),
            captures: 0,
        };
        let document = reading.value.as_ref().or(reading.partial.as_ref());
        let kinds = document.map(|document| {
            compiler.server(&document.base);
            let feed = compiler.feed(&document.feed, inputs.feed);
            let kinds = compiler.kinds(document);
            (kinds, Shared::new(feed, inputs.seed, inputs.share))
        });
        let Compiler { found, base, steps, assertions, captures, .. } = compiler;
        let mut diagnostics = reading.diagnostics;
        diagnostics.extend_with_later(found);
        diagnostics.sort();
        let whole = kinds.zip(base).filter(|_| !diagnostics.has_errors());
        let value = whole.map(|((kinds, shared), base)| {
            let weights: Vec<u32> = kinds.iter().map(|kind| kind.weight).collect();
            Self::new(Plan {
                base,
                mix: Mix::new(&weights, shared.share()),
                kinds,
                shared: Arc::new(shared),
                steps,
                assertions,
                captures,
            })
        });
        Reading { value, partial: None, diagnostics, sources: reading.sources }
    }
}

/// What has been compiled of a file so far.
pub(super) struct Compiler<'a, 'r, 's> {
    pub(super) sources: &'s Sources,
    pub(super) found: Diagnostics,
    pub(super) columns: Vec<String>,
    pub(super) base: Option<Url>,
    pub(super) common: Common<'a>,
    read: &'a mut ReadFile<'r>,
    steps: Vec<String>,
    assertions: Vec<String>,
    captures: usize,
}

/// What a step takes from its scenario.
pub(super) struct Surroundings {
    /// Prefix of the name of the step, if there are several scenarios.
    pub(super) prefix: String,
    pub(super) fields: Vec<Field>,
    /// The names captured by the steps before.
    pub(super) captured: Vec<String>,
}

/// A header field, with the place of its value if that is in the file.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) span: Option<Span>,
}

impl Field {
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn all(pairs: &Pairs) -> Vec<Self> {
        let fields = pairs.iter().map(|(name, value)| Self {
            name: name.to_string(),
            value: value.to_string(),
            span: Some(value.span()),
        });
        fields.collect()
    }

    /// `far` and then `near`, without those of `far` that have a name of `near`.
    fn merged(far: &[Self], near: &Pairs) -> Vec<Self> {
        let near = Self::all(near);
        let is_hidden = |field: &&Self| near.iter().any(|other| other.is_named(&field.name));
        let mut fields: Vec<Self> = far.iter().filter(|it| !is_hidden(it)).cloned().collect();
        fields.extend(near);
        fields
    }
}

impl Compiler<'_, '_, '_> {
    /// The fields of a request: those around it, and its own, which replace those of the same name.
    pub(super) fn fields(&mut self, far: &[Field], near: &Setting<Pairs>) -> Vec<Field> {
        if near.len() > FIELDS_MAX {
            let message = format!("{} header fields, at most {FIELDS_MAX}", near.len());
            self.wrong(near.span(), message);
            return far.to_vec();
        }
        Field::merged(far, near)
    }

    pub(super) fn wrong(&mut self, span: Span, message: impl Into<String>) {
        let problem = Diagnostic::error(span, message);
        // A field of a scenario is compiled for each of its requests.
        if !self.found.iter().any(|known| *known == problem) {
            self.found.push(problem);
        }
    }

    /// Notes a mistake at a byte of a text. Where the text is written with escapes, its whole value
    /// is underlined.
    pub(super) fn wrong_inside(&mut self, span: Span, text: &str, fault: Fault) {
        let written = self.sources.slice(span);
        let span = match (written.find(text), text.get(fault.offset..)) {
            (Some(at), Some(rest)) if fault.offset > 0 || rest.starts_with('{') => {
                let length = rest.find('}').map_or(rest.len(), |end| end + 1);
                let start = at + fault.offset;
                span.part(start, start + length)
            }
            _ => span,
        };
        self.wrong(span, fault.message);
    }

    /// The server: the one of the command line, or `base`.
    fn server(&mut self, base: &Setting<Option<Verbatim>>) {
        if self.base.is_some() {
            return;
        }
        let Some(text) = base.value() else {
            let problem = Diagnostic::error(base.span(), "the URL of the server is missing");
            let expected = "`base = \"http://HOST:PORT\"`, or a URL on the command line";
            self.found.push(problem.expected(expected).consequence());
            return;
        };
        match Url::parse(text) {
            Ok(url) => self.base = Some(url),
            Err(error) => self.wrong(base.span(), error.to_string()),
        }
    }

    fn feed(
        &mut self,
        section: &Setting<Option<FeedSection>>,
        given: Option<Cursor>,
    ) -> Option<Cursor> {
        let Some(feed) = section.value() else {
            return given;
        };
        if given.is_some() {
            self.wrong(section.span(), "the command line has --feed, too");
            return given;
        }
        let bytes = self.file(&feed.file);
        match Feed::parse(&feed.file, &bytes?) {
            Ok(rows) => {
                self.columns = rows.columns().to_vec();
                Some(Cursor::new(Arc::new(rows), *feed.order))
            }
            Err(findings) => {
                for finding in findings {
                    self.wrong(feed.file.span(), finding.to_string());
                }
                None
            }
        }
    }

    pub(super) fn file(&mut self, name: &Setting<Verbatim>) -> Option<Vec<u8>> {
        let text: &str = name;
        let read = (self.read)(text);
        read.map_err(|error| self.wrong(name.span(), format!("cannot read {text}: {error}"))).ok()
    }

    fn kinds(&mut self, document: &Document) -> Vec<Kind> {
        let scenarios = &document.scenario;
        if scenarios.is_empty() || scenarios.len() > SCENARIOS_MAX {
            let message = format!("the file has {} scenarios", scenarios.len());
            let expected = format!("1 to {SCENARIOS_MAX}, each under `[[scenario]]`");
            let problem = Diagnostic::error(scenarios.span(), message).expected(expected);
            self.found.push(problem.consequence());
            return Vec::new();
        }
        let common = self.common.fields.iter().map(|(name, value)| Field {
            name: name.clone(),
            value: value.clone(),
            span: None,
        });
        let common: Vec<Field> = common.collect();
        let fields = self.fields(&common, &document.fields);
        let kinds = scenarios.iter().enumerate().map(|(index, section)| {
            let name = section.name.value().as_ref();
            let name = name.map_or_else(|| format!("scenario {}", index + 1), |it| it.to_string());
            let prefix = match scenarios.len() {
                1 => String::new(),
                _ => format!("{name}: "),
            };
            let surroundings = Surroundings {
                prefix,
                fields: self.fields(&fields, &section.fields),
                captured: Vec::new(),
            };
            self.kind(section, surroundings)
        });
        kinds.collect()
    }

    fn kind(&mut self, section: &Setting<ScenarioSection>, mut around: Surroundings) -> Kind {
        if section.step.is_empty() {
            let problem = Diagnostic::error(section.span(), "the scenario has no step");
            let problem = problem.expected("`[[scenario.step]]` below it");
            self.found.push(problem.consequence());
        }
        let mut steps = Vec::new();
        for step in section.step.iter() {
            if self.steps.len() >= STEPS_MAX || self.assertions.len() >= ASSERTIONS_MAX {
                let message =
                    format!("more than {STEPS_MAX} steps, or {ASSERTIONS_MAX} assertions of them");
                self.wrong(step.span(), message);
                break;
            }
            steps.extend(self.step(step, &mut around));
        }
        self.captures = self.captures.max(around.captured.len());
        Kind {
            weight: *section.weight,
            cookies: *section.cookies,
            redirects: *section.redirects,
            uses_feed: steps.iter().any(|step: &Step| {
                step.message.uses_feed() || step.resources.iter().any(Message::uses_feed)
            }),
            steps,
        }
    }

    /// The number of a new step.
    pub(super) fn new_step(&mut self, name: &str) -> u16 {
        self.steps.push(name.to_owned());
        u16::try_from(self.steps.len() - 1).unwrap_or(u16::MAX)
    }

    /// The number of a new assertion. The report shows it below its step.
    pub(super) fn new_assertion(&mut self, name: impl Into<String>) -> u16 {
        self.assertions.push(name.into());
        u16::try_from(self.assertions.len() - 1).unwrap_or(u16::MAX)
    }
}
