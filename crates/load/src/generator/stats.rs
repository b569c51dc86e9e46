//! Statistics of one thread: counts and times of the window and of the current interval. Nothing
//! here allocates per request.

use std::sync::Arc;

use vervet_report::{
    Censored, ErrorClass, Errors, Histogram, Recorder, SlowRequest, Slowest, Timings,
};

use crate::script::Scripts;

/// Statuses have three digits.
const STATUSES: usize = 1000;

/// The result of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) step: u16,
    pub(crate) status: u16,
    pub(crate) due_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) first_byte_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) content_bytes: u64,
    pub(crate) received_bytes: u64,
}

/// What is counted per interval, and over the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) done: u64,
    pub(crate) errors: Errors,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) content_bytes: u64,
    pub(crate) connections: u64,
}

/// One step's figures, by numbers.
#[derive(Debug, Default)]
pub(crate) struct StepStats {
    pub(crate) done: u64,
    pub(crate) errors: Errors,
    pub(crate) bytes: u64,
    pub(crate) response: Histogram,
    /// How often each assertion was broken, at its number; as long as needed.
    pub(crate) assertions: Vec<u64>,
}

/// What one thread writes down.
pub(crate) struct ThreadStats {
    pub(crate) total: Tally,
    pub(crate) interval: Tally,
    /// Of the window, without what [`ThreadStats::alike`] still holds.
    pub(crate) timings: Timings,
    interval_response: Histogram,
    /// Times that are response, service and first-byte time at once, of the interval that is under
    /// way: sent when due, and answered in one piece, as nearly all are in closed load. One place
    /// is written for each instead of three.
    alike: Recorder,
    pub(crate) statuses: Box<[u64; STATUSES]>,
    /// Figures by step; empty if there is only one step.
    pub(crate) steps: Vec<StepStats>,
    pub(crate) slowest: Slowest,
    pub(crate) lag: Histogram,
    /// The greatest of the interval that is under way.
    interval_lag_ns: u64,
    pub(crate) censored: Censored,
    /// Requests under way, summed over time: request-nanoseconds.
    pub(crate) area: u128,
    /// How long each request was under way, as far as that lies in the window, summed over all that
    /// left by any end.
    pub(crate) sojourns_ns: u128,
    scripts: Arc<dyn Scripts>,
    in_flight: u64,
    changed_ns: u64,
    window_ns: u64,
}

impl ThreadStats {
    pub(crate) fn new(scripts: Arc<dyn Scripts>) -> Self {
        let steps = match scripts.steps().len() {
            0 | 1 => 0,
            steps => steps,
        };
        Self {
            total: Tally::default(),
            interval: Tally::default(),
            timings: Timings::default(),
            interval_response: Histogram::new(),
            alike: Recorder::new(),
            statuses: Box::new([0; STATUSES]),
            steps: (0..steps).map(|_| StepStats::default()).collect(),
            slowest: Slowest::default(),
            lag: Histogram::new(),
            interval_lag_ns: 0,
            censored: Censored::default(),
            area: 0,
            sojourns_ns: 0,
            scripts,
            in_flight: 0,
            changed_ns: 0,
            window_ns: 0,
        }
    }

    /// The window begins: what was before is forgotten.
    pub(crate) fn open_window(&mut self, now_ns: u64) {
        let in_flight = self.in_flight;
        *self = Self::new(Arc::clone(&self.scripts));
        self.in_flight = in_flight;
        self.changed_ns = now_ns;
        self.window_ns = now_ns;
    }

    /// A request was sent.
    pub(crate) fn begin(&mut self, now_ns: u64, bytes: usize) {
        self.integrate(now_ns);
        self.in_flight += 1;
        self.total.bytes_sent += bytes as u64;
    }

    /// A request is no longer outstanding: it succeeded, failed, was ignored, or was cut off by the
    /// end of the run.
    pub(crate) fn leave(&mut self, now_ns: u64, sent_ns: u64) {
        self.integrate(now_ns);
        self.in_flight = self.in_flight.saturating_sub(1);
        let since_ns = sent_ns.max(self.window_ns);
        self.sojourns_ns += u128::from(now_ns.saturating_sub(since_ns));
    }

    /// Records the lag of handling a due request or an event.
    pub(crate) fn late(&mut self, lag_ns: u64) {
        self.lag.record_ns(lag_ns);
        self.interval_lag_ns = self.interval_lag_ns.max(lag_ns);
    }

    /// Takes the maximum lag since the last call.
    pub(crate) fn take_interval_lag_ns(&mut self) -> u64 {
        std::mem::take(&mut self.interval_lag_ns)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Brings the sum over time up to a moment.
    pub(crate) fn integrate(&mut self, now_ns: u64) {
        // An answer and the request after it are of one moment: the second finds nothing to add.
        if now_ns > self.changed_ns {
            let since = now_ns - self.changed_ns;
            self.area += u128::from(self.in_flight) * u128::from(since);
            self.changed_ns = now_ns;
        }
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.interval.bytes_received += bytes as u64;
    }

    pub(crate) fn status(&mut self, status: u16) {
        if let Some(count) = self.statuses.get_mut(usize::from(status)) {
            *count += 1;
        }
    }

    /// Counts a successful response.
    pub(crate) fn good(&mut self, sample: &Sample) {
        let response_ns = sample.end_ns.saturating_sub(sample.due_ns);
        let service_ns = sample.end_ns.saturating_sub(sample.sent_ns);
        self.interval.done += 1;
        self.interval.content_bytes += sample.content_bytes;
        let first_byte_ns = sample.first_byte_ns.saturating_sub(sample.sent_ns);
        if response_ns == service_ns && first_byte_ns == service_ns {
            self.alike.record_ns(service_ns);
        } else {
            self.interval_response.record_ns(response_ns);
            self.timings.service.record_ns(service_ns);
            self.timings.first_byte.record_ns(first_byte_ns);
        }
        if let Some(step) = self.steps.get_mut(usize::from(sample.step)) {
            step.done += 1;
            step.bytes += sample.received_bytes;
            step.response.record_ns(response_ns);
        }
        if self.slowest.wants(response_ns) {
            self.keep_slow(sample, response_ns, service_ns);
        }
    }

    #[cold]
    fn keep_slow(&mut self, sample: &Sample, response_ns: u64, service_ns: u64) {
        let name = self.scripts.steps().get(usize::from(sample.step));
        self.slowest.add(SlowRequest {
            response_ns,
            service_ns,
            due_ms: sample.due_ns.saturating_sub(self.window_ns) / 1_000_000,
            status: sample.status,
            request: name.cloned().unwrap_or_default(),
        });
    }

    /// A request that failed.
    #[cold]
    pub(crate) fn bad(&mut self, step: u16, class: ErrorClass) {
        self.interval.errors.add(class);
        if let Some(step) = self.steps.get_mut(usize::from(step)) {
            step.errors.add(class);
        }
    }

    /// An assertion of a script that was broken.
    #[cold]
    pub(crate) fn broken(&mut self, step: u16, assertion: u16) {
        let Some(step) = self.steps.get_mut(usize::from(step)) else {
            return;
        };
        let at = usize::from(assertion);
        if step.assertions.len() <= at {
            step.assertions.resize(at + 1, 0);
        }
        step.assertions[at] += 1;
    }

    /// Counts a request without a response at the end of the run.
    pub(crate) fn censor(&mut self, due_ns: u64, end_ns: u64) {
        self.censor_many(1, due_ns, end_ns);
    }

    /// Counts several, of which the first became due at `due_ns`.
    pub(crate) fn censor_many(&mut self, count: u64, due_ns: u64, end_ns: u64) {
        self.censored.count += count;
        let longest = end_ns.saturating_sub(due_ns);
        self.censored.longest_ns = self.censored.longest_ns.max(longest);
    }

    /// Ends the interval: adds its counts to the window, and returns them with its times.
    pub(crate) fn close_interval(&mut self) -> (Tally, Histogram) {
        let tally = std::mem::take(&mut self.interval);
        let total = &mut self.total;
        total.done += tally.done;
        total.errors.merge(&tally.errors);
        total.bytes_received += tally.bytes_received;
        total.content_bytes += tally.content_bytes;
        total.connections += tally.connections;
        let mut response = std::mem::take(&mut self.interval_response);
        let alike = self.alike.take();
        for times in [&mut response, &mut self.timings.service, &mut self.timings.first_byte] {
            times.merge(&alike);
        }
        self.timings.response.merge(&response);
        (tally, response)
    }
}
