//! An open target: the reactors' ends of it, what it has taken and what it has not. All logs that go to one target
//! share one outlet.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bell::Bell;
use super::lines::{Lines, Waiting};
use super::rotation::Rotation;
use super::target::Target;

/// Lines that a target in memory keeps.
pub const RECENT_LINES_MAX: usize = 250;
/// Bytes of one of them; longer ones are cut.
pub const RECENT_LINE_BYTES_MAX: usize = 4096;

/// What a log has to say to whoever runs the server.
#[derive(Debug)]
pub enum Notice {
    /// Lines were dropped since [`Outlet::drops`] was last asked.
    Dropping,
    /// Something did not work; lines go on being written.
    Trouble {
        /// Where.
        target: Target,
        /// What.
        trouble: Trouble,
    },
}

/// What did not work.
#[derive(Debug)]
pub enum Trouble {
    /// The file could not be opened anew; the old one is written on.
    NotReopened(io::Error),
    /// The file could not be put aside; it is written on.
    NotRotated(io::Error),
    /// An old copy could not be removed or compressed.
    NotTidied(io::Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReopened(error) => write!(
                formatter,
                "cannot open the log file anew, the old one is written on: {error}"
            ),
            Self::NotRotated(error) => write!(
                formatter,
                "cannot put the log file aside, it is written on: {error}"
            ),
            Self::NotTidied(error) => write!(
                formatter,
                "cannot remove or compress old copies of the log file: {error}"
            ),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropping => formatter.write_str("lines of a log were dropped"),
            Self::Trouble { target, trouble } => write!(formatter, "{target}: {trouble}"),
        }
    }
}

/// Takes notices; shared by all threads, and must not wait.
#[derive(Clone)]
pub(super) struct Tell(Arc<dyn Fn(Notice) + Send + Sync>);

impl Tell {
    pub(super) fn new(tell: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(super) fn tell(&self, notice: Notice) {
        (self.0)(notice);
    }
}

impl fmt::Debug for Tell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tell").finish_non_exhaustive()
    }
}

/// Lines that were not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// How many, since the start.
    pub lines: u64,
    /// What the system said last, if it refused to write; otherwise the target was too slow.
    pub reason: Option<String>,
}

/// A target at work. Clones are the same; when the last one and the last reactor's end are gone, what waits is written
/// and the target is closed.
#[derive(Clone, Debug)]
pub struct Outlet(pub(super) Arc<Handle>);

/// Says to the writer when nobody is left.
#[derive(Debug)]
pub(super) struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.unused.store(true, Ordering::Release);
        self.0.ring();
    }
}

/// What the reactors, the writer and whoever asks share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) target: Target,
    bell: Arc<Bell>,
    tell: Tell,
    told: AtomicBool,
    /// Lines may wait.
    dirty: AtomicBool,
    reopen: AtomicBool,
    unused: AtomicBool,
    rotation: Mutex<Option<Rotation>>,
    reactors: Mutex<Vec<Arc<Waiting>>>,
    /// Lines that the writer has in hand.
    in_hand: AtomicU64,
    written: AtomicU64,
    refused: Mutex<Drops>,
    recent: Mutex<VecDeque<Box<[u8]>>>,
}

impl Outlet {
    pub(super) fn new(target: Target, bell: Arc<Bell>, tell: Tell) -> Self {
        Self(Arc::new(Handle(Arc::new(Shared {
            target,
            bell,
            tell,
            told: AtomicBool::new(false),
            dirty: AtomicBool::new(false),
            reopen: AtomicBool::new(false),
            unused: AtomicBool::new(false),
            rotation: Mutex::default(),
            reactors: Mutex::default(),
            in_hand: AtomicU64::new(0),
            written: AtomicU64::new(0),
            refused: Mutex::default(),
            recent: Mutex::default(),
        }))))
    }

    #[cfg(test)]
    pub(super) fn without_writer(tell: Tell) -> Self {
        Self::new(Target::Memory, Arc::default(), tell)
    }

    /// Where the lines go.
    pub fn target(&self) -> &Target {
        &self.0.0.target
    }

    /// Sets when the file is put aside and how many copies stay; none for never. Only files know of it.
    pub fn set_rotation(&self, rotation: Option<Rotation>) {
        *lock(&self.0.0.rotation) = rotation;
    }

    /// Writes what there is, then opens the file anew by its name: what a log rotation asks for. Does not wait for it.
    pub fn reopen(&self) {
        self.0.0.ask_reopen();
    }

    /// Lines not written so far.
    pub fn drops(&self) -> Drops {
        self.0.0.told.store(false, Ordering::Relaxed);
        self.0.0.drops()
    }

    /// Lines written so far.
    pub fn written(&self) -> u64 {
        self.0.0.written.load(Ordering::Relaxed)
    }

    /// The last lines of a target in memory, the oldest first; nothing for other targets.
    pub fn recent(&self) -> Vec<String> {
        let recent = lock(&self.0.0.recent);
        recent
            .iter()
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect()
    }

    /// The end for one more reactor, or whatever else writes lines.
    pub(crate) fn lines(&self) -> Lines {
        let waiting = Arc::new(Waiting::default());
        lock(&self.0.0.reactors).push(Arc::clone(&waiting));
        Lines::new(waiting, self.clone())
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0.0
    }
}

impl Shared {
    pub(super) fn ring(&self) {
        self.dirty.store(true, Ordering::Release);
        self.bell.ring();
    }

    pub(super) fn ring_at_once(&self) {
        self.dirty.store(true, Ordering::Release);
        self.bell.ring_at_once();
    }

    pub(super) fn ask_reopen(&self) {
        self.reopen.store(true, Ordering::Release);
        self.bell.ring_at_once();
    }

    /// Tells once that lines are dropped, until the drops are asked for.
    pub(super) fn tell_dropped(&self) {
        if !self.told.swap(true, Ordering::Relaxed) {
            self.tell.tell(Notice::Dropping);
        }
    }

    pub(super) fn tell_trouble(&self, trouble: Trouble) {
        let target = self.target.clone();
        self.tell.tell(Notice::Trouble { target, trouble });
    }

    pub(super) fn drops(&self) -> Drops {
        let mut drops = lock(&self.refused).clone();
        let reactors = lock(&self.reactors);
        drops.lines += reactors
            .iter()
            .map(|waiting| waiting.dropped())
            .sum::<u64>();
        drops
    }

    /// Lines that are neither written nor dropped.
    pub(super) fn unwritten(&self) -> u64 {
        let reactors = lock(&self.reactors);
        let waiting: u64 = reactors.iter().map(|waiting| waiting.lines()).sum();
        waiting + self.in_hand.load(Ordering::Acquire)
    }

    // What follows is the writer's.

    pub(super) fn takes_reopen(&self) -> bool {
        self.reopen.swap(false, Ordering::AcqRel)
    }

    pub(super) fn takes_dirty(&self) -> bool {
        self.dirty.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_unused(&self) -> bool {
        self.unused.load(Ordering::Acquire)
    }

    pub(super) fn rotation(&self) -> Option<Rotation> {
        lock(&self.rotation).clone()
    }

    /// What waits in each reactor. Ends that nobody writes to any more are forgotten once they are empty.
    pub(super) fn reactors(&self) -> Vec<Arc<Waiting>> {
        let mut reactors = lock(&self.reactors);
        let mut dropped = 0;
        reactors.retain(|waiting| {
            let is_used = Arc::strong_count(waiting) > 1 || waiting.lines() > 0;
            dropped += if is_used { 0 } else { waiting.dropped() };
            is_used
        });
        if dropped > 0 {
            lock(&self.refused).lines += dropped;
        }
        reactors.clone()
    }

    pub(super) fn set_in_hand(&self, lines: u64) {
        self.in_hand.store(lines, Ordering::Release);
    }

    pub(super) fn add_written(&self, lines: u64) {
        self.written.fetch_add(lines, Ordering::Relaxed);
    }

    pub(super) fn add_refused(&self, lines: u64, error: &io::Error) {
        let mut refused = lock(&self.refused);
        refused.lines += lines;
        refused.reason = Some(error.to_string());
        drop(refused);
        if lines > 0 {
            self.tell_dropped();
        }
    }

    pub(super) fn remember(&self, line: &[u8]) {
        let mut recent = lock(&self.recent);
        if recent.len() >= RECENT_LINES_MAX {
            recent.pop_front();
        }
        recent.push_back(line[..line.len().min(RECENT_LINE_BYTES_MAX)].into());
    }
}

/// No holder of these locks leaves them half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
