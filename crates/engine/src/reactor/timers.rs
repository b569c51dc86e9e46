//! Time: the clock, read once per turn, and the deadlines of connections over the coarse wheel.
//!
//! Setting a deadline is a store: the wheel changes only if it has no entry for the slot, or a
//! later one. An entry that fires before the deadline, which has moved since, is queued again. So a
//! busy keep-alive connection costs one operation of the wheel in a few seconds, whatever its rate,
//! and a slot of the slab has about one entry, however many connections use it.

use rustix::time::{ClockId, clock_gettime};

use crate::wheel::{Tick, Wheel};

/// The time of a turn: everything in one turn happens at the same time. The coarse clock costs 4
/// ns, the precise one ten times as much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of the monotonic clock, in the resolution of the kernel's tick (1 to 10 ms).
    pub monotonic_ms: u64,
    /// Seconds since 1970-01-01 00:00 UTC.
    pub unix_seconds: u64,
}

impl Now {
    /// Reads the monotonic and the real-time clock.
    pub fn read() -> Self {
        let monotonic = clock_gettime(ClockId::MonotonicCoarse);
        let real = clock_gettime(ClockId::RealtimeCoarse);
        let ms = monotonic.tv_sec * 1000 + monotonic.tv_nsec / 1_000_000;
        Self {
            monotonic_ms: u64::try_from(ms).unwrap_or(0),
            unix_seconds: u64::try_from(real.tv_sec).unwrap_or(0),
        }
    }
}

/// The reactor's own slot; connections come after it.
const OWN_SLOT: u32 = 0;

/// What the kernel's timer needs.
pub(super) enum Rearm {
    Leave,
    /// To fire at this millisecond of the monotonic clock.
    At(u64),
    Disarm,
}

#[derive(Clone, Copy, Default)]
struct Deadline {
    /// When the deadline expires; `None`: never.
    at: Option<Tick>,
    /// Where the wheel holds this slot's earliest entry.
    queued: Option<Tick>,
}

pub(super) struct Timers {
    wheel: Wheel,
    deadlines: Vec<Deadline>,
    expired: Vec<(u32, u32)>,
    armed: Option<Tick>,
}

impl Timers {
    pub(super) fn new(now: Tick) -> Self {
        Self { wheel: Wheel::new(now), deadlines: Vec::new(), expired: Vec::new(), armed: None }
    }

    /// Sets or removes the deadline of the connection in a slot of the slab.
    pub(super) fn set(&mut self, index: u32, at: Option<Tick>) {
        self.set_slot(index + 1, at);
    }

    /// Sets or removes the reactor's own deadline.
    pub(super) fn set_own(&mut self, at: Option<Tick>) {
        self.set_slot(OWN_SLOT, at);
    }

    fn set_slot(&mut self, slot: u32, at: Option<Tick>) {
        let index = slot as usize;
        if index >= self.deadlines.len() {
            self.deadlines.resize(index + 1, Deadline::default());
        }
        let deadline = &mut self.deadlines[index];
        deadline.at = at;
        let Some(at) = at else { return };
        if deadline.queued.is_none_or(|queued| at < queued) {
            deadline.queued = Some(at);
            self.wheel.schedule(slot, at.0, at);
        }
    }

    /// Takes the connections whose deadline has expired. Returns whether the reactor's own has.
    pub(super) fn expire(&mut self, now: Tick, due: &mut Vec<u32>) -> bool {
        let mut own_due = false;
        self.expired.clear();
        self.wheel.expire(now, &mut self.expired);
        for (index, queued) in self.expired.drain(..) {
            let deadline = &mut self.deadlines[index as usize];
            if deadline.queued != Some(Tick(queued)) {
                continue; // an earlier entry has replaced this one
            }
            deadline.queued = None;
            match deadline.at {
                Some(at) if at <= now => {
                    deadline.at = None;
                    match index {
                        OWN_SLOT => own_due = true,
                        _ => due.push(index - 1),
                    }
                }
                Some(at) => {
                    deadline.queued = Some(at);
                    self.wheel.schedule(index, at.0, at);
                }
                None => {}
            }
        }
        own_due
    }

    /// Returns how to set the kernel's timer, so that it fires at the next entry.
    pub(super) fn rearm(&mut self) -> Rearm {
        let next = self.wheel.next();
        let is_armed = std::mem::replace(&mut self.armed, next) == next;
        match next {
            _ if is_armed => Rearm::Leave,
            Some(tick) => Rearm::At(tick.to_ms()),
            None => Rearm::Disarm,
        }
    }

    pub(super) fn fired(&mut self) {
        self.armed = None;
    }
}
