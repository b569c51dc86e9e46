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
    /// The script of these bytes, head and content, ready for the wire.
    pub fn new(bytes: impl Into<Arc<[u8]>>, request: Request) -> Self {
        Self {
            bytes: bytes.into(),
            request,
        }
    }

    /// The script of a message, if it has no variables.
    pub fn of(message: &Message) -> Option<Self> {
        let request = Request {
            check: 0,
            step: 0,
            content: message.content_of_answer(),
            due: None,
        };
        Some(Self::new(message.as_fixed()?, request))
    }
}

impl Script for FixedScript {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        out.extend_from_slice(&self.bytes);
        Step::Send(self.request)
    }
}
