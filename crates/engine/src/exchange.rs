//! What a handler sees: one exchange, never a socket.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use vervet_http::h1::state::State;
use vervet_http::h1::{
    ContentLength, Framing, Length, RequestHead, ResponseHead, SendError, Server,
};
use vervet_http::method::Method;
use vervet_http::status::Status;

use crate::executor::Spawner;
use crate::limits::Limits;
use crate::listener::Endpoint;
use crate::pipe::{ContentReader, ContentSender, pipe};
use crate::reactor::{Mailbox, Now, Token};
use crate::response::Response;

/// What all requests of a server come to. Each reactor has a value of its own, so it needs no lock; what
/// several reactors share, it holds by reference. A service around another hands on every call, not only those for requests.
pub trait Service {
    /// Answers a request, now or later. Called on the reactor's thread: it must not block.
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome;

    /// Whether a connection is taken at all: asked before a byte is read from it, and, where a PROXY protocol header comes first, behind
    /// that header with the address it tells. Called on the reactor's thread: it must not block.
    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        let _ = (peer, listener);
        Admit::Accept
    }

    /// Something that all services share has changed: called once on each reactor's thread, between two requests, when
    /// [`EngineControl::refresh`](crate::EngineControl::refresh) asks for it. It must not block.
    fn refresh(&mut self) {}

    /// An exchange that was [tagged](Exchange::set_tag) has ended, or the engine itself refused something.
    fn finished(&mut self, finished: &Finished<'_>) {
        let _ = finished;
    }
}

impl<F: FnMut(Exchange<'_>) -> Outcome> Service for F {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        self(exchange)
    }
}

/// Whether a connection is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// It is served.
    Accept,
    /// It is closed without a byte.
    Close,
}

/// When the answer comes.
#[derive(Debug)]
pub enum Outcome {
    /// Now.
    Done(Response),
    /// Written already, by [`Exchange::send_whole`].
    Sent(Sent),
    /// When the [`Responder`] is used. Made by [`Exchange::later`].
    Later(Later),
    /// The service is called again when the [`Resume`] is used. Made by [`Exchange::suspend`].
    Suspended(Suspended),
}

impl From<Response> for Outcome {
    fn from(response: Response) -> Self {
        Self::Done(response)
    }
}

/// Says that the answer was written while the exchange was at hand.
#[derive(Debug)]
pub struct Sent {
    pub(crate) status: Status,
    pub(crate) content_bytes: u64,
    /// Fails only for a status that cannot be a final answer: our side's fault.
    pub(crate) result: Result<(), SendError>,
}

/// Content up to this size is copied behind its head into the one answer buffer; larger is sent from where it
/// lies. Copying 16 KiB costs less than a second system call.
pub const COPY_BYTES_MAX: usize = 16 * 1024;

impl Outcome {
    /// Changes the answer, now or when it comes: what a wrapper does with the outcome of the service within. A later answer is changed
    /// on the reactor's thread, behind what was asked for before, and so is the 500 for a responder that was dropped. An exchange that
    /// is suspended has no answer yet: the wrapper is called again with the service. One that is [sent](Exchange::send_whole) stays as it
    /// is: a wrapper that may change answers [holds](Exchange::hold_answer) them first.
    #[must_use]
    pub fn amend(self, change: impl FnOnce(Response) -> Response + 'static) -> Self {
        match self {
            Self::Done(response) => Self::Done(change(response)),
            Self::Later(mut later) => {
                later.amendments.push(Box::new(change));
                Self::Later(later)
            }
            sent_or_suspended => sent_or_suspended,
        }
    }
}

/// Says that a [`Responder`] exists for this exchange.
pub struct Later {
    pub(crate) amendments: Vec<Amendment>,
}

impl fmt::Debug for Later {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Later")
            .field("amendments", &self.amendments.len())
            .finish()
    }
}

/// Says that a [`Resume`] exists for this exchange.
#[derive(Debug)]
pub struct Suspended(());

/// A change to an answer that is yet to come.
pub(crate) type Amendment = Box<dyn FnOnce(Response) -> Response>;

/// Makes all changes, in order.
pub(crate) fn amended(response: Response, amendments: &mut Vec<Amendment>) -> Response {
    let amendments = std::mem::take(amendments).into_iter();
    amendments.fold(response, |response, change| change(response))
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// What the handler called it; `None` for an answer of the engine itself.
    pub tag: Option<u32>,
    /// The status that was sent.
    pub status: Status,
    /// Bytes of content given to the connection, without framing.
    pub content_bytes: u64,
    /// From the complete head to the end of the answer, in milliseconds of the coarse clock.
    pub duration_ms: u64,
    /// The peer; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The time at the end.
    pub now: Now,
    /// Why the answer did not reach its end, if it did not, or why the engine refused.
    pub fault: Option<&'a str>,
}

/// What other parts of the program may post to a connection.
#[derive(Debug)]
pub enum Message {
    /// The answer to the exchange of this number.
    Respond(u32, Box<Response>),
    /// The responder or the resume of the exchange of this number was dropped unused.
    Abandoned(u32),
    /// The suspended exchange of this number goes on with this value.
    Resume(u32, u64),
    /// A pipe of the exchange of this number has data or room again.
    Pipe(u32),
    /// To all: other limits hold.
    Limits(Arc<Limits>),
    /// To all: the service is to look anew at what it shares with others.
    Refresh,
}

/// What names an exchange to the rest of the program.
#[derive(Clone, Copy)]
pub(crate) struct Return<'a> {
    pub(crate) mailbox: &'a Arc<Mailbox<Message>>,
    pub(crate) token: Token,
    pub(crate) number: u32,
}

/// Makes pipes for the content of one exchange.
#[derive(Clone, Debug)]
pub struct Piping {
    mailbox: Arc<Mailbox<Message>>,
    token: Token,
    number: u32,
    window_bytes: usize,
}

impl Piping {
    /// A pipe for the content of a [stream](crate::response::Content::Stream).
    pub fn stream(self) -> (ContentSender, ContentReader) {
        let Self {
            mailbox,
            token,
            number,
            window_bytes,
        } = self;
        let bell = move || mailbox.post(token, Message::Pipe(number));
        pipe(window_bytes, Arc::new(bell))
    }
}

/// Where an answer is written to while the exchange is at hand.
pub(crate) struct Writer<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    pub(crate) machine: &'a mut Server,
    pub(crate) date: &'a [u8],
}

impl Writer<'_> {
    fn write(&mut self, status: Status, head: &[u8], content: &[u8]) -> Result<(), SendError> {
        let length = content.len() as u64;
        let head = ResponseHead {
            status,
            encoded: head,
            length: Length::Known(length),
            date: self.date,
        };
        match self.machine.send_head(self.out, &head)? {
            Framing::None if self.machine.sending() == State::Switched => return Ok(()),
            Framing::None => {}
            _ => {
                self.machine.sent(length)?;
                self.out.extend_from_slice(content);
            }
        }
        self.machine.send_end(self.out, None)
    }
}

/// What a handler leaves behind besides its answer.
#[derive(Default)]
pub(crate) struct Left {
    /// The connection ends behind the answer.
    pub(crate) closes: bool,
    pub(crate) inbound: Option<ContentSender>,
    /// What `inbound` carries begins when the connection has left HTTP.
    pub(crate) is_tunnel: bool,
    pub(crate) tag: Option<u32>,
    /// Most content that may come, in bytes, by the limits that held when the request came; 0: any.
    pub(crate) content_bytes_max: u64,
    /// Changes to an answer that comes later.
    pub(crate) amendments: Vec<Amendment>,
}

/// One request, and the ways to answer it.
pub struct Exchange<'a> {
    pub(crate) head: &'a RequestHead<'a>,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) listener: &'a Endpoint,
    pub(crate) now: Now,
    pub(crate) spawner: &'a Spawner,
    pub(crate) window_bytes: usize,
    pub(crate) resumed: Option<u64>,
    pub(crate) to: Return<'a>,
    pub(crate) left: &'a mut Left,
    pub(crate) writer: Writer<'a>,
    pub(crate) holds_answer: bool,
}

impl<'a> Exchange<'a> {
    /// The request's head. It lives as long as the call: copy what is needed later.
    pub fn head(&self) -> &'a RequestHead<'a> {
        self.head
    }

    /// The peer's address; `None` over a unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The listener that the connection came in by.
    pub fn listener(&self) -> &'a Endpoint {
        self.listener
    }

    /// The time of this turn.
    pub fn now(&self) -> Now {
        self.now
    }

    /// For futures that are to run on this reactor's thread.
    pub fn spawner(&self) -> &'a Spawner {
        self.spawner
    }

    /// What [`Resume::go`] was told, in the call that follows a [suspension](Self::suspend).
    pub fn resumed(&self) -> Option<u64> {
        self.resumed
    }

    /// The tag that was set, in this call or in one before a suspension.
    pub fn tag(&self) -> Option<u32> {
        self.left.tag
    }

    /// Names the exchange for [`Service::finished`].
    pub fn set_tag(&mut self, tag: u32) {
        self.left.tag = Some(tag);
    }

    /// The request's content, to be read while it arrives; `None` when there is none, or it was taken before.
    /// Content that nobody takes is read and dropped.
    ///
    /// A client that waits for `100 Continue` is told to go on when the content is taken.
    pub fn content(&mut self) -> Option<ContentReader> {
        if self.head.content() == ContentLength::None || self.left.inbound.is_some() {
            return None;
        }
        let (sender, reader) = self.stream();
        self.left.inbound = Some(sender);
        Some(reader)
    }

    /// What the client will send once the connection has left HTTP, for a request without content that proposes
    /// another protocol or is CONNECT; `None` for others. Nothing comes before the answer, which is 101 (2xx to
    /// CONNECT) with a [stream](Self::stream) as content: the other direction.
    pub fn tunnel(&mut self) -> Option<ContentReader> {
        let proposes = self.head.upgrade().is_some() || self.head.method == Method::Connect;
        let is_free = self.head.content() == ContentLength::None && self.left.inbound.is_none();
        if !proposes || !is_free {
            return None;
        }
        let (sender, reader) = self.stream();
        self.left.inbound = Some(sender);
        self.left.is_tunnel = true;
        Some(reader)
    }

    /// A pipe for the content of a [stream](crate::response::Content::Stream): the handler keeps the sender.
    pub fn stream(&self) -> (ContentSender, ContentReader) {
        self.piping().stream()
    }

    /// Makes such a pipe when it is needed, also after the exchange is gone from hand.
    pub fn piping(&self) -> Piping {
        Piping {
            mailbox: Arc::clone(self.to.mailbox),
            token: self.to.token,
            number: self.to.number,
            window_bytes: self.window_bytes,
        }
    }

    /// Answers with a head (status line and field lines, each with its CRLF) and content that lie in memory: they are
    /// copied into the answer buffer at once, and nothing is allocated, counted or kept. For content up to
    /// [`COPY_BYTES_MAX`]; larger is better given as a [`Response`], which does not copy it.
    pub fn send_whole(mut self, status: Status, head: &[u8], content: &[u8]) -> Outcome {
        if self.holds_answer {
            let head = Bytes::copy_from_slice(head);
            return Outcome::Done(Response::encoded(status, head).content(content.to_vec()));
        }
        Outcome::Sent(Sent {
            status,
            content_bytes: content.len() as u64,
            result: self.writer.write(status, head, content),
        })
    }

    /// Closes the connection behind the answer, which says so.
    pub fn close_after(&mut self) {
        self.writer.machine.close_after_this();
        self.left.closes = true;
    }

    /// Makes [`Self::send_whole`] return the answer instead of sending it, for a wrapper that is to change it.
    pub fn hold_answer(&mut self) {
        self.holds_answer = true;
    }

    /// Changes the answer if it comes [later](Self::later); one that is given at once is left to whoever gives it. Changes are made in
    /// the order in which they were asked for, before those of [`Outcome::amend`], which does the same from outside.
    pub fn amend(&mut self, change: impl FnOnce(Response) -> Response + Send + 'static) {
        self.left.amendments.push(Box::new(change));
    }

    /// Promises an answer: return the outcome, and use the responder from wherever and whenever it suits.
    pub fn later(self) -> (Responder, Outcome) {
        let responder = Responder {
            mailbox: Arc::clone(self.to.mailbox),
            token: self.to.token,
            number: self.to.number,
            answered: false,
        };
        let amendments = std::mem::take(&mut self.left.amendments);
        (responder, Outcome::Later(Later { amendments }))
    }

    /// Lets the exchange wait until something is known that cannot be known here without blocking, such as whether a password is right:
    /// return the outcome, and use the resume from wherever and whenever it suits. The service is then called again with the same head
    /// and with [`Self::resumed`].
    ///
    /// Meanwhile nothing is read of the content and of the requests behind, and no limit in time runs against the client, which owes
    /// nothing. The tag stays. Content that was taken is lost, and changes that [`Self::amend`] asked for are forgotten: both are for the
    /// call that answers.
    pub fn suspend(self) -> (Resume, Outcome) {
        let resume = Resume {
            mailbox: Arc::clone(self.to.mailbox),
            token: self.to.token,
            number: self.to.number,
            used: false,
        };
        (resume, Outcome::Suspended(Suspended(())))
    }
}

/// Lets a suspended exchange go on, once, from any thread. One that is dropped unused answers 500.
///
/// Nothing happens when the connection is gone meanwhile.
#[derive(Debug)]
pub struct Resume {
    mailbox: Arc<Mailbox<Message>>,
    token: Token,
    number: u32,
    used: bool,
}

impl Resume {
    /// Calls the service again, on the reactor's thread; `value` is what [`Exchange::resumed`] gives then.
    pub fn go(mut self, value: u64) {
        self.used = true;
        self.mailbox
            .post(self.token, Message::Resume(self.number, value));
    }
}

impl Drop for Resume {
    fn drop(&mut self) {
        if !self.used {
            self.mailbox
                .post(self.token, Message::Abandoned(self.number));
        }
    }
}

/// Answers one exchange, once, from any thread. One that is dropped unused answers 500.
///
/// An answer to an exchange whose connection is gone, or that was answered by the engine meanwhile (a time
/// limit), goes nowhere; it can never reach another exchange.
#[derive(Debug)]
pub struct Responder {
    mailbox: Arc<Mailbox<Message>>,
    token: Token,
    number: u32,
    answered: bool,
}

impl Responder {
    /// Sends the answer.
    pub fn send(mut self, response: Response) {
        self.answered = true;
        self.mailbox.post(
            self.token,
            Message::Respond(self.number, Box::new(response)),
        );
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            self.mailbox
                .post(self.token, Message::Abandoned(self.number));
        }
    }
}
