//! The simplest thing to ask: every user makes the same request each time.

use std::sync::Arc;

use crate::request::FixedScript;
use crate::script::{Request, Script, Scripts};

/// The same request for each user, each time.
#[derive(Clone, Debug)]
pub struct Fixed {
    script: FixedScript,
    steps: [String; 1],
}

impl Fixed {
    /// These bytes, head and content, ready for the wire; `name` stands for them where figures are told by step.
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
