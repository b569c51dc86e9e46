//! The trace of one request: each part that it passed, what that part decided, and how long it
//! took.
//!
//! Which requests are traced is decided by [`crate::web::Tracer`]. A request that is not traced
//! costs one comparison for each step.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Steps of one request that are kept. Rewrites are bounded, so that only filters could make more.
pub(crate) const STEPS_MAX: usize = 1000;

/// The trace of a request, or nothing where the request is not traced. Clones are the same trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Option<Rc<Steps>>);

/// Whether a rule matches the request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceMatch {
    /// A rule matches, for every client.
    Certain,
    /// Only a rule by client may; the client is known after the filters.
    DependsOnClient,
}

#[derive(Debug)]
struct Steps {
    match_state: TraceMatch,
    began: Instant,
    last: Cell<Instant>,
    list: RefCell<Vec<Step>>,
}

#[derive(Debug)]
struct Step {
    took: Duration,
    text: String,
}

thread_local! {
    /// The trace of the request that this thread answers right now, for parts that see no request.
    static CURRENT: RefCell<Trace> = const { RefCell::new(Trace(None)) };
    static HAS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

impl Trace {
    /// The trace of a request that is not traced.
    pub(crate) const OFF: Self = Self(None);

    /// Begins a trace.
    pub(crate) fn begin(match_state: TraceMatch) -> Self {
        let now = Instant::now();
        Self(Some(Rc::new(Steps {
            match_state,
            began: now,
            last: Cell::new(now),
            list: RefCell::default(),
        })))
    }

    /// Whether the request is traced.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a rule matches the request; `None` where it is not traced.
    pub(crate) fn match_state(&self) -> Option<TraceMatch> {
        self.0.as_ref().map(|steps| steps.match_state)
    }

    /// Adds a step, with the time since the previous one.
    #[inline]
    pub(crate) fn step(&self, text: impl FnOnce() -> String) {
        if let Some(steps) = &self.0 {
            steps.add(text());
        }
    }

    /// Makes this the trace to which [`note_cache`] adds, until the guard is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> Option<EnteredTrace> {
        self.is_on().then(|| {
            CURRENT.set(self.clone());
            HAS_CURRENT.set(true);
            EnteredTrace
        })
    }

    /// The lines: each with the number of the trace, the microseconds since the step before, and
    /// the text.
    pub(crate) fn lines(&self, number: u64) -> Vec<String> {
        let Some(trace) = &self.0 else {
            return Vec::new();
        };
        let line = |took: Duration, text: &dyn fmt::Display| {
            format!("{number} {:>7} us  {text}", took.as_micros())
        };
        let steps = trace.list.borrow();
        let steps = steps.iter().enumerate().map(|(at, step)| match at {
            0 => format!("{number} {}", step.text),
            _ => line(step.took, &step.text),
        });
        let total = line(trace.last.get().duration_since(trace.began), &"in all");
        steps.chain([total]).collect()
    }
}

/// While it lives, [`note_cache`] adds to a trace.
pub(crate) struct EnteredTrace;

impl Drop for EnteredTrace {
    fn drop(&mut self) {
        HAS_CURRENT.set(false);
        CURRENT.set(Trace::OFF);
    }
}

impl Steps {
    #[cold]
    fn add(&self, text: String) {
        let now = Instant::now();
        let took = now.duration_since(self.last.replace(now));
        let mut steps = self.list.borrow_mut();
        if steps.len() < STEPS_MAX {
            steps.push(Step { took, text });
        }
    }
}

/// Adds the result of a cache look-up to the trace of the request that this thread answers, if it
/// is traced.
#[inline]
pub(crate) fn note_cache(cache: &str, result: &str) {
    note(|| format!("cache {cache}: {result}"));
}

/// Adds a step to the trace of the request that this thread answers, if it is traced.
#[inline]
pub(crate) fn note(text: impl FnOnce() -> String) {
    if is_traced() {
        CURRENT.with_borrow(|trace| trace.step(text));
    }
}

/// Whether the request that this thread answers is traced.
#[inline]
pub(crate) fn is_traced() -> bool {
    HAS_CURRENT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_does_not_grow_without_bound() {
        let trace = Trace::begin(TraceMatch::Certain);
        for _ in 0..STEPS_MAX + 10 {
            trace.step(|| "step".to_owned());
        }
        assert_eq!(trace.lines(7).len(), STEPS_MAX + 1);
        assert_eq!(trace.lines(7)[0], "7 step");
    }

    #[test]
    fn notes_caches_only_while_a_request_is_answered() {
        let trace = Trace::begin(TraceMatch::Certain);
        note_cache("files", "miss");
        let entered = trace.enter();
        note_cache("files", "hit");
        drop(entered);
        note_cache("files", "miss");
        assert_eq!(trace.lines(1)[0], "1 cache files: hit");
        assert_eq!(trace.lines(1).len(), 2);
    }
}
