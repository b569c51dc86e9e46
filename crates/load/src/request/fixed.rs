//! The same bytes each time.

use std::sync::Arc;

use super::Message;
use crate::script::{Request, Script, Step, Turn};

/// Asks for the same again and again.
#[derive(Clone, Debug)]
pub struct FixedScript {
    bytes: Arc<[u8]>,
    request: Request,
}

impl FixedScript {
    /// The script of a message, if it has no variables.
    pub fn of(message: &Message) -> Option<Self> {
        Some(Self {
            bytes: message.as_fixed()?.into(),
            request: Request {
                check: 0,
                step: 0,
                content: message.content_of_answer(),
                due: None,
            },
        })
    }
}

impl Script for FixedScript {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        out.extend_from_slice(&self.bytes);
        Step::Send(self.request)
    }
}
