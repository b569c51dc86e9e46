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

use super::sys::epoll_pwait2;

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
    /// Ends waits of a given length where `epoll_pwait2` does not exist.
    wait_timer: Option<OwnedFd>,
}

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

impl Poller {
    pub(super) fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = new_timer()?;
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let data = |index: u32| EventData::new_u64(u64::from(index));
        epoll::add(&epoll, &timer, data(TIMER), EventFlags::IN)?;
        epoll::add(&epoll, &wake, data(WAKE), EventFlags::IN | EventFlags::ET)?;
        let events = Vec::with_capacity(EVENTS_PER_TURN_MAX);
        Ok(Self { epoll, timer, wake, events, wait_timer: None })
    }

    pub(super) fn wake_fd(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.wake, 0)
    }

    /// Waits for events: not at all, until there are some, or for a time.
    pub(super) fn wait(&mut self, wait: Wait) -> Result<usize, Errno> {
        let waited = match wait {
            Wait::UntilReady => self.wait_until(None),
            Wait::For(time) if !time.is_zero() => self.wait_for(&timespec(time)),
            Wait::Never | Wait::For(_) => self.wait_until(Some(&NO_TIME)),
        };
        match waited {
            Err(Errno::INTR) => Ok(0),
            other => other,
        }
    }

    /// `epoll_pwait`, which rounds a timeout up to milliseconds.
    fn wait_until(&mut self, timeout: Option<&Timespec>) -> Result<usize, Errno> {
        self.events.clear();
        let events = rustix::buffer::spare_capacity(&mut self.events);
        epoll::wait(&self.epoll, events, timeout)
    }

    /// Waits for a time that is not rounded.
    fn wait_for(&mut self, time: &Timespec) -> Result<usize, Errno> {
        if self.wait_timer.is_none() {
            match epoll_pwait2(self.epoll.as_fd(), &mut self.events, time) {
                // A kernel before 5.11, or a sandbox that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => self.add_wait_timer()?,
                waited => return waited,
            }
        }
        if let Some(timer) = &self.wait_timer {
            let spec = Itimerspec { it_interval: NO_TIME, it_value: *time };
            timerfd_settime(timer, TimerfdTimerFlags::empty(), &spec)?;
        }
        self.wait_until(None)
    }

    /// Edge-triggered, so that its end is one event and nobody has to read it.
    fn add_wait_timer(&mut self) -> Result<(), Errno> {
        let timer = new_timer()?;
        let data = EventData::new_u64(u64::from(TIMER));
        epoll::add(&self.epoll, &timer, data, EventFlags::IN | EventFlags::ET)?;
        self.wait_timer = Some(timer);
        Ok(())
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
        let value = at_ms.map_or(NO_TIME, |ms| Timespec {
            tv_sec: i64::try_from(ms / 1000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ms % 1000 * 1_000_000).unwrap_or(0).max(1),
        });
        let spec = Itimerspec { it_interval: NO_TIME, it_value: value };
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

fn new_timer() -> Result<OwnedFd, Errno> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    timerfd_create(TimerfdClockId::Monotonic, flags)
}

/// A time as the kernel takes it, to the nanosecond.
fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// How long a turn may wait for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Never,
    UntilReady,
    For(Duration),
}

#[cfg(test)]
mod tests {
    use rustix::time::timerfd_gettime;

    use super::*;

    #[test]
    fn a_time_is_not_rounded() {
        for (time, tv_sec, tv_nsec) in [
            (Duration::MAX, i64::MAX, 999_999_999),
            (Duration::ZERO, 0, 0),
            (Duration::from_nanos(1), 0, 1),
            (Duration::from_micros(300), 0, 300_000),
            (Duration::from_nanos(1_000_000_001), 1, 1),
        ] {
            assert_eq!(timespec(time), Timespec { tv_sec, tv_nsec }, "{time:?}");
        }
    }

    /// With the call of the kernel, and as on a kernel that lacks it.
    fn pollers() -> [Poller; 2] {
        let mut with_timer = Poller::new().unwrap();
        with_timer.add_wait_timer().unwrap();
        [Poller::new().unwrap(), with_timer]
    }

    #[test]
    fn a_short_wait_ends() {
        for mut poller in pollers() {
            for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(300)] {
                let count = poller.wait(Wait::For(time)).unwrap();
                let ended_by = (0..count).map(|at| poller.event(at).unwrap().source);
                assert!(ended_by.eq((0..count).map(|_| Source::Timer)), "{time:?}");
            }
        }
    }

    #[test]
    fn an_event_ends_a_long_wait() {
        for mut poller in pollers() {
            for time in [Duration::from_secs(3601), Duration::MAX] {
                poller.wake_self();
                assert_eq!(poller.wait(Wait::For(time)), Ok(1));
                assert_eq!(poller.event(0).unwrap().source, Source::Wake);
                poller.clear_wake();
            }
        }
    }

    #[test]
    fn the_timer_of_a_wait_has_its_time() {
        let [_, mut poller] = pollers();
        poller.wake_self();
        poller.wait(Wait::For(Duration::from_micros(3_600_000_300))).unwrap();
        let left = timerfd_gettime(poller.wait_timer.as_ref().unwrap()).unwrap().it_value;
        // Whole milliseconds would be 3600.001 s.
        assert!(left > NO_TIME && left <= Timespec { tv_sec: 3600, tv_nsec: 300_000 }, "{left:?}");
    }
}
