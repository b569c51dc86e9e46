//! Merges the intervals of all agents while the run goes on. No I/O.

use std::collections::BTreeMap;

use vervet_report::Interval;

/// The intervals of all agents.
#[derive(Debug)]
pub(super) struct Series {
    agents: Vec<AgentSeries>,
    /// The sum of the intervals that not all agents have sent yet, by start time.
    incomplete: BTreeMap<u64, Interval>,
}

/// The intervals of one agent.
#[derive(Clone, Debug, Default)]
struct AgentSeries {
    intervals: Vec<Interval>,
    has_ended: bool,
}

impl Series {
    /// The empty series of a number of agents.
    pub(super) fn new(agents: usize) -> Self {
        Self {
            agents: vec![AgentSeries::default(); agents],
            incomplete: BTreeMap::new(),
        }
    }

    /// Adds an interval of an agent; returns the intervals that are complete now.
    pub(super) fn add(&mut self, agent: usize, interval: Interval) -> Vec<Interval> {
        let sum = self.incomplete.remove(&interval.start_ms);
        let sum = sum.map_or_else(|| interval.clone(), |sum| sum.beside(&interval));
        self.incomplete.insert(interval.start_ms, sum);
        if let Some(series) = self.agents.get_mut(agent) {
            series.intervals.push(interval);
        }
        self.complete()
    }

    /// Ends the series of an agent, for which no interval waits any more; returns the intervals
    /// that are complete now.
    pub(super) fn end(&mut self, agent: usize) -> Vec<Interval> {
        if let Some(series) = self.agents.get_mut(agent) {
            series.has_ended = true;
        }
        self.complete()
    }

    /// Takes the intervals of an agent.
    pub(super) fn take_intervals(&mut self, agent: usize) -> Vec<Interval> {
        let series = self.agents.get_mut(agent);
        series.map_or_else(Vec::new, |series| std::mem::take(&mut series.intervals))
    }

    /// Takes the intervals that all running agents have reached; all, when none is running.
    fn complete(&mut self) -> Vec<Interval> {
        let running = self.agents.iter().filter(|agent| !agent.has_ended);
        let reached = running.map(|agent| agent.intervals.last().map(|last| last.start_ms));
        let incomplete = match reached.min() {
            // `None` is less than any: an agent has sent no interval yet.
            Some(None) => return Vec::new(),
            Some(Some(reached)) => self.incomplete.split_off(&reached.saturating_add(1)),
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
        Interval {
            start_ms,
            length_ms: 1000,
            done,
            ..Interval::default()
        }
    }

    #[track_caller]
    fn check(complete: &[Interval], expected: &[(u64, u64)]) {
        let complete: Vec<_> = complete
            .iter()
            .map(|one| (one.start_ms, one.done))
            .collect();
        assert_eq!(complete, expected);
    }

    #[test]
    fn an_interval_is_complete_when_all_agents_have_sent_it() {
        let mut series = Series::new(2);
        check(&series.add(0, interval(0, 1)), &[]);
        check(&series.add(0, interval(1000, 2)), &[]);
        check(&series.add(1, interval(0, 10)), &[(0, 11)]);
        check(&series.add(1, interval(1000, 20)), &[(1000, 22)]);
        check(&series.take_intervals(1), &[(0, 10), (1000, 20)]);
    }

    #[test]
    fn no_interval_waits_for_an_agent_that_has_ended() {
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
    fn an_interval_that_an_agent_skipped_is_complete() {
        let mut series = Series::new(2);
        check(&series.add(0, interval(0, 1)), &[]);
        check(&series.add(1, interval(1000, 2)), &[(0, 1)]);
        check(&series.end(0), &[(1000, 2)]);
    }
}
