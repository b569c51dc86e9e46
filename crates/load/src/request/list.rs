//! The script of one or several requests, in turn or by weight: for a URL, a template or a list of
//! targets.

use std::sync::Arc;

use super::{Extra, Message};
use crate::mix::Mix;
use crate::script::{Request, Script, Scripts, Step, Turn};
use crate::template::{Shared, Values};

/// The most requests of a list that have figures of their own.
pub const NAMED_REQUESTS_MAX: usize = 64;

/// A request of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// Its name in the report.
    pub name: String,
    /// How often it is sent, relative to the others.
    pub weight: u32,
    /// The request as a compiled message.
    pub message: Message,
}

/// Requests for all users.
#[derive(Debug)]
pub struct Requests {
    list: Arc<List>,
    names: Vec<String>,
}

#[derive(Debug)]
struct List {
    messages: Vec<PreparedRequest>,
    mix: Mix,
    shared: Arc<Shared>,
}

/// A request with what is known of it beforehand.
#[derive(Debug)]
enum PreparedRequest {
    /// The same bytes each time. Users share them, as bodies may be large.
    Fixed(FixedScript),
    /// With variables.
    Filled { message: Message, uses_feed: bool, request: Request },
}

impl Requests {
    /// Of a list that is not empty.
    pub fn new(list: Vec<Weighted>, shared: Arc<Shared>) -> Self {
        let weights: Vec<u32> = list.iter().map(|entry| entry.weight).collect();
        let is_named = list.len() <= NAMED_REQUESTS_MAX;
        let names = if is_named {
            list.iter().map(|entry| entry.name.clone()).collect()
        } else {
            vec!["request".to_owned()]
        };
        let messages = list.into_iter().enumerate().map(|(number, entry)| {
            let step = if is_named { number } else { 0 };
            PreparedRequest::new(entry.message, u16::try_from(step).unwrap_or(0))
        });
        Self {
            list: Arc::new(List {
                messages: messages.collect(),
                mix: Mix::new(&weights, shared.share()),
                shared,
            }),
            names,
        }
    }

    /// Whether a request takes values from the feed.
    pub fn uses_feed(&self) -> bool {
        let takes = |ready: &PreparedRequest| {
            matches!(ready, PreparedRequest::Filled { uses_feed: true, .. })
        };
        self.list.messages.iter().any(takes)
    }
}

impl PreparedRequest {
    fn new(message: Message, step: u16) -> Self {
        let request = Request { check: 0, step, content: message.content_of_answer(), due: None };
        let Some(bytes) = message.as_fixed() else {
            return Self::Filled { uses_feed: message.uses_feed(), message, request };
        };
        // Before the bytes are moved to where they are shared.
        drop(message);
        Self::Fixed(FixedScript::new(bytes, request))
    }
}

impl Scripts for Requests {
    fn user(&self, number: u32) -> Box<dyn Script> {
        match self.list.messages.as_slice() {
            [PreparedRequest::Fixed(only)] => Box::new(only.clone()),
            _ => Box::new(User {
                values: Values::new(Arc::clone(&self.list.shared), number, 0),
                list: Arc::clone(&self.list),
            }),
        }
    }

    fn steps(&self) -> &[String] {
        &self.names
    }
}

/// One user of a list.
#[derive(Debug)]
struct User {
    list: Arc<List>,
    values: Values,
}

impl Script for User {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        match &self.list.messages[self.list.mix.next()] {
            PreparedRequest::Fixed(script) => script.ask(out),
            PreparedRequest::Filled { uses_feed: true, .. } if !self.values.take_row() => Step::End,
            PreparedRequest::Filled { message, request, .. } => {
                self.values.begin_request();
                message.render(&mut self.values, Extra::default(), out);
                Step::Send(*request)
            }
        }
    }
}

/// One user that repeats the same request. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct FixedScript {
    bytes: Arc<[u8]>,
    request: Request,
}

/// The same request for each user, each time.
#[derive(Clone, Debug)]
pub struct Fixed {
    script: FixedScript,
    steps: [String; 1],
}

impl FixedScript {
    /// The script of these bytes, head and content, ready for the wire.
    pub fn new(bytes: impl Into<Arc<[u8]>>, request: Request) -> Self {
        Self { bytes: bytes.into(), request }
    }

    /// Appends the request.
    pub(super) fn ask(&self, out: &mut Vec<u8>) -> Step {
        out.extend_from_slice(&self.bytes);
        Step::Send(self.request)
    }
}

impl Script for FixedScript {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        self.ask(out)
    }
}

impl Fixed {
    /// These bytes, head and content, ready for the wire; `name` is the
    /// name of the step in the report.
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>, request: Request) -> Self {
        Self { script: FixedScript::new(bytes, request), steps: [name.into()] }
    }
}

impl Scripts for Fixed {
    fn user(&self, _number: u32) -> Box<dyn Script> {
        Box::new(self.script.clone())
    }

    fn steps(&self) -> &[String] {
        &self.steps
    }
}
