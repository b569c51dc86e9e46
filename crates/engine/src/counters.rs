//! Counters of one reactor: written by its thread only, read by any thread, summed over reactors
//! when read.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::gate::ConnectionLimit;

/// A counter with one writer: adding is a load and a store, without a locked instruction.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only for the thread of its writer: concurrent additions may be lost.
    pub fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Returns the count, which another thread may see slightly late.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something that can be summed over reactors.
pub trait Sum {
    /// What the sum is.
    type Total: Copy + Default;

    /// Adds what is counted here.
    fn add_to(&self, total: &mut Self::Total);
}

impl Sum for Counter {
    type Total = u64;

    fn add_to(&self, total: &mut u64) {
        *total = total.wrapping_add(self.get());
    }
}

impl<const CLASSES: usize> Sum for [Counter; CLASSES]
where
    [u64; CLASSES]: Default,
{
    type Total = [u64; CLASSES];

    fn add_to(&self, total: &mut [u64; CLASSES]) {
        for (counter, total) in self.iter().zip(total) {
            counter.add_to(total);
        }
    }
}

/// Declares counters, and a second structure with the same fields as plain numbers.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident, $total:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        #[doc = concat!("[`", stringify!($name), "`] of several reactors together, as they were when they were read.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $total {
            $($(#[$field_doc])* pub $field: <$type as Sum>::Total,)*
        }

        impl Sum for $name {
            type Total = $total;

            fn add_to(&self, total: &mut $total) {
                $(self.$field.add_to(&mut total.$field);)*
            }
        }
    };
}

counters! {
    /// What one reactor has done since it began.
    Counters, Totals {
        /// Connections taken from the kernel; those passed on by another reactor count where they
        /// are served.
        accepted: Counter,
        /// Connections closed without a byte because the service did not admit them.
        denied: Counter,
        /// Connections refused because there were as many as there may be in all.
        refused: Counter,
        /// Connections refused because their address had as many as one may have.
        refused_address: Counter,
        /// Connections that were admitted.
        connections: Counter,
        /// Admitted connections that have ended.
        closed: Counter,
        /// Complete request heads received.
        requests: Counter,
        /// Final responses by class, 1xx (only 101) to 5xx.
        responses: [Counter; 5],
        /// Requests that broke the protocol.
        violations: Counter,
        /// Connections closed because of a time limit.
        timeouts: Timeouts,
        /// Bytes received, as they were on the wire.
        received_bytes: Counter,
        /// Bytes that the kernel has taken to be sent.
        sent_bytes: Counter,
        /// Bytes of content in responses that have ended, without framing: what access logs show.
        content_bytes: Counter,
    }
}

counters! {
    /// Connections closed because of a time limit, by the limit.
    Timeouts, TimeoutTotals {
        /// `proxy_header_timeout_ms` expired.
        proxy_header: Counter,
        /// `head_timeout_ms` expired after a head had begun.
        head: Counter,
        /// `content_idle_timeout_ms` expired.
        content_idle: Counter,
        /// Request content was slower than `content_rate_min`.
        content_rate: Counter,
        /// `write_stall_timeout_ms` expired.
        write_stall: Counter,
        /// The peer read slower than `write_rate_min`.
        write_rate: Counter,
    }
}

impl Counters {
    /// Returns the sum over several reactors.
    pub fn totals<'a>(reactors: impl IntoIterator<Item = &'a Counters>) -> Totals {
        let mut totals = Totals::default();
        for counters in reactors {
            counters.add_to(&mut totals);
        }
        totals
    }

    pub(crate) fn count_refusal(&self, why: ConnectionLimit) {
        match why {
            ConnectionLimit::Total => self.refused.add(1),
            ConnectionLimit::PerAddress => self.refused_address.add(1),
        }
    }
}

impl TimeoutTotals {
    /// Returns the sum over all limits.
    pub fn all(&self) -> u64 {
        let by_peer_input = self.proxy_header + self.head + self.content_idle + self.content_rate;
        by_peer_input + self.write_stall + self.write_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactors_are_summed_field_by_field() {
        let (one, two) = (Counters::default(), Counters::default());
        one.accepted.add(2);
        one.responses[4].add(3);
        one.timeouts.head.add(1);
        two.accepted.add(40);
        two.responses[1].add(5);
        two.timeouts.write_rate.add(7);
        let totals = Counters::totals([&one, &two]);
        let expected = Totals {
            accepted: 42,
            responses: [0, 5, 0, 0, 3],
            timeouts: TimeoutTotals { head: 1, write_rate: 7, ..TimeoutTotals::default() },
            ..Totals::default()
        };
        assert_eq!(totals, expected);
        assert_eq!(totals.timeouts.all(), 8);
        assert_eq!(Counters::totals([]), Totals::default());
    }
}
