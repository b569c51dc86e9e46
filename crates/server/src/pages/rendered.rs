//! The result of a renderer: a page ready to be sent.

use bytes::Bytes;
use vervet_engine::Response;
use vervet_engine::exchange::COPY_BYTES_MAX;
use vervet_http::status::Status;

/// The largest content of [`Rendering::Plain`], in bytes: what the engine copies after the head.
pub(super) const PLAIN_BYTES_MAX: usize = COPY_BYTES_MAX;

/// A rendered page with its status.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The status of the response.
    pub status: Status,
    /// Status line and field lines.
    pub head: Bytes,
    /// The content of the response.
    pub content: Bytes,
    /// The source of the content.
    pub voice: Voice,
}

/// The source of the content of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The template, or a message for its author: shown unchanged.
    Page,
    /// A default error page, which a custom error page may replace.
    Notice,
}

impl From<Rendered> for Response {
    fn from(rendered: Rendered) -> Self {
        let response = Self::encoded(rendered.status, rendered.head).content(rendered.content);
        match rendered.voice {
            Voice::Page => response.keep_content(),
            Voice::Notice => response,
        }
    }
}

/// The result of a rendering.
#[derive(Debug)]
pub(crate) enum Rendering<'r> {
    /// 200 with the head that the edition has for it, and content of at most [`PLAIN_BYTES_MAX`]
    /// that lies in the buffer of the renderer: what most pages are, and nothing has to be made for
    /// them.
    Plain { head: &'r Bytes, content: &'r [u8] },
    /// Anything else.
    Made(Rendered),
}

impl From<Rendering<'_>> for Rendered {
    fn from(outcome: Rendering<'_>) -> Self {
        match outcome {
            Rendering::Plain { head, content } => {
                Self::plain(head.clone(), Bytes::copy_from_slice(content))
            }
            Rendering::Made(rendered) => rendered,
        }
    }
}

impl Rendered {
    /// 200 with nothing that the page has asked for.
    pub(super) fn plain(head: Bytes, content: Bytes) -> Self {
        Self { status: Status::OK, head, content, voice: Voice::Page }
    }
}
