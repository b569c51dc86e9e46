//! The content pipe: both ends, each used in three ways, and no lost wake-up.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use vervet_engine::pipe::{
    Closed, ContentError, ContentReader, ContentSender, Read, TrySendError, pipe,
};
use vervet_http::field::FieldBlock;

/// Long enough to be a lost wake-up and nothing else.
const LOST: Duration = Duration::from_secs(20);

struct Notifications(AtomicUsize);

impl Notifications {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Notifications {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn notifications() -> Arc<Notifications> {
    Arc::new(Notifications(AtomicUsize::new(0)))
}

fn counting_pipe(capacity: usize) -> (ContentSender, ContentReader, Arc<Notifications>) {
    let notifications = notifications();
    let counter = Arc::clone(&notifications);
    let (sender, reader) = pipe(capacity, Arc::new(move || Arc::clone(&counter).wake()));
    (sender, reader, notifications)
}

fn chunk(length: usize) -> Bytes {
    Bytes::from(vec![b'x'; length])
}

enum Step {
    /// Offer a chunk of that length; whether it is taken.
    Send(usize, bool),
    /// Read; the length of the chunk, or `None` for pending.
    Read(Option<usize>),
    /// How often the reactor was notified since the last such step.
    Notified(usize),
}
use Step::{Notified, Send};

/// Runs the steps against a pipe of 100 bytes.
fn check(steps: &[Step]) {
    let (mut sender, mut reader, notifications) = counting_pipe(100);
    let mut heard = 0;
    for (index, step) in steps.iter().enumerate() {
        match step {
            Send(length, taken) => {
                assert_eq!(sender.try_send(chunk(*length)).is_ok(), *taken, "step {index}");
            }
            Step::Read(Some(length)) => {
                assert_eq!(reader.try_read(), Read::Data(chunk(*length)), "step {index}");
            }
            Step::Read(None) => assert_eq!(reader.try_read(), Read::Pending, "step {index}"),
            Notified(count) => {
                assert_eq!(notifications.count() - heard, *count, "step {index}");
                heard = notifications.count();
            }
        }
    }
}

fn read(length: usize) -> Step {
    Step::Read(Some(length))
}

const NOTHING: Step = Step::Read(None);

#[test]
fn the_window_is_exact() {
    check(&[Send(60, true), Send(41, false), Send(40, true), Send(1, false)]);
    check(&[Send(100, true), Send(1, false), read(100), Send(1, true)]);
}

#[test]
fn a_chunk_beyond_the_window_goes_into_an_empty_pipe_only() {
    check(&[Send(101, true), Send(1, false), read(101), Send(1, true), Send(101, false)]);
}

#[test]
fn an_empty_chunk_is_nothing() {
    check(&[
        NOTHING,
        Send(0, true),
        Notified(0),
        NOTHING,
        Send(100, true),
        Send(0, true),
        Notified(1),
    ]);
}

#[test]
fn the_reader_is_notified_once_for_each_pending() {
    check(&[
        Send(1, true),
        Notified(0),
        read(1),
        NOTHING,
        NOTHING,
        Send(1, true),
        Send(1, true),
        Notified(1),
    ]);
    check(&[NOTHING, Send(1, true), Notified(1), read(1), Send(1, true), Notified(0)]);
}

#[test]
fn the_sender_is_notified_once_when_half_is_free_and_the_chunk_fits() {
    let fill = [Send(25, true), Send(25, true), Send(25, true), Send(25, true), Send(10, false)];
    let drain = [read(25), Notified(0), read(25), Notified(1), read(25), read(25), Notified(0)];
    check(&fill.into_iter().chain(drain).collect::<Vec<_>>());
    check(&[
        Send(50, true),
        Send(50, true),
        Send(90, false),
        read(50),
        Notified(0),
        read(50),
        Notified(1),
    ]);
}

#[test]
fn a_sender_that_continued_by_itself_is_not_notified() {
    check(&[
        Send(40, true),
        Send(60, true),
        Send(40, false),
        read(40),
        Notified(0),
        Send(40, true),
        read(60),
        read(40),
        Notified(0),
    ]);
}

#[test]
fn dropping_the_sender_is_a_failure_and_not_an_end() {
    let (mut sender, mut reader, notifications) = counting_pipe(100);
    sender.try_send(chunk(3)).unwrap();
    drop(sender);
    assert_eq!(reader.try_read(), Read::Data(chunk(3)));
    assert_eq!(reader.try_read(), Read::Failed(ContentError::Abandoned));
    assert_eq!(reader.try_read(), Read::Failed(ContentError::Abandoned));
    assert_eq!(notifications.count(), 0);
}

#[test]
fn abort_passes_its_reason_and_notifies() {
    let (sender, mut reader, notifications) = counting_pipe(100);
    assert_eq!(reader.try_read(), Read::Pending);
    sender.abort(ContentError::TimedOut);
    assert_eq!(notifications.count(), 1);
    assert_eq!(reader.try_read(), Read::Failed(ContentError::TimedOut));
    assert_eq!(reader.take_trailers(), None);
}

#[test]
fn finish_brings_the_trailers_once() {
    let (sender, mut reader, notifications) = counting_pipe(100);
    assert_eq!(reader.try_read(), Read::Pending);
    let mut trailers = FieldBlock::new();
    trailers.push(b"a", b"b").unwrap();
    sender.finish(Some(trailers));
    assert_eq!(notifications.count(), 1);
    assert_eq!(reader.try_read(), Read::End);
    assert_eq!(reader.take_trailers().unwrap().as_bytes(), b"a: b\r\n");
    assert_eq!(reader.take_trailers(), None);
    assert_eq!(reader.try_read(), Read::End);
}

#[test]
fn dropping_the_reader_closes_the_sender_and_notifies_it_if_it_waits() {
    let (mut sender, reader, notifications) = counting_pipe(10);
    sender.try_send(chunk(10)).unwrap();
    assert_eq!(sender.try_send(chunk(1)), Err(TrySendError::Full(chunk(1))));
    assert!(!sender.is_closed());
    drop(reader);
    assert_eq!(notifications.count(), 1);
    assert!(sender.is_closed());
    assert_eq!(sender.try_send(chunk(1)), Err(TrySendError::Closed(chunk(1))));
    assert_eq!(sender.send_blocking(chunk(1)), Err(Closed));
}

#[test]
fn a_blocked_sender_returns_when_the_reader_is_dropped() {
    let (mut sender, reader, _) = counting_pipe(10);
    sender.try_send(chunk(10)).unwrap();
    let blocked = thread::spawn(move || sender.send_blocking(chunk(1)));
    drop(reader);
    assert_eq!(blocked.join().unwrap(), Err(Closed));
}

#[test]
fn a_blocked_reader_returns_after_its_timeout() {
    let (_sender, mut reader, notifications) = counting_pipe(10);
    assert_eq!(reader.read_blocking(Duration::from_millis(1)), Read::Pending);
    assert_eq!(notifications.count(), 0);
}

#[test]
fn tasks_are_woken_at_both_ends() {
    let (mut sender, mut reader, notified) = counting_pipe(10);
    let task = notifications();
    let waker = Waker::from(Arc::clone(&task));
    let cx = &mut Context::from_waker(&waker);
    assert_eq!(reader.poll_read(cx), Poll::Pending);
    sender.try_send(chunk(10)).unwrap();
    assert_eq!(task.count(), 1);
    assert_eq!(sender.poll_ready(cx, 1), Poll::Pending);
    assert_eq!(reader.poll_read(cx), Poll::Ready(Some(Ok(chunk(10)))));
    assert_eq!(task.count(), 2);
    assert_eq!(sender.poll_ready(cx, 1), Poll::Ready(Ok(())));
    sender.finish(None);
    assert_eq!(reader.poll_read(cx), Poll::Ready(None));
    assert_eq!(notified.count(), 0);
}

#[test]
fn read_all_holds_its_limit_exactly() {
    for (limit, expected) in [(10, Ok(10)), (9, Err(ContentError::TooLarge(9)))] {
        let (mut sender, mut reader, _) = counting_pipe(100);
        for _ in 0..5 {
            sender.try_send(chunk(2)).unwrap();
        }
        sender.finish(None);
        assert_eq!(reader.read_all_blocking(limit).map(|all| all.len()), expected);
    }
}

#[test]
fn io_read_cuts_chunks_and_loses_nothing() {
    let (mut sender, mut reader, _) = counting_pipe(100);
    sender.try_send(Bytes::from_static(b"hello ")).unwrap();
    sender.try_send(Bytes::from_static(b"world")).unwrap();
    let mut two = [0; 2];
    reader.read_exact(&mut two).unwrap();
    assert_eq!(&two, b"he");
    assert_eq!(reader.try_read(), Read::Data(Bytes::from_static(b"llo ")));
    let mut rest = String::new();
    sender.abort(ContentError::PeerClosed);
    let error = reader.read_to_string(&mut rest).unwrap_err();
    assert_eq!((rest.as_str(), error.kind()), ("world", std::io::ErrorKind::UnexpectedEof));
}

const STRESS_CHUNKS: usize = 30_000;

/// Lengths between 1 and 97 with the index written in front, so that order and content can be
/// checked.
fn stress_chunk(index: usize) -> Bytes {
    let mut bytes = index.to_le_bytes().to_vec();
    bytes.resize(8 + index * 31 % 90, 0);
    Bytes::from(bytes)
}

/// A pipe whose notifications go to a channel, instead of a reactor.
fn channel_pipe() -> (ContentSender, ContentReader, Receiver<()>, Arc<AtomicUsize>) {
    let (notifications, notified) = sync_channel(1);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let (sender, reader) = pipe(
        256,
        Arc::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = notifications.try_send(());
        }),
    );
    (sender, reader, notified, count)
}

#[test]
fn a_trying_sender_and_a_blocking_reader_never_miss_each_other() {
    let (mut sender, mut reader, notified, count) = channel_pipe();
    let consumer = thread::spawn(move || {
        for index in 0..STRESS_CHUNKS {
            assert_eq!(reader.read_blocking(LOST), Read::Data(stress_chunk(index)));
        }
        assert_eq!(reader.read_blocking(LOST), Read::End);
    });
    let mut refused = 0;
    for index in 0..STRESS_CHUNKS {
        let mut offered = stress_chunk(index);
        while let Err(TrySendError::Full(back)) = sender.try_send(offered) {
            refused += 1;
            notified.recv_timeout(LOST).expect("the wake-up was lost");
            offered = back;
        }
    }
    sender.finish(None);
    consumer.join().unwrap();
    assert!(count.load(Ordering::SeqCst) <= refused, "notified more often than refused");
}

#[test]
fn a_blocking_sender_and_a_trying_reader_never_miss_each_other() {
    let (mut sender, mut reader, notified, count) = channel_pipe();
    let producer = thread::spawn(move || {
        for index in 0..STRESS_CHUNKS {
            sender.send_blocking(stress_chunk(index)).unwrap();
        }
        sender.finish(None);
    });
    let (mut index, mut pending) = (0, 0);
    loop {
        match reader.try_read() {
            Read::Data(chunk) => {
                assert_eq!(chunk, stress_chunk(index));
                index += 1;
            }
            Read::Pending => {
                pending += 1;
                notified.recv_timeout(LOST).expect("the wake-up was lost");
            }
            Read::End => break,
            Read::Failed(error) => panic!("{error}"),
        }
    }
    producer.join().unwrap();
    assert_eq!(index, STRESS_CHUNKS);
    assert!(count.load(Ordering::SeqCst) <= pending, "notified more often than pending");
}
