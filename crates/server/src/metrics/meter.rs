//! Counters of responses by site, updated where the lines of the access log are written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_engine::counters::Counter;
use vervet_engine::exchange::Finished;

use super::histogram::{Durations, Histogram};

/// The names of the classes of statuses.
pub const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The name for requests without a site: those that the engine refused.
const NO_SITE: &str = "";

/// The counters of one site on one reactor.
#[derive(Debug, Default)]
pub(crate) struct SiteCounters {
    durations: [Histogram; CLASSES.len()],
    content_bytes: Counter,
    faults: Counter,
}

/// The counters of one site, summed over all reactors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTotals {
    /// The name of the site; empty for requests that the engine rejected before a site was known.
    pub site: Box<str>,
    /// Durations of responses by class of status, in the order of [`CLASSES`].
    pub durations: [Durations; CLASSES.len()],
    /// Bytes of response bodies sent.
    pub content_bytes: u64,
    /// Incomplete responses, and requests that the engine refused.
    pub faults: u64,
}

/// The counters of all sites over all reactors.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Vec<Meter>>>);

/// The counters of one reactor. Clones share them; only one thread may count.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<Sites>>);

type Sites = BTreeMap<Box<str>, Arc<SiteCounters>>;

impl SiteCounters {
    /// Counts an exchange that has ended. Only the thread of the reactor may call this.
    pub(crate) fn count(&self, finished: &Finished<'_>) {
        // A status above 599 has no class: it counts as 5xx.
        let class = usize::from(finished.status.code() / 100).clamp(1, CLASSES.len()) - 1;
        self.durations[class].count(finished.duration_ms);
        self.content_bytes.add(finished.content_bytes);
        if finished.fault.is_some() {
            self.faults.add(1);
        }
    }
}

impl SiteTotals {
    /// Responses of all classes.
    pub fn requests(&self) -> u64 {
        self.durations.iter().map(Durations::count).sum()
    }
}

impl Metrics {
    /// All counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counters for one more reactor.
    pub fn meter(&self) -> Meter {
        let meter = Meter::default();
        lock(&self.0).push(meter.clone());
        meter
    }

    /// All sites by name, each summed over the reactors, without sites that the current plan does
    /// not have.
    pub fn sites(&self) -> Vec<SiteTotals> {
        let mut totals: BTreeMap<Box<str>, SiteTotals> = BTreeMap::new();
        for meter in lock(&self.0).iter() {
            for (name, counters) in lock(&meter.0).iter() {
                let total = totals.entry(name.clone()).or_default();
                for (counted, total) in counters.durations.iter().zip(&mut total.durations) {
                    counted.add_to(total);
                }
                total.content_bytes += counters.content_bytes.get();
                total.faults += counters.faults.get();
            }
        }
        let named = totals.into_iter().map(|(site, totals)| SiteTotals { site, ..totals });
        named.collect()
    }
}

impl Meter {
    /// The counters of these sites in their order, and those of requests without a site. Sites that
    /// existed before keep their counts; sites that are gone are removed.
    pub(crate) fn sites<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
    ) -> (Vec<Arc<SiteCounters>>, Arc<SiteCounters>) {
        let mut known = lock(&self.0);
        let before = std::mem::take(&mut *known);
        let mut counters = |name: &str| {
            let counters = known.entry(name.into()).or_insert_with(|| {
                let counters = before.get(name);
                counters.map(Arc::clone).unwrap_or_default()
            });
            Arc::clone(counters)
        };
        (names.map(&mut counters).collect(), counters(NO_SITE))
    }
}

/// Holders of the lock never leave the data half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use vervet_engine::http::status::Status;
    use vervet_engine::reactor::Now;

    use super::*;

    fn finished(code: u16) -> Finished<'static> {
        Finished {
            tag: None,
            status: Status::new(code).unwrap(),
            content_bytes: 10,
            duration_ms: 3,
            peer: None,
            now: Now::default(),
            fault: (code == 400).then_some("why"),
        }
    }

    #[test]
    fn sites_are_summed_over_reactors_and_classes_counted_separately() {
        let metrics = Metrics::new();
        for _ in 0..2 {
            let (sites, none) = metrics.meter().sites(["a", "b"].into_iter());
            sites[0].count(&finished(200));
            sites[1].count(&finished(404));
            sites[1].count(&finished(799));
            none.count(&finished(400));
        }
        let counted: Vec<_> = metrics
            .sites()
            .iter()
            .map(|site| {
                let classes = site.durations.map(|durations| durations.count());
                (site.site.to_string(), classes, site.content_bytes, site.faults)
            })
            .collect();
        let expected = [
            ("", [0, 0, 0, 2, 0], 20, 2),
            ("a", [0, 2, 0, 0, 0], 20, 0),
            ("b", [0, 0, 0, 2, 2], 40, 0),
        ];
        assert_eq!(
            counted,
            expected.map(|(site, classes, bytes, faults)| (
                site.to_owned(),
                classes,
                bytes,
                faults
            ))
        );
    }

    #[test]
    fn sites_keep_their_counts_in_a_new_plan_and_others_are_removed() {
        let metrics = Metrics::new();
        let meter = metrics.meter();
        let (old, _) = meter.sites(["stays", "goes"].into_iter());
        for site in &old {
            site.count(&finished(200));
        }
        let (new, _) = meter.sites(["comes", "stays"].into_iter());
        new[1].count(&finished(200));
        // An exchange of the old plan that ends now.
        old[0].count(&finished(200));
        let counted: Vec<_> =
            metrics.sites().iter().map(|site| (site.site.to_string(), site.requests())).collect();
        assert_eq!(
            counted,
            [("", 0), ("comes", 0), ("stays", 3)].map(|(site, count)| (site.to_owned(), count))
        );
    }

    #[test]
    fn two_sites_of_one_name_share_counters() {
        let metrics = Metrics::new();
        let (sites, _) = metrics.meter().sites(["a", "a"].into_iter());
        for site in &sites {
            site.count(&finished(200));
        }
        assert_eq!(metrics.sites()[1].requests(), 2);
    }
}
