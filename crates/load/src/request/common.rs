//! What the command line says of every request: where it goes, and fields that each has unless it
//! has its own.

use super::{Credentials, Draft, Framing, Url};

/// What all requests of a run share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Common<'a> {
    /// The server. Paths in lists and scenarios are meant there.
    pub base: Option<&'a Url>,
    /// Fields that give way to those of a request.
    pub fields: &'a [(String, String)],
    /// For `Authorization`, unless a request has its own.
    pub credentials: Option<&'a Credentials>,
    /// Who writes Content-Length and Transfer-Encoding.
    pub framing: Framing,
    /// Columns of the feed.
    pub columns: &'a [String],
}

impl Common<'_> {
    /// Gives a draft what it does not have. Fields come before its own.
    pub fn apply(&self, draft: &mut Draft) {
        draft.add_defaults(self.fields);
        if draft.credentials.is_none() {
            draft.credentials = self.credentials.cloned();
        }
        draft.framing = self.framing;
    }
}
