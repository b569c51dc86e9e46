//! A bounded pipe for the content of one message, between a reactor and a producer or consumer on
//! any thread.
//!
//! Each end can be used in three ways, and a pipe may mix them: the reactor tries
//! ([`ContentSender::try_send`], [`ContentReader::try_read`]) and is notified when it should try
//! again; a task polls; a thread blocks. What an end waits for is kept under the same lock as the
//! content, so a wake-up is neither lost nor sent twice.
//!
//! The pipe does not know framing or deadlines. The reactor handles a peer that stalls: it drops
//! its end, and the other end receives [`Closed`] or a [`ContentError`].

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use vervet_http::field::FieldBlock;

/// Notifies a reactor, such as through an eventfd. May be called from any thread, including the
/// reactor's own, and must neither block nor call back. Several calls before the reactor looks may
/// count as one.
pub type Notify = dyn Fn() + Send + Sync;

/// Makes a pipe that holds at most `capacity_bytes`; a larger chunk is accepted if the pipe is
/// empty.
///
/// `notify` is called for an end that got [`TrySendError::Full`] or [`Read::Pending`], at most once
/// for each such result.
pub fn pipe(capacity_bytes: usize, notify: Arc<Notify>) -> (ContentSender, ContentReader) {
    let state = State {
        chunks: VecDeque::new(),
        queued_bytes: 0,
        end: None,
        reader_gone: false,
        reader_waits: Wait::Not,
        sender_waits: Wait::Not,
        wanted_bytes: 0,
    };
    let shared = Arc::new(Shared {
        capacity_bytes,
        notify,
        state: Mutex::new(state),
        changed: Condvar::new(),
    });
    let reader = ContentReader { shared: Arc::clone(&shared), rest: Bytes::new() };
    (ContentSender { shared }, reader)
}

/// Why content ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentError {
    /// The producer was dropped without [`ContentSender::finish`]: a bug or a panic.
    Abandoned,
    /// The peer closed or reset the connection before the content was complete.
    PeerClosed,
    /// The peer sent nothing for too long.
    TimedOut,
    /// The content is larger than this limit in bytes.
    TooLarge(u64),
    /// The peer violated the framing (RFC 9112 §7.1).
    Malformed,
    /// The producer aborted the content.
    ProducerFailed,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Abandoned => f.write_str("the content was abandoned by its producer"),
            ContentError::PeerClosed => {
                f.write_str("the peer closed the connection inside the content")
            }
            ContentError::TimedOut => f.write_str("the peer stalled inside the content"),
            ContentError::TooLarge(limit) => write!(f, "the content exceeds {limit} bytes"),
            ContentError::Malformed => f.write_str("the framing of the content is broken"),
            ContentError::ProducerFailed => f.write_str("the producer of the content failed"),
        }
    }
}

impl std::error::Error for ContentError {}

impl From<ContentError> for io::Error {
    fn from(error: ContentError) -> io::Error {
        let kind = match error {
            ContentError::PeerClosed | ContentError::Abandoned => io::ErrorKind::UnexpectedEof,
            ContentError::TimedOut => io::ErrorKind::TimedOut,
            ContentError::TooLarge(_) => io::ErrorKind::FileTooLarge,
            ContentError::Malformed => io::ErrorKind::InvalidData,
            ContentError::ProducerFailed => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// The reader was dropped: the content is not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the content any more")
    }
}

impl std::error::Error for Closed {}

/// Why a chunk was not accepted; it is returned.
#[derive(Debug, PartialEq, Eq)]
pub enum TrySendError {
    /// The pipe is full. The reactor is notified when there is room.
    Full(Bytes),
    /// The reader was dropped, see [`Closed`].
    Closed(Bytes),
}

/// The result of reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// The next bytes; never empty.
    Data(Bytes),
    /// No data yet. After [`ContentReader::try_read`] the reactor is notified when there is some.
    Pending,
    /// The content is complete; trailers can be taken.
    End,
    /// The content was aborted; everything sent before was delivered.
    Failed(ContentError),
}

/// What one end waits for, which decides how it is woken.
enum Wait {
    Not,
    Notify,
    Task(Waker),
    Thread,
}

struct State {
    chunks: VecDeque<Bytes>,
    queued_bytes: usize,
    end: Option<Result<Option<FieldBlock>, ContentError>>,
    reader_gone: bool,
    reader_waits: Wait,
    sender_waits: Wait,
    /// The length of the chunk that the waiting sender holds.
    wanted_bytes: usize,
}

impl State {
    fn fits(&self, bytes: usize, capacity: usize) -> bool {
        self.queued_bytes == 0 || self.queued_bytes.saturating_add(bytes) <= capacity
    }

    fn must_wait_to_read(&self) -> bool {
        self.chunks.is_empty() && self.end.is_none()
    }

    fn must_wait_to_send(&self, bytes: usize, capacity: usize) -> bool {
        !self.reader_gone && !self.fits(bytes, capacity)
    }

    fn wait_to_send(&mut self, bytes: usize, wait: Wait) {
        self.wanted_bytes = bytes;
        self.sender_waits = wait;
    }

    /// Returns the waiting sender if it can continue. Not before the pipe is half empty: a
    /// notification per chunk would cost a system call per chunk.
    fn sender_to_wake(&mut self, capacity: usize) -> Wait {
        if self.fits(self.wanted_bytes, capacity) && self.queued_bytes <= capacity / 2 {
            std::mem::replace(&mut self.sender_waits, Wait::Not)
        } else {
            Wait::Not
        }
    }

    fn end_with(&mut self, end: Result<Option<FieldBlock>, ContentError>) -> Wait {
        if self.end.is_some() {
            return Wait::Not;
        }
        self.end = Some(end);
        std::mem::replace(&mut self.reader_waits, Wait::Not)
    }

    fn push(&mut self, chunk: Bytes) -> Wait {
        self.sender_waits = Wait::Not;
        self.queued_bytes += chunk.len();
        self.chunks.push_back(chunk);
        std::mem::replace(&mut self.reader_waits, Wait::Not)
    }

    fn pop(&mut self) -> Read {
        self.reader_waits = Wait::Not;
        if let Some(chunk) = self.chunks.pop_front() {
            self.queued_bytes -= chunk.len();
            return Read::Data(chunk);
        }
        match &self.end {
            None => Read::Pending,
            Some(Ok(_)) => Read::End,
            Some(Err(error)) => Read::Failed(*error),
        }
    }
}

struct Shared {
    capacity_bytes: usize,
    notify: Arc<Notify>,
    state: Mutex<State>,
    /// Serves both ends: they never wait at the same time, one waits for an empty pipe and the
    /// other for a full one.
    changed: Condvar,
}

impl Shared {
    /// No user code runs under the lock, so a poisoned lock still guards a sound state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called without the lock: a waker may run anything.
    fn wake(&self, wait: Wait) {
        match wait {
            Wait::Not => {}
            Wait::Notify => (self.notify)(),
            Wait::Task(waker) => waker.wake(),
            Wait::Thread => self.changed.notify_all(),
        }
    }
}

/// The producing end. Dropping it without [`ContentSender::finish`] aborts the content.
pub struct ContentSender {
    shared: Arc<Shared>,
}

impl ContentSender {
    /// Sends a chunk if there is room, for the reactor. An empty chunk is ignored and always
    /// accepted.
    pub fn try_send(&mut self, chunk: Bytes) -> Result<(), TrySendError> {
        self.offer(chunk, || Wait::Notify)
    }

    /// Sends a chunk, blocking until there is room or the reader is gone; for threads other than
    /// the reactor's.
    pub fn send_blocking(&mut self, chunk: Bytes) -> Result<(), Closed> {
        let capacity = self.shared.capacity_bytes;
        let mut state = self.shared.lock();
        if state.must_wait_to_send(chunk.len(), capacity) {
            state.wait_to_send(chunk.len(), Wait::Thread);
            state = self
                .shared
                .changed
                .wait_while(state, |state| state.must_wait_to_send(chunk.len(), capacity))
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.offer(chunk, || Wait::Not).map_err(|_| Closed)
    }

    /// Ready when a chunk of `chunk_bytes` would be accepted, or the reader is gone.
    pub fn poll_ready(
        &mut self,
        cx: &mut Context<'_>,
        chunk_bytes: usize,
    ) -> Poll<Result<(), Closed>> {
        let mut state = self.shared.lock();
        if state.reader_gone {
            return Poll::Ready(Err(Closed));
        }
        if state.fits(chunk_bytes, self.shared.capacity_bytes) {
            return Poll::Ready(Ok(()));
        }
        state.wait_to_send(chunk_bytes, Wait::Task(cx.waker().clone()));
        Poll::Pending
    }

    /// Sends a chunk, waiting for room; for tasks.
    pub async fn send(&mut self, chunk: Bytes) -> Result<(), Closed> {
        std::future::poll_fn(|cx| self.poll_ready(cx, chunk.len())).await?;
        self.offer(chunk, || Wait::Not).map_err(|_| Closed)
    }

    /// Completes the content. Trailers are sent after chunked content.
    pub fn finish(self, trailers: Option<FieldBlock>) {
        self.end_with(Ok(trailers));
    }

    /// Aborts the content; the reader gets the error after it has read what was sent.
    pub fn abort(self, error: ContentError) {
        self.end_with(Err(error));
    }

    /// Returns whether the reader was dropped.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().reader_gone
    }

    fn offer(&mut self, chunk: Bytes, wait: impl FnOnce() -> Wait) -> Result<(), TrySendError> {
        let mut state = self.shared.lock();
        if state.reader_gone {
            return Err(TrySendError::Closed(chunk));
        }
        if chunk.is_empty() {
            return Ok(());
        }
        if !state.fits(chunk.len(), self.shared.capacity_bytes) {
            state.wait_to_send(chunk.len(), wait());
            return Err(TrySendError::Full(chunk));
        }
        let woken = state.push(chunk);
        drop(state);
        self.shared.wake(woken);
        Ok(())
    }

    fn end_with(&self, end: Result<Option<FieldBlock>, ContentError>) {
        let woken = self.shared.lock().end_with(end);
        self.shared.wake(woken);
    }
}

impl Drop for ContentSender {
    fn drop(&mut self) {
        self.end_with(Err(ContentError::Abandoned));
    }
}

impl fmt::Debug for ContentSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentSender").finish_non_exhaustive()
    }
}

/// The consuming end. Dropping it reports [`Closed`] to the sender.
pub struct ContentReader {
    shared: Arc<Shared>,
    /// What [`std::io::Read`] left of a chunk; all reading methods return it first.
    rest: Bytes,
}

impl ContentReader {
    /// Returns the next chunk if there is one, for the reactor.
    pub fn try_read(&mut self) -> Read {
        self.take(|| Wait::Notify)
    }

    /// Polls for the next chunk, `None` at the end of the content; for tasks.
    pub fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ContentError>>> {
        match self.take(|| Wait::Task(cx.waker().clone())) {
            Read::Data(chunk) => Poll::Ready(Some(Ok(chunk))),
            Read::Pending => Poll::Pending,
            Read::End => Poll::Ready(None),
            Read::Failed(error) => Poll::Ready(Some(Err(error))),
        }
    }

    /// Returns the next chunk, `None` at the end of the content; for tasks.
    pub async fn read(&mut self) -> Option<Result<Bytes, ContentError>> {
        std::future::poll_fn(|cx| self.poll_read(cx)).await
    }

    /// Returns the next chunk, waiting at most `timeout` and then [`Read::Pending`]; for threads
    /// other than the reactor's.
    pub fn read_blocking(&mut self, timeout: Duration) -> Read {
        if self.rest.is_empty() {
            let mut state = self.shared.lock();
            if state.must_wait_to_read() {
                state.reader_waits = Wait::Thread;
                let waited = self
                    .shared
                    .changed
                    .wait_timeout_while(state, timeout, |state| state.must_wait_to_read());
                drop(waited);
            }
        }
        self.take(|| Wait::Not)
    }

    /// Returns the whole content, or [`ContentError::TooLarge`] once it exceeds `limit_bytes`; for
    /// threads other than the reactor's.
    pub fn read_all_blocking(&mut self, limit_bytes: usize) -> Result<Vec<u8>, ContentError> {
        let mut all = Vec::new();
        loop {
            match self.read_blocking(Duration::MAX) {
                Read::Data(chunk) if chunk.len() > limit_bytes - all.len() => {
                    return Err(ContentError::TooLarge(limit_bytes as u64));
                }
                Read::Data(chunk) => all.extend_from_slice(&chunk),
                Read::Pending => {}
                Read::End => return Ok(all),
                Read::Failed(error) => return Err(error),
            }
        }
    }

    /// Returns the trailer fields as an encoded block, once, after [`Read::End`].
    pub fn take_trailers(&mut self) -> Option<FieldBlock> {
        match &mut self.shared.lock().end {
            Some(Ok(trailers)) => trailers.take(),
            _ => None,
        }
    }

    fn take(&mut self, wait: impl FnOnce() -> Wait) -> Read {
        if !self.rest.is_empty() {
            return Read::Data(std::mem::take(&mut self.rest));
        }
        let mut state = self.shared.lock();
        let read = state.pop();
        if read == Read::Pending {
            state.reader_waits = wait();
            return read;
        }
        let woken = state.sender_to_wake(self.shared.capacity_bytes);
        drop(state);
        self.shared.wake(woken);
        read
    }
}

impl Drop for ContentReader {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.reader_gone = true;
        let unread = std::mem::take(&mut state.chunks);
        state.queued_bytes = 0;
        let woken = std::mem::replace(&mut state.sender_waits, Wait::Not);
        drop(state);
        drop(unread);
        self.shared.wake(woken);
    }
}

impl fmt::Debug for ContentReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentReader").finish_non_exhaustive()
    }
}

/// Blocks until there is content: not for the reactor's thread.
impl io::Read for ContentReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.read_blocking(Duration::MAX) {
                Read::Data(mut chunk) => {
                    let length = chunk.len().min(buffer.len());
                    buffer[..length].copy_from_slice(&chunk.split_to(length));
                    self.rest = chunk;
                    return Ok(length);
                }
                Read::Pending => {}
                Read::End => return Ok(0),
                Read::Failed(error) => return Err(error.into()),
            }
        }
    }
}

impl futures_core::Stream for ContentReader {
    type Item = Result<Bytes, ContentError>;

    fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_read(cx)
    }
}
