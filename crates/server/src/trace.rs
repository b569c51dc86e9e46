//! The trace of one request: each step, what it decided, and how long it took. Which requests are
//! traced is decided in `web`.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Maximum number of steps of a trace; later ones are left out.
pub const STEPS_MAX: usize = 1000;

/// The trace of a request.
#[derive(Debug)]
pub(crate) struct Trace {
    began: Instant,
    pub(crate) fit: Fit,
    last: Cell<Instant>,
    steps: RefCell<Vec<Step>>,
}

/// Whether a rule selects a request for tracing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// A rule does, whatever the client.
    Known,
    /// It depends on the client.
    Open,
}

#[derive(Debug)]
struct Step {
    took: Duration,
    text: String,
}

thread_local! {
    /// The trace of the request that this thread answers now, for code that sees no request.
    static CURRENT: RefCell<Option<Rc<Trace>>> = const { RefCell::new(None) };
    static HAS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

impl Trace {
    pub(crate) fn new(fit: Fit) -> Self {
        let now = Instant::now();
        Self {
            began: now,
            fit,
            last: Cell::new(now),
            steps: RefCell::default(),
        }
    }

    /// Adds a step, which took the time since the last one.
    pub(crate) fn step(&self, text: fmt::Arguments<'_>) {
        let now = Instant::now();
        let took = now.duration_since(self.last.replace(now));
        let mut steps = self.steps.borrow_mut();
        if steps.len() < STEPS_MAX {
            let text = text.to_string();
            steps.push(Step { took, text });
        }
    }

    /// Makes a trace the current one of this thread during `run`.
    pub(crate) fn present<T>(trace: Option<&Rc<Self>>, run: impl FnOnce() -> T) -> T {
        let Some(trace) = trace else {
            return run();
        };
        CURRENT.set(Some(Rc::clone(trace)));
        HAS_CURRENT.set(true);
        let result = run();
        HAS_CURRENT.set(false);
        CURRENT.set(None);
        result
    }

    /// The lines: each with the number of the trace, the duration of the step, and what happened.
    pub(crate) fn lines(&self, number: u64) -> Vec<String> {
        let steps = self.steps.borrow();
        let lines = steps.iter().enumerate().map(|(at, step)| {
            let text = &step.text;
            let took = step.took.as_micros();
            match at {
                0 => format!("{number} {text}"),
                _ => format!("{number} {took:>7} us  {text}"),
            }
        });
        let total = self.last.get().duration_since(self.began).as_micros();
        let total = format!("{number} {total:>7} us  in all");
        lines.chain([total]).collect()
    }
}

/// Adds a look-up in a cache to the current trace of this thread, if there is one.
#[inline]
pub(crate) fn note_lookup(cache: &str, result: &str) {
    if HAS_CURRENT.get() {
        note(format_args!("cache {cache}: {result}"));
    }
}

#[cold]
fn note(text: fmt::Arguments<'_>) {
    CURRENT.with_borrow(|trace| {
        if let Some(trace) = trace {
            trace.step(text);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_does_not_grow_without_bound() {
        let trace = Trace::new(Fit::Known);
        for _ in 0..STEPS_MAX + 10 {
            trace.step(format_args!("step"));
        }
        assert_eq!(trace.lines(7).len(), STEPS_MAX + 1);
        assert_eq!(trace.lines(7)[0], "7 step");
    }
}
