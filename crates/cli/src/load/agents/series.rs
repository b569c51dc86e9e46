//! Intervals that agents tell one after another, as those of one run: an interval is told when all
//! that make the run have told theirs. No I/O.

use std::collections::BTreeMap;

use vervet_report::Interval;

/// The intervals of all agents.
#[derive(Debug)]
pub(super) struct Series {
    agents: Vec<Told>,
    /// What some have told and others not yet, by its beginning.
    open: BTreeMap<u64, Interval>,
}

/// What one agent has told.
#[derive(Clone, Debug, Default)]
struct Told {
    intervals: Vec<Interval>,
    /// It will tell no more.
    is_over: bool,
}

impl Series {
    /// Of so many agents.
    pub(super) fn of(agents: usize) -> Self {
        Self {
            agents: vec![Told::default(); agents],
            open: BTreeMap::new(),
        }
    }

    /// An agent tells of an interval; gives those that are whole now.
    pub(super) fn take(&mut self, agent: usize, interval: Interval) -> Vec<Interval> {
        match self.open.get_mut(&interval.start_ms) {
            Some(open) => *open = std::mem::take(open).beside(&interval),
            None => drop(self.open.insert(interval.start_ms, interval.clone())),
        }
        if let Some(told) = self.agents.get_mut(agent) {
            told.intervals.push(interval);
        }
        self.whole()
    }

    /// An agent tells no more, however it ended: nobody waits for it.
    pub(super) fn end(&mut self, agent: usize) -> Vec<Interval> {
        if let Some(told) = self.agents.get_mut(agent) {
            told.is_over = true;
        }
        self.whole()
    }

    /// What an agent has told, which is forgotten here.
    pub(super) fn intervals(&mut self, agent: usize) -> Vec<Interval> {
        let told = self.agents.get_mut(agent);
        told.map_or_else(Vec::new, |told| std::mem::take(&mut told.intervals))
    }

    /// Those that everybody has reached who goes on; all, when nobody does.
    fn whole(&mut self) -> Vec<Interval> {
        let going = self.agents.iter().filter(|agent| !agent.is_over);
        let reached = going.map(|agent| agent.intervals.last().map(|last| last.start_ms));
        let still_open = match reached.min() {
            // `None` is less than any: somebody has told nothing yet.
            Some(None) => return Vec::new(),
            Some(Some(reached)) => self.open.split_off(&reached.saturating_add(1)),
            None => BTreeMap::new(),
        };
        let whole = std::mem::replace(&mut self.open, still_open);
        whole.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ms: u64, done: u64) -> Interval {
        Interval {
            start_ms,
            length_ms: 1000,
            done,
            ..Interval::default()
        }
    }

    #[track_caller]
    fn check(whole: &[Interval], expected: &[(u64, u64)]) {
        let whole: Vec<_> = whole.iter().map(|one| (one.start_ms, one.done)).collect();
        assert_eq!(whole, expected);
    }

    #[test]
    fn an_interval_is_told_when_all_have_told_it() {
        let mut series = Series::of(2);
        check(&series.take(0, interval(0, 1)), &[]);
        check(&series.take(0, interval(1000, 2)), &[]);
        check(&series.take(1, interval(0, 10)), &[(0, 11)]);
        check(&series.take(1, interval(1000, 20)), &[(1000, 22)]);
        check(&series.intervals(1), &[(0, 10), (1000, 20)]);
    }

    #[test]
    fn nobody_waits_for_who_has_ended() {
        let mut series = Series::of(3);
        check(&series.take(0, interval(0, 1)), &[]);
        check(&series.take(1, interval(0, 2)), &[]);
        check(&series.take(1, interval(1000, 4)), &[]);
        check(&series.end(2), &[(0, 3)]);
        check(&series.end(0), &[(1000, 4)]);
        check(&series.take(1, interval(2000, 5)), &[(2000, 5)]);
        check(&series.end(1), &[]);
    }

    /// An interval that one had nothing in is told when it has passed it.
    #[test]
    fn what_one_has_left_out_is_not_waited_for() {
        let mut series = Series::of(2);
        check(&series.take(0, interval(0, 1)), &[]);
        check(&series.take(1, interval(1000, 2)), &[(0, 1)]);
        check(&series.end(0), &[(1000, 2)]);
    }
}
