//! The epoll set with its timer and its wake-up descriptor: what makes the reactor one pollable
//! descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// The maximum number of events taken from the kernel in one turn.
pub(super) const EVENTS_PER_TURN_MAX: usize = 256;

/// Identifies one connection of one reactor; the token of a closed connection stays invalid, even
/// if its slot is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl Token {
    pub(super) fn pack(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }
}

const CONNECTION_FLAGS: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Connection(Token),
    Listener(usize),
    Timer,
    Wake,
}

/// Indices from here on are not connections. The slab never grows this far: descriptors end long
/// before.
const LISTENER_BASE: u32 = 0xFFFF_0000;
const TIMER: u32 = 0xFFFF_FFFE;
const WAKE: u32 = 0xFFFF_FFFF;

impl Source {
    fn unpack(data: u64) -> Self {
        // The two halves of the word: truncation is the intention.
        #[allow(clippy::cast_possible_truncation)]
        let (generation, index) = ((data >> 32) as u32, data as u32);
        match index {
            WAKE => Self::Wake,
            TIMER => Self::Timer,
            LISTENER_BASE.. => Self::Listener((index - LISTENER_BASE) as usize),
            _ => Self::Connection(Token { index, generation }),
        }
    }
}

/// What happened to one source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) source: Source,
    pub(super) flags: EventFlags,
}

pub(super) struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    wake: OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(super) fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let data = |index: u32| EventData::new_u64(u64::from(index));
        epoll::add(&epoll, &timer, data(TIMER), EventFlags::IN)?;
        epoll::add(&epoll, &wake, data(WAKE), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll, timer, wake, events: Vec::with_capacity(EVENTS_PER_TURN_MAX) })
    }

    pub(super) fn wake_fd(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.wake, 0)
    }

    /// Waits for events: not at all, or until there are some.
    pub(super) fn wait(&mut self, wait: Wait) -> Result<usize, Errno> {
        let at_most = |wait: Duration| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let timeout = match wait {
            Wait::Never => Some(at_most(Duration::ZERO)),
            Wait::UntilReady => None,
            Wait::For(wait) => Some(at_most(wait)),
        };
        self.events.clear();
        match epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(&mut self.events),
            timeout.as_ref(),
        ) {
            Ok(count) => Ok(count),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        }
    }

    pub(super) fn event(&self, position: usize) -> Option<Ready> {
        let event = self.events.get(position)?;
        Some(Ready { source: Source::unpack(event.data.u64()), flags: event.flags })
    }

    /// Registers a connection once, edge-triggered in both directions: no further call is needed
    /// when output blocks or reading pauses.
    pub(super) fn add_connection(&self, fd: BorrowedFd<'_>, token: Token) -> Result<(), Errno> {
        let data = EventData::new_u64(token.pack());
        epoll::add(&self.epoll, fd, data, CONNECTION_FLAGS)
    }

    /// Registers a descriptor for another connection. Events already taken from the kernel keep the
    /// token of the previous one.
    pub(super) fn rename_connection(&self, fd: BorrowedFd<'_>, token: Token) -> Result<(), Errno> {
        let data = EventData::new_u64(token.pack());
        epoll::modify(&self.epoll, fd, data, CONNECTION_FLAGS)
    }

    /// `EPOLLEXCLUSIVE`: of several reactors on one listener the kernel wakes one or few, not all.
    pub(super) fn add_listener(&self, fd: BorrowedFd<'_>, position: usize) -> Result<(), Errno> {
        let index = u32::try_from(position).unwrap_or(0).saturating_add(LISTENER_BASE);
        let data = EventData::new_u64(u64::from(index));
        epoll::add(&self.epoll, fd, data, EventFlags::IN | EventFlags::EXCLUSIVE)
    }

    pub(super) fn remove(&self, fd: BorrowedFd<'_>) {
        // Fails only for a descriptor that is not in the set, which is what the caller wants
        // anyway.
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Arms the timer for a time of the monotonic clock, or disarms it.
    pub(super) fn arm(&self, at_ms: Option<u64>) {
        // A value of zero would disarm the timer, so a time that is due becomes 1 ns after boot.
        let value = at_ms.map_or(Timespec { tv_sec: 0, tv_nsec: 0 }, |ms| Timespec {
            tv_sec: i64::try_from(ms / 1000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ms % 1000 * 1_000_000).unwrap_or(0).max(1),
        });
        let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec);
    }

    pub(super) fn clear_timer(&self) {
        let _ = rustix::io::read(&self.timer, &mut [0u8; 8]);
    }

    pub(super) fn clear_wake(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0u8; 8]);
    }

    /// Makes the reactor's descriptor readable again: there is more to do than one turn should do.
    pub(super) fn wake_self(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// How long a turn may wait for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Never,
    UntilReady,
    For(Duration),
}
