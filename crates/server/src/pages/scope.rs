//! The names in templates: variables of the request, parameters, and functions.
//!
//! Variables are copied from the request only if the page uses them, into memory that the next
//! rendering reuses, and decoded only when they are read.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object};

use crate::pages::effects::{Function, Notes, ScopeFunction};
use crate::pages::input::Input;
use crate::pages::lines::{CookiesSeen, FieldsSeen};
use crate::pages::moment::When;
use crate::pages::pairs::Pairs;
use crate::pages::parameters::{BadParameter, Parameter, Source};

/// A variable with a part of the request, such as `query`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeVariable {
    Query,
    Form,
    Path,
    Fields,
    Cookies,
    Now,
    Method,
    Host,
    Target,
    Client,
}

impl ScopeVariable {
    pub(crate) const ALL: [Self; 10] = [
        Self::Query,
        Self::Form,
        Self::Path,
        Self::Fields,
        Self::Cookies,
        Self::Now,
        Self::Method,
        Self::Host,
        Self::Target,
        Self::Client,
    ];

    /// The name in templates.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Form => "form",
            Self::Path => "path",
            Self::Fields => "fields",
            Self::Cookies => "cookies",
            Self::Now => "now",
            Self::Method => "method",
            Self::Host => "host",
            Self::Target => "target",
            Self::Client => "client",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variable| variable.name() == name)
    }
}

/// The variables that a page uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Uses(u16);

impl Uses {
    /// All variables: for a page that includes templates by names computed during rendering.
    pub(crate) const ALL: Self = Self(u16::MAX);

    /// Adds the variable of this name, where there is one.
    pub(crate) fn add_name(&mut self, name: &str) {
        if let Some(variable) = ScopeVariable::named(name) {
            self.add(variable);
        }
    }

    /// Adds what a parameter is read from.
    pub(crate) fn add_source(&mut self, source: Source) {
        let variables: &[ScopeVariable] = match source {
            Source::Any => &[ScopeVariable::Path, ScopeVariable::Form, ScopeVariable::Query],
            Source::Query => &[ScopeVariable::Query],
            Source::Form => &[ScopeVariable::Form],
            Source::Path => &[ScopeVariable::Path],
        };
        for variable in variables {
            self.add(*variable);
        }
    }

    pub(crate) const fn has(self, variable: ScopeVariable) -> bool {
        self.0 & (1 << variable as u16) != 0
    }

    fn add(&mut self, variable: ScopeVariable) {
        self.0 |= 1 << variable as u16;
    }
}

/// The values of the route's pattern.
#[derive(Debug, Default, Clone)]
struct Captured(Vec<(String, String)>);

impl Captured {
    fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
        Some(value)
    }
}

impl Object for Captured {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.value(key).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(name, _)| Value::from(name.as_str())).collect())
    }
}

/// The scope of one rendering.
pub(crate) struct Scope {
    parameters: Arc<[Parameter]>,
    arguments: Vec<Value>,
    query: Arc<Pairs>,
    form: Arc<Pairs>,
    path: Arc<Captured>,
    fields: Arc<FieldsSeen>,
    cookies: Arc<CookiesSeen>,
    now: i64,
    method: String,
    host: String,
    target: String,
    client: Option<IpAddr>,
    functions: [Value; ScopeFunction::ALL.len()],
}

impl fmt::Debug for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl Scope {
    /// An empty scope whose functions write to `notes`.
    pub(crate) fn new(parameters: &Arc<[Parameter]>, notes: &Notes) -> Self {
        let function = |function| {
            let notes = notes.clone();
            Value::from_object(Function { function, notes })
        };
        Self {
            parameters: Arc::clone(parameters),
            arguments: Vec::new(),
            query: Arc::default(),
            form: Arc::default(),
            path: Arc::default(),
            fields: Arc::default(),
            cookies: Arc::default(),
            now: 0,
            method: String::new(),
            host: String::new(),
            target: String::new(),
            client: None,
            functions: ScopeFunction::ALL.map(function),
        }
    }

    /// Copies the parts of a request that the page uses.
    pub(crate) fn fill(&mut self, input: &Input<'_>, uses: Uses, unix_seconds: u64) {
        self.now = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
        self.client = input.client;
        if uses.has(ScopeVariable::Query) {
            Arc::make_mut(&mut self.query).refill(input.query.unwrap_or_default());
        }
        if uses.has(ScopeVariable::Form) {
            Arc::make_mut(&mut self.form).refill(b"");
        }
        if uses.has(ScopeVariable::Path) {
            let captures = input.captures.iter();
            Arc::make_mut(&mut self.path).0 = captures
                .map(|(name, value)| {
                    ((*name).to_owned(), String::from_utf8_lossy(value).into_owned())
                })
                .collect();
        }
        if uses.has(ScopeVariable::Fields) {
            Arc::make_mut(&mut self.fields).0.refill(input.fields.iter());
        }
        if uses.has(ScopeVariable::Cookies) {
            let lines = input.fields.all(vervet_http::field::Known::Cookie);
            Arc::make_mut(&mut self.cookies).0.refill(lines.map(|value| ("", value)));
        }
        if uses.has(ScopeVariable::Method) {
            refill(&mut self.method, input.method.as_bytes());
        }
        if uses.has(ScopeVariable::Host) {
            refill(&mut self.host, input.host);
        }
        if uses.has(ScopeVariable::Target) {
            refill(&mut self.target, input.target);
        }
    }

    /// Takes the content of a form.
    pub(crate) fn fill_form(&mut self, content: &[u8]) {
        Arc::make_mut(&mut self.form).refill(content);
    }

    /// Reads the parameters from what was taken.
    pub(crate) fn read_parameters(&mut self) -> Result<(), BadParameter> {
        self.arguments.clear();
        for parameter in &*self.parameters {
            let name = parameter.name.as_str();
            let path = || self.path.value(name).map(std::borrow::Cow::Borrowed);
            let sent = match parameter.from {
                Source::Query => self.query.first(name),
                Source::Form => self.form.first(name),
                Source::Path => path(),
                Source::Any => {
                    path().or_else(|| self.form.first(name)).or_else(|| self.query.first(name))
                }
            };
            let value = parameter.read(sent.as_deref())?;
            self.arguments.push(value);
        }
        Ok(())
    }

    fn variable(&self, variable: ScopeVariable) -> Value {
        match variable {
            ScopeVariable::Query => Value::from_dyn_object(Arc::clone(&self.query)),
            ScopeVariable::Form => Value::from_dyn_object(Arc::clone(&self.form)),
            ScopeVariable::Path => Value::from_dyn_object(Arc::clone(&self.path)),
            ScopeVariable::Fields => Value::from_dyn_object(Arc::clone(&self.fields)),
            ScopeVariable::Cookies => Value::from_dyn_object(Arc::clone(&self.cookies)),
            ScopeVariable::Now => Value::from_object(When::from_unix(self.now)),
            ScopeVariable::Method => Value::from(self.method.as_str()),
            ScopeVariable::Host => Value::from(self.host.as_str()),
            ScopeVariable::Target => Value::from(self.target.as_str()),
            ScopeVariable::Client => match self.client {
                Some(address) => Value::from(address.to_string()),
                None => Value::from(()),
            },
        }
    }
}

impl Object for Scope {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        let mut declared = self.parameters.iter().zip(&self.arguments);
        if let Some((_, value)) = declared.find(|(parameter, _)| parameter.name == name) {
            return Some(value.clone());
        }
        if let Some(variable) = ScopeVariable::named(name) {
            return Some(self.variable(variable));
        }
        let function = ScopeFunction::ALL.iter().position(|function| function.name() == name)?;
        Some(self.functions[function].clone())
    }
}

fn refill(text: &mut String, bytes: &[u8]) {
    text.clear();
    text.push_str(&String::from_utf8_lossy(bytes));
}
