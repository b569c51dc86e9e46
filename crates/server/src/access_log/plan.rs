//! All access logs of a server as settled: the logs, which of them a site or a route writes to, and the names that
//! stand in lines. Made once, shared by all reactors, replaced as a whole.

use super::condition::Condition;
use super::format::Format;
use super::layout::Layout;
use super::outlet::Outlet;
use super::variable::Value;

/// Logs that one plan may have.
pub const LOGS_MAX: usize = 4096;

// A log is known by a u16.
const _: () = assert!(LOGS_MAX <= u16::MAX as usize);

/// Which logs a request gets its lines in. The default is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Choice(u32);

/// A log of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogNumber(u16);

/// A name of the plan's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameNumber(u32);

/// Where a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The site.
    pub site: Option<NameNumber>,
    /// The route.
    pub route: Option<NameNumber>,
}

impl NameNumber {
    /// The place of the name among those of its kind, in the order in which they were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names that stand in lines.
#[derive(Debug, Default)]
pub(super) struct Names {
    sites: Vec<Box<str>>,
    routes: Vec<Box<str>>,
}

impl Names {
    /// The names of all sites, in the order of their numbers.
    pub(super) fn sites(&self) -> impl Iterator<Item = &str> {
        self.sites.iter().map(|name| &**name)
    }

    pub(super) fn site(&self, origin: Origin) -> Option<&str> {
        Some(self.sites.get(origin.site?.index())?)
    }

    pub(super) fn route(&self, origin: Origin) -> Option<&str> {
        Some(self.routes.get(origin.route?.index())?)
    }
}

/// One log.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) layout: Layout,
    pub(super) condition: Condition,
    pub(super) outlet: Outlet,
}

/// All logs, choices and names.
#[derive(Debug)]
pub struct LogPlan {
    pub(super) logs: Vec<Log>,
    pub(super) names: Names,
    choices: Vec<Box<[u16]>>,
    refused: Choice,
    needs: Needs,
}

/// What the lines of a plan need that is not there for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// Request ids.
    pub request_ids: bool,
    /// Heads of responses: [`Scribe::respond`](super::Scribe::respond) has to be called.
    pub responses: bool,
}

impl Default for LogPlan {
    fn default() -> Self {
        Self {
            logs: Vec::new(),
            names: Names::default(),
            choices: vec![Box::default()],
            refused: Choice::default(),
            needs: Needs::default(),
        }
    }
}

impl LogPlan {
    /// A plan without logs. Requests leave no line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a log that writes lines of a format, under conditions, to an outlet. None when there are [`LOGS_MAX`].
    pub fn add_log(
        &mut self,
        format: Format,
        condition: Condition,
        outlet: Outlet,
    ) -> Option<LogNumber> {
        let number = u16::try_from(self.logs.len()).ok()?;
        if self.logs.len() >= LOGS_MAX {
            return None;
        }
        let layout = if outlet.target().takes_fields() {
            format.journal_layout()
        } else {
            format.layout()
        };
        self.needs.request_ids |= layout.has(|value| *value == Value::RequestId);
        self.needs.responses |= layout.has(|value| matches!(value, Value::Response(_)));
        self.logs.push(Log {
            layout,
            condition,
            outlet,
        });
        Some(LogNumber(number))
    }

    /// The choice of exactly these logs. Equal ones are one.
    pub fn choice(&mut self, logs: &[LogNumber]) -> Choice {
        let mut wanted: Vec<u16> = logs.iter().map(|log| log.0).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let known = self.choices.iter().position(|choice| **choice == *wanted);
        let index = known.unwrap_or_else(|| {
            self.choices.push(wanted.into());
            self.choices.len() - 1
        });
        Choice(u32::try_from(index).unwrap_or_default())
    }

    /// Sets the logs of what the engine refuses before a site is known.
    pub fn set_refused(&mut self, choice: Choice) {
        self.refused = choice;
    }

    /// The logs of what is refused before a site is known.
    pub fn refused(&self) -> Choice {
        self.refused
    }

    /// Adds the name of a site.
    pub fn add_site(&mut self, name: &str) -> NameNumber {
        add(&mut self.names.sites, name)
    }

    /// Adds the name of a route.
    pub fn add_route(&mut self, name: &str) -> NameNumber {
        add(&mut self.names.routes, name)
    }

    /// What the lines need.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// The name of the site of a place.
    pub fn site_name(&self, origin: Origin) -> Option<&str> {
        self.names.site(origin)
    }

    /// The name of the route of a place.
    pub fn route_name(&self, origin: Origin) -> Option<&str> {
        self.names.route(origin)
    }

    pub(super) fn logs_of(&self, choice: Choice) -> &[u16] {
        self.choices.get(choice.0 as usize).map_or(&[], |logs| logs)
    }

    pub(super) fn logs_of_refused(&self) -> &[u16] {
        self.logs_of(self.refused)
    }
}

fn add(names: &mut Vec<Box<str>>, name: &str) -> NameNumber {
    names.push(name.into());
    // Fewer than bytes of configuration.
    NameNumber(u32::try_from(names.len() - 1).unwrap_or(u32::MAX))
}
