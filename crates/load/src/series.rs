//! Merges the intervals that several threads or machines send one after another. No I/O.

use std::collections::BTreeMap;

use vervet_report::Interval;

/// The intervals of several sources.
#[derive(Debug)]
pub struct Series {
    sources: Vec<Source>,
    /// The sums of the intervals that not all sources have sent yet, by start time.
    incomplete: BTreeMap<u64, Interval>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Source {
    /// The start of its last interval.
    reached_ms: Option<u64>,
    has_ended: bool,
}

impl Series {
    /// The empty series of a number of sources.
    pub fn new(sources: usize) -> Self {
        Self { sources: vec![Source::default(); sources], incomplete: BTreeMap::new() }
    }

    /// Adds an interval of a source, by number; returns the intervals that are complete now.
    pub fn add(&mut self, source: usize, interval: Interval) -> Vec<Interval> {
        let start_ms = interval.start_ms;
        let sum = match self.incomplete.remove(&start_ms) {
            Some(sum) => sum.beside(&interval),
            None => interval,
        };
        self.incomplete.insert(start_ms, sum);
        if let Some(source) = self.sources.get_mut(source) {
            source.reached_ms = source.reached_ms.max(Some(start_ms));
        }
        self.complete()
    }

    /// Ends a source, for which no interval waits any more; returns the intervals that are
    /// complete now.
    pub fn end(&mut self, source: usize) -> Vec<Interval> {
        if let Some(source) = self.sources.get_mut(source) {
            source.has_ended = true;
        }
        self.complete()
    }

    /// Takes the intervals that all running sources have reached; all, when none is running.
    fn complete(&mut self) -> Vec<Interval> {
        let running = self.sources.iter().filter(|source| !source.has_ended);
        let incomplete = match running.map(|source| source.reached_ms).min() {
            // `None` is less than any: a source has sent no interval yet.
            Some(None) => return Vec::new(),
            Some(Some(reached_ms)) => self.incomplete.split_off(&reached_ms.saturating_add(1)),
            None => BTreeMap::new(),
        };
        let complete = std::mem::replace(&mut self.incomplete, incomplete);
        complete.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ms: u64, done: u64) -> Interval {
        Interval { start_ms, length_ms: 1000, done, ..Interval::default() }
    }

    #[track_caller]
    fn check(complete: &[Interval], expected: &[(u64, u64)]) {
        let complete: Vec<_> = complete.iter().map(|one| (one.start_ms, one.done)).collect();
        assert_eq!(complete, expected);
    }

    #[test]
    fn an_interval_is_complete_when_all_sources_have_sent_it() {
        let mut series = Series::new(2);
        check(&series.add(0, interval(0, 1)), &[]);
        check(&series.add(0, interval(1000, 2)), &[]);
        check(&series.add(1, interval(0, 10)), &[(0, 11)]);
        check(&series.add(1, interval(1000, 20)), &[(1000, 22)]);
    }

    #[test]
    fn no_interval_waits_for_a_source_that_has_ended() {
        let mut series = Series::new(3);
        check(&series.add(0, interval(0, 1)), &[]);
        check(&series.add(1, interval(0, 2)), &[]);
        check(&series.add(1, interval(1000, 4)), &[]);
        check(&series.end(2), &[(0, 3)]);
        check(&series.end(0), &[(1000, 4)]);
        check(&series.add(1, interval(2000, 5)), &[(2000, 5)]);
        check(&series.end(1), &[]);
    }

    #[test]
    fn an_interval_that_a_source_skipped_is_complete() {
        let mut series = Series::new(2);
        check(&series.add(0, interval(0, 1)), &[]);
        check(&series.add(1, interval(1000, 2)), &[(0, 1)]);
        check(&series.end(0), &[(1000, 2)]);
    }
}
