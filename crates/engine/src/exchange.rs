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

/// Handles all requests of a server. Each reactor has its own instance, so it needs no lock; what
/// reactors share is held by reference. A service that wraps another must forward every call, not
/// only those for requests.
pub trait Service {
    /// Responds to a request, now or later. Called on the reactor's thread: it must not block.
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome;

    /// Decides whether a connection is accepted. Called before any byte of it is read, or after its
    /// PROXY protocol header, with the address in that. Called on the reactor's thread: it must not
    /// block.
    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        let _ = (peer, listener);
        Admit::Accept
    }

    /// Shared state has changed: called once on each reactor's thread, between two requests, after
    /// [`EngineControl::refresh`](crate::EngineControl::refresh). It must not block.
    fn refresh(&mut self) {}

    /// An exchange that was [tagged](Exchange::set_tag) has ended, or the engine itself rejected
    /// something.
    fn finished(&mut self, finished: &Finished<'_>) {
        let _ = finished;
    }
}

impl<F: FnMut(Exchange<'_>) -> Outcome> Service for F {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        self(exchange)
    }
}

/// Whether a connection is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// The connection is served.
    Accept,
    /// The connection is closed without a byte.
    Close,
}

/// When the response to an exchange comes.
#[derive(Debug)]
pub enum Outcome {
    /// The response is sent now.
    Done(Response),
    /// The response was written by [`Exchange::send_whole`].
    Sent(Sent),
    /// The response comes from the [`Responder`]. Made by [`Exchange::later`].
    Later(Later),
    /// The service is called again after [`Resume::run`]. Made by [`Exchange::suspend`].
    Suspended(Suspended),
}

impl From<Response> for Outcome {
    fn from(response: Response) -> Self {
        Self::Done(response)
    }
}

/// Proof that the response was written during the call.
#[derive(Debug)]
pub struct Sent {
    pub(crate) status: Status,
    /// The length of the content that was written: 0 in response to HEAD. Fails only for a status
    /// that is not final, which is a bug of the handler.
    pub(crate) content_bytes: Result<u64, SendError>,
}

/// Content up to this size is copied after its head into the response buffer; larger content is
/// sent from where it is. Copying 16 KiB costs less than a second system call.
pub const COPY_BYTES_MAX: usize = 16 * 1024;

impl Outcome {
    /// Changes the response, now or when it comes, for a service that wraps another. A later
    /// response is changed on the reactor's thread, after earlier changes, and so is the 500 for a
    /// dropped responder. A suspended exchange has no response yet: the wrapper is called again. A
    /// response that was [sent](Exchange::send_whole) is not changed: a wrapper that may change
    /// responses calls [`Exchange::hold_answer`] first.
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

/// Proof that a [`Responder`] exists for this exchange.
pub struct Later {
    pub(crate) amendments: Vec<Amendment>,
}

impl fmt::Debug for Later {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Later").field("amendments", &self.amendments.len()).finish()
    }
}

/// Proof that a [`Resume`] exists for this exchange.
#[derive(Debug)]
pub struct Suspended(());

/// A change to a response that comes later.
pub(crate) type Amendment = Box<dyn FnOnce(Response) -> Response>;

/// Applies all changes, in order.
pub(crate) fn amended(response: Response, amendments: &mut Vec<Amendment>) -> Response {
    let amendments = std::mem::take(amendments).into_iter();
    amendments.fold(response, |response, change| change(response))
}

/// Reports how an exchange ended.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The tag that the handler set; `None` for a response of the engine itself.
    pub tag: Option<u32>,
    /// The status that was sent.
    pub status: Status,
    /// Bytes of content that the kernel has taken, without framing: if the connection failed, fewer
    /// than the content has. Pieces up to [`COPY_BYTES_MAX`], which are sent together with what
    /// follows, count when they are copied.
    pub content_bytes: u64,
    /// The time from the complete head to the end of the response, in milliseconds of the coarse
    /// clock.
    pub duration_ms: u64,
    /// The peer's address; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The time at which the exchange ended.
    pub now: Now,
    /// Why the response is incomplete, or why the engine rejected the request.
    pub fault: Option<&'a str>,
}

/// A message to a connection from other parts of the program.
#[derive(Debug)]
pub enum Message {
    /// The response to the exchange with this number.
    Respond(u32, Box<Response>),
    /// The responder or the resume of the exchange with this number was dropped unused.
    Abandoned(u32),
    /// The suspended exchange with this number resumes with this value.
    Resume(u32, u64),
    /// A pipe of the exchange with this number has data or room.
    Pipe(u32),
    /// To all connections: limits have changed.
    Limits(Arc<Limits>),
    /// To all: the service must reload shared state.
    Refresh,
}

/// Identifies an exchange for other parts of the program.
#[derive(Clone, Copy)]
pub(crate) struct ReturnAddress<'a> {
    pub(crate) mailbox: &'a Arc<Mailbox<Message>>,
    pub(crate) token: Token,
    pub(crate) number: u32,
}

impl ReturnAddress<'_> {
    fn promise(&self) -> Promise {
        Promise {
            mailbox: Arc::clone(self.mailbox),
            token: self.token,
            number: self.number,
            fulfilled: false,
        }
    }
}

/// Makes pipes for the content of one exchange.
#[derive(Clone, Debug)]
pub struct PipeFactory {
    mailbox: Arc<Mailbox<Message>>,
    token: Token,
    number: u32,
    window_bytes: usize,
}

impl PipeFactory {
    /// Makes a pipe for the content of a [stream](crate::response::Content::Stream).
    pub fn stream(self) -> (ContentSender, ContentReader) {
        let Self { mailbox, token, number, window_bytes } = self;
        let notify = move || mailbox.post(token, Message::Pipe(number));
        pipe(window_bytes, Arc::new(notify))
    }
}

/// Where a response is written during the call.
pub(crate) struct Writer<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    pub(crate) machine: &'a mut Server,
    pub(crate) date: &'a [u8],
}

impl Writer<'_> {
    /// Returns how many bytes of content the response has.
    fn write(&mut self, status: Status, head: &[u8], content: &[u8]) -> Result<u64, SendError> {
        let length = content.len() as u64;
        let head =
            ResponseHead { status, encoded: head, length: Length::Known(length), date: self.date };
        let content_bytes = match self.machine.send_head(self.out, &head)? {
            Framing::None if self.machine.sending() == State::Switched => return Ok(0),
            Framing::None => 0,
            _ => {
                self.machine.sent(length)?;
                self.out.extend_from_slice(content);
                length
            }
        };
        self.machine.send_end(self.out, None)?;
        Ok(content_bytes)
    }
}

/// Options of an exchange that a handler sets in addition to its response.
#[derive(Default)]
pub(crate) struct ExchangeOptions {
    /// The connection ends after the response.
    pub(crate) closes: bool,
    pub(crate) inbound: Option<ContentSender>,
    /// `inbound` carries what follows once the connection has left HTTP.
    pub(crate) is_tunnel: bool,
    pub(crate) tag: Option<u32>,
    /// The maximum content length in bytes when the request arrived; 0: no limit.
    pub(crate) content_bytes_max: u64,
    /// Changes to a response that comes later.
    pub(crate) amendments: Vec<Amendment>,
}

/// One request, and the ways to respond to it. It is one pointer, which costs nothing to hand on.
pub struct Exchange<'a>(pub(crate) &'a mut ExchangeParts<'a>);

/// What an exchange consists of during the call.
pub(crate) struct ExchangeParts<'a> {
    pub(crate) head: &'a RequestHead<'a>,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) listener: &'a Endpoint,
    pub(crate) now: Now,
    pub(crate) spawner: &'a Spawner,
    pub(crate) window_bytes: usize,
    pub(crate) resumed: Option<u64>,
    pub(crate) to: ReturnAddress<'a>,
    pub(crate) options: &'a mut ExchangeOptions,
    pub(crate) writer: Writer<'a>,
    pub(crate) holds_answer: bool,
}

impl<'a> Exchange<'a> {
    /// Returns the request's head, valid during the call: copy what is needed later.
    pub fn head(&self) -> &'a RequestHead<'a> {
        self.0.head
    }

    /// Returns the peer's address; `None` over a unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.peer
    }

    /// Returns the listener that accepted the connection.
    pub fn listener(&self) -> &'a Endpoint {
        self.0.listener
    }

    /// Returns the time of this turn.
    pub fn now(&self) -> Now {
        self.0.now
    }

    /// Returns the number of this request on its connection, from 1.
    pub fn connection_requests(&self) -> u32 {
        self.0.to.number
    }

    /// Returns a spawner for futures that run on this reactor's thread.
    pub fn spawner(&self) -> &'a Spawner {
        self.0.spawner
    }

    /// Returns the value passed to [`Resume::run`], in the call that follows a
    /// [suspension](Self::suspend).
    pub fn resumed(&self) -> Option<u64> {
        self.0.resumed
    }

    /// Returns the tag that was set, now or before a suspension.
    pub fn tag(&self) -> Option<u32> {
        self.0.options.tag
    }

    /// Tags the exchange for [`Service::finished`].
    pub fn set_tag(&mut self, tag: u32) {
        self.0.options.tag = Some(tag);
    }

    /// Returns the content of the request, which can be read while it arrives; `None` if there is
    /// none or it was taken before. Content that is not taken is read and dropped.
    ///
    /// A client that waits for `100 Continue` receives it when the content is taken.
    pub fn content(&mut self) -> Option<ContentReader> {
        if self.0.head.content() == ContentLength::None || self.0.options.inbound.is_some() {
            return None;
        }
        let (sender, reader) = self.stream();
        self.0.options.inbound = Some(sender);
        Some(reader)
    }

    /// Returns what the client sends after the connection has switched protocols, for a request
    /// without content that proposes another protocol or is CONNECT; `None` for others. It begins
    /// after the response, which is 101 (2xx to CONNECT) with a [stream](Self::stream) as content
    /// for the other direction.
    pub fn tunnel(&mut self) -> Option<ContentReader> {
        let proposes = self.0.head.upgrade().is_some() || self.0.head.method == Method::Connect;
        let is_free =
            self.0.head.content() == ContentLength::None && self.0.options.inbound.is_none();
        if !proposes || !is_free {
            return None;
        }
        let (sender, reader) = self.stream();
        self.0.options.inbound = Some(sender);
        self.0.options.is_tunnel = true;
        Some(reader)
    }

    /// Makes a pipe for the content of a [stream](crate::response::Content::Stream): the handler
    /// keeps the sender.
    pub fn stream(&self) -> (ContentSender, ContentReader) {
        self.pipe_factory().stream()
    }

    /// Returns a factory for such pipes, which can be used after the exchange has ended.
    pub fn pipe_factory(&self) -> PipeFactory {
        PipeFactory {
            mailbox: Arc::clone(self.0.to.mailbox),
            token: self.0.to.token,
            number: self.0.to.number,
            window_bytes: self.0.window_bytes,
        }
    }

    /// Responds with a head (status line and field lines, each with its CRLF) and content in
    /// memory. Both are copied into the response buffer at once, without an allocation. For content
    /// up to [`COPY_BYTES_MAX`]; send larger content as a [`Response`], which does not copy it.
    pub fn send_whole(self, status: Status, head: &[u8], content: &[u8]) -> Outcome {
        if self.0.holds_answer {
            let head = Bytes::copy_from_slice(head);
            return Outcome::Done(Response::encoded(status, head).content(content.to_vec()));
        }
        Outcome::Sent(Sent { status, content_bytes: self.0.writer.write(status, head, content) })
    }

    /// Closes the connection after the response, which announces it.
    pub fn close_after(&mut self) {
        self.0.writer.machine.close_after_this();
        self.0.options.closes = true;
    }

    /// Makes [`Self::send_whole`] return the response instead of sending it, for a wrapper that
    /// changes it.
    pub fn hold_answer(&mut self) {
        self.0.holds_answer = true;
    }

    /// Changes the response if it comes [later](Self::later); an immediate response is not changed.
    /// Changes are made in the order of the calls, before those of [`Outcome::amend`].
    pub fn amend(&mut self, change: impl FnOnce(Response) -> Response + Send + 'static) {
        self.0.options.amendments.push(Box::new(change));
    }

    /// Promises a response: return the outcome, and use the responder from any thread at any time.
    pub fn later(self) -> (Responder, Outcome) {
        let responder = Responder(self.0.to.promise());
        let amendments = std::mem::take(&mut self.0.options.amendments);
        (responder, Outcome::Later(Later { amendments }))
    }

    /// Suspends the exchange until a result is available that would block here, such as whether a
    /// password is correct: return the outcome, and use the resume from any thread at any time.
    /// The service is then called again with the same head and with [`Self::resumed`].
    ///
    /// Meanwhile the content and further requests are not read, and no timeout of the client runs.
    /// The tag is kept. Content that was taken is lost, and changes by [`Self::amend`] are dropped:
    /// take and amend in the call that responds.
    pub fn suspend(self) -> (Resume, Outcome) {
        let resume = Resume(self.0.to.promise());
        (resume, Outcome::Suspended(Suspended(())))
    }
}

/// An owned address of an exchange. If it is dropped unused, the exchange is abandoned.
#[derive(Debug)]
struct Promise {
    mailbox: Arc<Mailbox<Message>>,
    token: Token,
    number: u32,
    fulfilled: bool,
}

impl Promise {
    fn fulfil(mut self, message: impl FnOnce(u32) -> Message) {
        self.fulfilled = true;
        self.mailbox.post(self.token, message(self.number));
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.fulfilled {
            self.mailbox.post(self.token, Message::Abandoned(self.number));
        }
    }
}

/// Resumes a suspended exchange, once, from any thread; without effect if the connection is closed.
/// If it is dropped unused, the response is 500.
#[derive(Debug)]
pub struct Resume(Promise);

impl Resume {
    /// Calls the service again, on the reactor's thread; [`Exchange::resumed`] then returns
    /// `value`.
    pub fn run(self, value: u64) {
        self.0.fulfil(|number| Message::Resume(number, value));
    }
}

/// Responds to one exchange, once, from any thread. If it is dropped unused, the response is 500.
///
/// A response to an exchange whose connection is closed, or to which the engine has responded
/// meanwhile (a timeout), is dropped; it can never reach another exchange.
#[derive(Debug)]
pub struct Responder(Promise);

impl Responder {
    /// Sends the response, from any thread.
    pub fn send(self, response: Response) {
        self.0.fulfil(|number| Message::Respond(number, Box::new(response)));
    }
}
