//! From counters to what happened in a second: between two samples, with what was last read at a
//! slower pace.

use vervet_watch::{CgroupSample, Detail, Host, Sample};

/// What is shown of a stretch of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    /// Seconds since the first sample, at its end.
    pub(crate) at_s: f64,
    /// User CPU time, in cores.
    pub(crate) user_cores: f64,
    /// System CPU time, in cores.
    pub(crate) system_cores: f64,
    pub(crate) minor_faults_s: f64,
    pub(crate) major_faults_s: f64,
    /// None before switches were read twice.
    pub(crate) switches_s: Option<(f64, f64)>,
    pub(crate) rss_bytes: u64,
    pub(crate) processes: u32,
    pub(crate) threads: u32,
    /// As it was last read.
    pub(crate) detail: Option<Detail>,
    pub(crate) cgroup: Option<CgroupSample>,
    pub(crate) host: Option<Host>,
    /// CPU use of the host between its last two samples, from 0 to 1.
    pub(crate) host_busy: Option<f64>,
}

impl Stretch {
    /// Busy cores.
    pub(crate) fn cores(&self) -> f64 {
        self.user_cores + self.system_cores
    }
}

/// Makes stretches of samples.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    last: Option<Sample>,
    detail: Option<(u64, Detail)>,
    switches_s: Option<(f64, f64)>,
    cgroup: Option<CgroupSample>,
    host: Option<Host>,
    host_busy: Option<f64>,
}

impl Rates {
    /// Takes note of a sample that does not end a stretch: of what it read at a slower pace.
    pub(crate) fn pass(&mut self, sample: &Sample) {
        if let Some(detail) = sample.detail {
            if let Some((at_us, before)) = &self.detail {
                let seconds = seconds(sample.at_us.saturating_sub(*at_us));
                let new = detail.switches.value.since(before.switches.value);
                let rate = |count| per_second(count, seconds);
                self.switches_s = Some((rate(new.voluntary), rate(new.involuntary)));
            }
            self.detail = Some((sample.at_us, detail));
        }
        self.cgroup = sample.cgroup.or(self.cgroup);
        if let Some(host) = &sample.host {
            if let Some(before) = &self.host {
                let cpu = host.cpu.since(before.cpu);
                let busy = cpu.user_us + cpu.system_us + cpu.steal_us;
                let all = seconds(busy + cpu.idle_us);
                self.host_busy = (all > 0.0).then(|| seconds(busy) / all);
            }
            self.host = Some(host.clone());
        }
    }

    /// The stretch that a sample ends, which was passed before; none of the first.
    pub(crate) fn end(&mut self, sample: &Sample) -> Option<Stretch> {
        let before = self.last.replace(sample.clone())?;
        let time = seconds(sample.at_us.saturating_sub(before.at_us));
        let cpu = sample.cpu.since(before.cpu);
        let faults = sample.faults.since(before.faults);
        let cores = |us| if time > 0.0 { seconds(us) / time } else { 0.0 };
        Some(Stretch {
            at_s: seconds(sample.at_us),
            user_cores: cores(cpu.user_us),
            system_cores: cores(cpu.system_us),
            minor_faults_s: per_second(faults.minor, time),
            major_faults_s: per_second(faults.major, time),
            switches_s: self.switches_s,
            rss_bytes: sample.rss_bytes,
            processes: sample.processes,
            threads: sample.threads,
            detail: self.detail.map(|(_, detail)| detail),
            cgroup: self.cgroup,
            host: self.host.clone(),
            host_busy: self.host_busy,
        })
    }
}

// Exact up to 2^53 microseconds: 285 years.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[allow(clippy::cast_precision_loss)]
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        return count as f64 / seconds;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_watch::Cpu;

    fn sample(at_us: u64, user_us: u64, voluntary: Option<u64>) -> Sample {
        let detail = voluntary.map(|voluntary| {
            let mut detail = Detail::default();
            detail.switches.value.voluntary = voluntary;
            detail
        });
        Sample { at_us, cpu: Cpu { user_us, system_us: user_us }, detail, ..Sample::default() }
    }

    #[test]
    fn the_first_sample_ends_nothing() {
        let mut rates = Rates::default();
        let first = sample(0, 0, Some(0));
        rates.pass(&first);
        assert!(rates.end(&first).is_none());
        // At the same time nothing has a rate.
        let stretch = rates.end(&first).unwrap();
        assert!(stretch.cores() < f64::EPSILON && stretch.switches_s.is_none());
    }

    #[test]
    fn counters_become_rates() {
        let mut rates = Rates::default();
        let samples = [
            sample(0, 0, Some(0)),
            sample(500_000, 100_000, None),
            sample(1_000_000, 500_000, Some(40)),
            sample(1_500_000, 500_000, None),
        ];
        let stretches: Vec<_> = samples
            .iter()
            .filter_map(|sample| {
                rates.pass(sample);
                rates.end(sample)
            })
            .collect();
        let cores: Vec<_> = stretches.iter().map(Stretch::cores).collect();
        assert_eq!(cores, [0.4, 1.6, 0.0]);
        let switches: Vec<_> = stretches.iter().map(|stretch| stretch.switches_s).collect();
        assert_eq!(switches, [None, Some((40.0, 0.0)), Some((40.0, 0.0))]);
        assert!((stretches[2].at_s - 1.5).abs() < 1e-9);
    }
}
