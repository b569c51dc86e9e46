//! All access logs of a server: the logs, the sets of logs that sites and routes write to, and the
//! names in lines. A plan is built once, shared by all reactors, and replaced as a whole.

use super::condition::Condition;
use super::format::Format;
use super::layout::Layout;
use crate::log_sinks::{LogSink, Target};

/// Maximum number of logs of a plan.
pub const LOGS_MAX: usize = 4096;

// The number of a log is a u16.
const _: () = assert!(LOGS_MAX <= u16::MAX as usize);

/// The logs that a request gets lines in. The default is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LogSet(u32);

/// The number of a log in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogNumber(u16);

/// The number of a site or route in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameNumber(u32);

/// The site and the route that answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The site of the request, if it is known.
    pub site: Option<NameNumber>,
    /// The route of the request, if one was chosen.
    pub route: Option<NameNumber>,
}

impl NameNumber {
    /// The index among the sites or routes, in the order in which they were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of sites and routes.
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

/// A log of the plan.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) layout: Layout,
    pub(super) condition: Condition,
    pub(super) sink: LogSink,
}

/// All logs, sets of logs and names.
#[derive(Debug)]
pub struct LogPlan {
    pub(super) logs: Vec<Log>,
    pub(super) names: Names,
    log_sets: Vec<Box<[u16]>>,
    refused: LogSet,
    needs: Needs,
}

/// Values that the lines of a plan contain and that take time to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// Whether a format writes request IDs.
    pub request_ids: bool,
    /// Heads of responses: [`LogWriter::record_response`](super::LogWriter::record_response) must
    /// be called.
    pub responses: bool,
}

impl Default for LogPlan {
    fn default() -> Self {
        Self {
            logs: Vec::new(),
            names: Names::default(),
            log_sets: vec![Box::default()],
            refused: LogSet::default(),
            needs: Needs::default(),
        }
    }
}

impl LogPlan {
    /// A plan without logs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a log that writes lines of a format, under a condition, to a sink. Returns `None` if
    /// there are [`LOGS_MAX`].
    pub fn add_log(
        &mut self,
        format: Format,
        condition: Condition,
        sink: LogSink,
    ) -> Option<LogNumber> {
        let number = u16::try_from(self.logs.len()).ok()?;
        if self.logs.len() >= LOGS_MAX {
            return None;
        }
        let layout = match sink.target() {
            Target::Journal(_) => format.journal_layout(),
            _ => format.layout(),
        };
        self.needs.request_ids |= layout.needs_request_ids();
        self.needs.responses |= layout.needs_responses();
        self.logs.push(Log { layout, condition, sink });
        Some(LogNumber(number))
    }

    /// The set of exactly these logs.
    pub fn log_set(&mut self, logs: &[LogNumber]) -> LogSet {
        let mut numbers: Vec<u16> = logs.iter().map(|log| log.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let known = self.log_sets.iter().position(|set| **set == *numbers);
        let index = known.unwrap_or_else(|| {
            self.log_sets.push(numbers.into());
            self.log_sets.len() - 1
        });
        LogSet(u32::try_from(index).unwrap_or_default())
    }

    /// Sets the logs of requests that are refused before their site is known.
    pub fn set_refused(&mut self, logs: LogSet) {
        self.refused = logs;
    }

    /// The logs of requests that are refused before their site is known.
    pub fn refused(&self) -> LogSet {
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

    /// The values that the lines contain and that take time to produce.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// The name of the site that answered.
    pub fn site_name(&self, origin: Origin) -> Option<&str> {
        self.names.site(origin)
    }

    /// The name of the route that answered.
    pub fn route_name(&self, origin: Origin) -> Option<&str> {
        self.names.route(origin)
    }

    pub(super) fn logs_of(&self, set: LogSet) -> &[u16] {
        self.log_sets.get(set.0 as usize).map_or(&[], |logs| logs)
    }

    pub(super) fn logs_of_refused(&self) -> &[u16] {
        self.logs_of(self.refused)
    }
}

fn add(names: &mut Vec<Box<str>>, name: &str) -> NameNumber {
    names.push(name.into());
    // A configuration has fewer names than bytes.
    NameNumber(u32::try_from(names.len() - 1).unwrap_or(u32::MAX))
}
