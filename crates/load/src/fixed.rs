//! The simplest script: the same request each time.

use std::sync::Arc;

use crate::script::{Request, Script, Scripts, Step, Turn};

/// The same request for each user, each time.
#[derive(Clone, Debug)]
pub struct Fixed {
    bytes: Arc<[u8]>,
    request: Request,
    steps: [String; 1],
}

impl Fixed {
    /// These bytes, head and content, ready for the wire; `name` stands for them where figures are told by step.
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>, request: Request) -> Self {
        Self {
            bytes: bytes.into(),
            request,
            steps: [name.into()],
        }
    }
}

impl Scripts for Fixed {
    fn user(&self, _number: u32) -> Box<dyn Script> {
        Box::new(Same {
            bytes: Arc::clone(&self.bytes),
            request: self.request,
        })
    }

    fn steps(&self) -> &[String] {
        &self.steps
    }
}

struct Same {
    bytes: Arc<[u8]>,
    request: Request,
}

impl Script for Same {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        out.extend_from_slice(&self.bytes);
        Step::Send(self.request)
    }
}
