//! A coarse timer wheel: which connections are due for a look, to a tick of [`TICK_MS`].
//!
//! The wheel does not know deadlines. A connection keeps its own deadline and the tick at which it
//! is queued here; moving a deadline later therefore costs one store and no call. When an entry
//! comes out, the owner compares: due, or schedule again. The caller brings the time; the wheel
//! reads no clock.
//!
//! Entries live in one arena as a linked list per slot, not in a vector per slot: with 10,000
//! connections whose deadlines move around the wheel, 512 vectors would each keep room for 10,000
//! entries (40 MB instead of 120 KB).

/// The length of a tick in milliseconds; a power of two, so that a tick is computed by a shift.
pub const TICK_MS: u64 = 128;
/// The number of slots; the wheel reaches [`HORIZON_TICKS`] ahead.
pub const SLOTS: usize = 512;
/// The maximum number of ticks that an entry can be queued ahead: 65.4 seconds. A later deadline is
/// checked once on the way.
pub const HORIZON_TICKS: u32 = 511;

/// The arena is not shrunk below this many entries (12 KiB).
const ARENA_KEEP_ENTRIES: usize = 1024;
const NONE: u32 = u32::MAX;
const WORDS: usize = SLOTS / 64;

const _: () =
    assert!(TICK_MS.is_power_of_two() && SLOTS.is_power_of_two() && SLOTS.is_multiple_of(64));
const _: () = assert!(HORIZON_TICKS as usize == SLOTS - 1);

/// A point in time in units of [`TICK_MS`] since the owner's clock began; sufficient for 17 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u32);

impl Tick {
    /// Returns the tick that contains the millisecond `ms`. Saturates after 17 years.
    pub fn from_ms(ms: u64) -> Tick {
        Tick(u32::try_from(ms / TICK_MS).unwrap_or(u32::MAX))
    }

    /// Returns the first tick that begins at or after the millisecond `ms`, so that a deadline
    /// never fires early.
    pub fn deadline_from_ms(ms: u64) -> Tick {
        Tick(u32::try_from(ms.div_ceil(TICK_MS)).unwrap_or(u32::MAX))
    }

    /// Returns the millisecond at which the tick begins.
    pub fn to_ms(self) -> u64 {
        u64::from(self.0) * TICK_MS
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key: u32,
    generation: u32,
    next: u32,
}

/// The timer wheel. Entries are `(key, generation)` of the owner's slab; an entry cannot be
/// removed, its generation shows that it is stale.
pub struct Wheel {
    /// All ticks up to this one have expired.
    current: Tick,
    heads: [u32; SLOTS],
    occupied: [u64; WORDS],
    entries: Vec<Entry>,
    free: u32,
    len: usize,
}

impl Wheel {
    /// Creates an empty wheel whose clock is at `now`.
    pub fn new(now: Tick) -> Wheel {
        Wheel {
            current: now,
            heads: [NONE; SLOTS],
            occupied: [0; WORDS],
            entries: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// Returns the number of queued entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no entry is queued.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Queues an entry for `at` and returns the tick in which it expires: at least one tick ahead,
    /// at most [`HORIZON_TICKS`].
    pub fn schedule(&mut self, key: u32, generation: u32, at: Tick) -> Tick {
        let earliest = self.current.0.saturating_add(1);
        let latest = self.current.0.saturating_add(HORIZON_TICKS);
        let at = Tick(at.0.clamp(earliest, latest));
        let slot = slot_of(at);
        let entry = Entry { key, generation, next: self.heads[slot] };
        self.heads[slot] = self.insert(entry);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.len += 1;
        at
    }

    /// Advances the clock to `now` and appends all entries queued up to it to `due`, earlier ticks
    /// first. Ignored if the clock went back.
    pub fn expire(&mut self, now: Tick, due: &mut Vec<(u32, u32)>) {
        while let Some(tick) = self.next().filter(|tick| *tick <= now) {
            self.current = tick;
            self.empty_slot(slot_of(tick), due);
        }
        self.current = self.current.max(now);
        self.give_back();
    }

    /// Returns the next tick with an entry: the owner sleeps at most until its [`Tick::to_ms`].
    pub fn next(&self) -> Option<Tick> {
        if self.len == 0 {
            return None;
        }
        let first = slot_of(Tick(self.current.0.wrapping_add(1)));
        // The first word is looked at twice: its upper bits as the nearest slots, its lower bits as
        // the farthest.
        (0..=WORDS).find_map(|step| {
            let word = (first / 64 + step) % WORDS;
            let mask = match step {
                0 => u64::MAX << (first % 64),
                WORDS => !(u64::MAX << (first % 64)),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & mask;
            (bits != 0).then(|| {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (slot + SLOTS - first) % SLOTS;
                Tick(self.current.0.saturating_add(1).saturating_add(index_of(ahead)))
            })
        })
    }

    fn insert(&mut self, entry: Entry) -> u32 {
        if self.free == NONE {
            self.entries.push(entry);
            return index_of(self.entries.len() - 1);
        }
        let index = self.free;
        self.free = self.entries[index as usize].next;
        self.entries[index as usize] = entry;
        index
    }

    fn empty_slot(&mut self, slot: usize, due: &mut Vec<(u32, u32)>) {
        let mut index = std::mem::replace(&mut self.heads[slot], NONE);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while index != NONE {
            let entry = self.entries[index as usize];
            due.push((entry.key, entry.generation));
            self.entries[index as usize].next = self.free;
            self.free = index;
            self.len -= 1;
            index = entry.next;
        }
    }

    /// Packs the arena once three quarters of it are unused, so that the memory of a burst of
    /// connections is freed.
    fn give_back(&mut self) {
        if self.entries.len() <= ARENA_KEEP_ENTRIES || self.len > self.entries.len() / 4 {
            return;
        }
        let mut packed: Vec<Entry> = Vec::with_capacity(self.len);
        for head in &mut self.heads {
            let mut index = std::mem::replace(head, NONE);
            while index != NONE {
                let entry = self.entries[index as usize];
                packed.push(Entry { next: *head, ..entry });
                *head = index_of(packed.len() - 1);
                index = entry.next;
            }
        }
        self.entries = packed;
        self.free = NONE;
    }
}

/// Keys are 32 bits wide, so the arena never grows beyond them.
fn index_of(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NONE)
}

fn slot_of(tick: Tick) -> usize {
    tick.0 as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schedules `(key, tick)` rows on a wheel that stands at `start` and expects them out at the
    /// given ticks.
    fn check(start: u32, scheduled: &[(u32, u32)], expected: &[(u32, u32)]) {
        let mut wheel = Wheel::new(Tick(start));
        for (key, at) in scheduled {
            wheel.schedule(*key, 7, Tick(*at));
        }
        let mut seen = Vec::new();
        while let Some(next) = wheel.next() {
            let mut due = Vec::new();
            wheel.expire(Tick(next.0 - 1), &mut due);
            assert!(due.is_empty(), "nothing may come out before the tick that next() names");
            wheel.expire(next, &mut due);
            assert!(!due.is_empty(), "next() named an empty tick");
            seen.extend(due.iter().map(|(key, generation)| {
                assert_eq!(*generation, 7);
                (*key, next.0)
            }));
        }
        seen.sort_unstable();
        assert_eq!(seen, expected);
        assert!(wheel.is_empty());
    }

    #[test]
    fn an_entry_comes_out_at_its_tick() {
        check(0, &[(1, 1)], &[(1, 1)]);
        check(0, &[(1, 5), (2, 5), (3, 9)], &[(1, 5), (2, 5), (3, 9)]);
        check(1000, &[(1, 1063), (2, 1064), (3, 1065)], &[(1, 1063), (2, 1064), (3, 1065)]);
    }

    #[test]
    fn the_past_and_the_present_become_the_next_tick() {
        check(
            100,
            &[(1, 0), (2, 99), (3, 100), (4, 101)],
            &[(1, 101), (2, 101), (3, 101), (4, 101)],
        );
    }

    #[test]
    fn beyond_the_horizon_clamps_to_it() {
        let edge = 40 + HORIZON_TICKS;
        check(
            40,
            &[(1, edge - 1), (2, edge), (3, edge + 1), (4, u32::MAX)],
            &[(1, edge - 1), (2, edge), (3, edge), (4, edge)],
        );
    }

    #[test]
    fn every_slot_is_found_from_every_start() {
        for start in [0, 1, 62, 63, 64, 65, 127, 510, 511, 512, 513, 100_000] {
            for ahead in 1..=HORIZON_TICKS {
                check(start, &[(ahead, start + ahead)], &[(ahead, start + ahead)]);
            }
        }
    }

    #[test]
    fn schedule_tells_the_tick_it_queued_for() {
        let mut wheel = Wheel::new(Tick(10));
        assert_eq!(wheel.schedule(1, 1, Tick(3)), Tick(11));
        assert_eq!(wheel.schedule(1, 1, Tick(20)), Tick(20));
        assert_eq!(wheel.schedule(1, 1, Tick(9999)), Tick(10 + HORIZON_TICKS));
    }

    #[test]
    fn a_long_sleep_gives_all_in_order() {
        let mut wheel = Wheel::new(Tick(0));
        for at in [300, 2, 511, 64] {
            wheel.schedule(at, 0, Tick(at));
        }
        let mut due = Vec::new();
        wheel.expire(Tick(1_000_000), &mut due);
        assert_eq!(due, [(2, 0), (64, 0), (300, 0), (511, 0)]);
        assert_eq!(wheel.schedule(1, 0, Tick(0)), Tick(1_000_001));
    }

    #[test]
    fn a_clock_that_goes_back_changes_nothing() {
        let mut wheel = Wheel::new(Tick(50));
        wheel.schedule(1, 0, Tick(60));
        let mut due = Vec::new();
        wheel.expire(Tick(10), &mut due);
        assert!(due.is_empty());
        assert_eq!(wheel.next(), Some(Tick(60)));
    }

    #[test]
    fn memory_follows_the_number_of_entries() {
        let mut wheel = Wheel::new(Tick(0));
        let mut due = Vec::new();
        for round in 0..1000 {
            for key in 0..10 {
                wheel.schedule(key, 0, Tick(round + 40));
            }
            wheel.expire(Tick(round), &mut due);
        }
        assert!(
            wheel.entries.len() <= 10 * 42,
            "steady state must reuse entries, holds {}",
            wheel.entries.len()
        );
        for key in 0..100_000 {
            wheel.schedule(key, 1, Tick(1100 + key % 8));
        }
        wheel.schedule(7, 2, Tick(1400));
        due.clear();
        wheel.expire(Tick(1200), &mut due);
        assert_eq!(due.len(), 100_000 + 400);
        assert!(
            wheel.entries.capacity() <= ARENA_KEEP_ENTRIES,
            "holds {}",
            wheel.entries.capacity()
        );
        due.clear();
        wheel.expire(Tick(1400), &mut due);
        assert_eq!(due, [(7, 2)]);
    }

    #[test]
    fn ticks_round_the_clock_down_and_deadlines_up() {
        let rows =
            [(0, 0, 0), (1, 0, 1), (127, 0, 1), (128, 1, 1), (129, 1, 2), (15_000, 117, 118)];
        for (ms, clock, deadline) in rows {
            assert_eq!(
                (Tick::from_ms(ms), Tick::deadline_from_ms(ms)),
                (Tick(clock), Tick(deadline)),
                "{ms} ms"
            );
        }
        assert_eq!(Tick::from_ms(u64::MAX), Tick(u32::MAX));
        assert_eq!(Tick(3).to_ms(), 384);
    }
}
