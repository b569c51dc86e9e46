//! The same bytes each time: the simplest thing to ask. They are kept once, however many users ask.

use std::sync::Arc;

use crate::script::{Request, Script, Scripts, Step, Turn};

/// One user that asks for the same again and again. Its clones share the bytes.
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
        Self {
            bytes: bytes.into(),
            request,
        }
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
        Self {
            script: FixedScript::new(bytes, request),
            steps: [name.into()],
        }
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
