//! One request or several, in turn or by weight, for all users: what a URL, a template and a list of targets become.

use std::sync::Arc;

use super::{Extra, FixedScript, Message};
use crate::mix::Mix;
use crate::script::{Request, Script, Scripts, Step, Turn};
use crate::template::{Shared, Values};

/// The most requests of a list that have figures of their own.
pub const NAMED_REQUESTS_MAX: usize = 64;

/// A request of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// What figures call it.
    pub name: String,
    /// How often it comes, against the others.
    pub weight: u32,
    /// The request.
    pub message: Message,
}

/// Requests for all users.
#[derive(Debug)]
pub struct Requests {
    list: Arc<List>,
    fixed: Option<FixedScript>,
    names: Vec<String>,
}

#[derive(Debug)]
struct List {
    messages: Vec<Ready>,
    mix: Mix,
    shared: Arc<Shared>,
}

/// A message with what is known of it beforehand.
#[derive(Debug)]
struct Ready {
    message: Message,
    fixed: Option<Vec<u8>>,
    uses_feed: bool,
    request: Request,
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
        let fixed = match list.as_slice() {
            [only] => FixedScript::of(&only.message),
            _ => None,
        };
        let messages = list.into_iter().enumerate().map(|(number, entry)| {
            let step = if is_named { number } else { 0 };
            Ready::new(entry.message, u16::try_from(step).unwrap_or(0))
        });
        Self {
            list: Arc::new(List {
                messages: messages.collect(),
                mix: Mix::new(&weights, shared.share()),
                shared,
            }),
            fixed,
            names,
        }
    }

    /// Whether a request takes values from the feed.
    pub fn uses_feed(&self) -> bool {
        self.list.messages.iter().any(|ready| ready.uses_feed)
    }
}

impl Ready {
    fn new(message: Message, step: u16) -> Self {
        Self {
            fixed: message.as_fixed(),
            uses_feed: message.uses_feed(),
            request: Request {
                check: 0,
                step,
                content: message.content_of_answer(),
                due: None,
            },
            message,
        }
    }
}

impl Scripts for Requests {
    fn user(&self, number: u32) -> Box<dyn Script> {
        match &self.fixed {
            Some(fixed) => Box::new(fixed.clone()),
            None => Box::new(User {
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
        let ready = &self.list.messages[self.list.mix.next()];
        if let Some(bytes) = &ready.fixed {
            out.extend_from_slice(bytes);
            return Step::Send(ready.request);
        }
        if ready.uses_feed && !self.values.take_row() {
            return Step::End;
        }
        self.values.begin_request();
        ready
            .message
            .render(&mut self.values, Extra::default(), out);
        Step::Send(ready.request)
    }
}
