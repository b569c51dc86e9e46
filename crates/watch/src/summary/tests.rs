//! What samples come to: samples made by hand, and the figures that follow from them.

use super::*;
use crate::sample::Counted;

fn sample(at_us: u64, cpu_us: u64) -> Sample {
    Sample { at_us, cpu: Cpu { user_us: cpu_us, system_us: 0 }, processes: 1, ..Sample::default() }
}

fn root(pid: u32) -> Root {
    let name = "nginx".to_owned();
    Root { pid, name }
}

/// Why an interval of these samples does not count.
#[track_caller]
fn check_reasons(samples: &[Sample], expected: &[&str]) {
    let summary = Summary::new(samples);
    assert_eq!(summary.invalid_because, expected);
    assert_eq!(summary.valid, expected.is_empty());
}

#[test]
fn no_samples_are_not_an_interval() {
    check_reasons(&[], &["no samples"]);
}

#[test]
fn the_exit_of_a_root_invalidates_the_interval() {
    let mut ended = sample(100_000, 10);
    ended.events = vec![Event::RootEnded(root(7))];
    let goes_on = [sample(0, 0), ended.clone(), sample(200_000, 20)];
    check_reasons(&goes_on, &["root process 7 (nginx) exited during the watch"]);

    // All of the tree ended: what was counted until then stands,
    ended.processes = 0;
    let over = [sample(0, 0), ended.clone()];
    check_reasons(&over, &[]);
    assert!(Summary::new(&over).ended);

    // unless it comes back.
    let mut back = sample(200_000, 20);
    back.events = vec![Event::RootStarted(root(8))];
    let restarted = [sample(0, 0), ended.clone(), back];
    let reasons = [
        "root process 8 (nginx) was started during the watch",
        "root process 7 (nginx) exited during the watch",
    ];
    check_reasons(&restarted, &reasons);

    // What the first sample tells happened before it.
    check_reasons(&[ended, sample(200_000, 20)], &[]);
}

#[test]
fn reasons_are_bounded() {
    let mut samples = vec![sample(0, 0)];
    for number in 1..=40 {
        let mut again = sample(number, 0);
        again.events = vec![Event::RootStarted(root(7))];
        samples.push(again);
    }
    assert_eq!(Summary::new(&samples).invalid_because.len(), REASONS_MAX);
}

#[test]
fn counters_are_differences_and_levels_have_mean_and_peak() {
    let mut samples =
        [sample(1_000_000, 500_000), sample(1_500_000, 600_000), sample(2_000_000, 1_000_000)];
    for (sample, rss) in samples.iter_mut().zip([10, 11, 30]) {
        sample.rss_bytes = rss;
        sample.faults.minor = rss;
        sample.cost_us = 100;
    }
    let summary = Summary::new(&samples);
    assert_eq!((summary.from_us, summary.duration_us), (1_000_000, 1_000_000));
    assert_eq!(summary.cpu.total_us(), 500_000);
    assert_eq!(summary.cores, Spread { mean: 0.5, peak: 0.8 });
    assert_eq!(summary.rss_bytes, Spread { mean: 17.0, peak: 30.0 });
    assert_eq!(summary.faults.minor, 20);
    // The first look belongs to the time before.
    assert_eq!(summary.watch_cpu_us, 200);
    assert!((summary.watch_share() - 0.0002).abs() < 1e-9);
}

#[test]
fn samples_that_are_too_close_make_no_peak() {
    let samples = [sample(0, 0), sample(1, 1_000), sample(PEAK_GAP_MIN_US, 25_000)];
    assert_eq!(Summary::new(&samples).cores, Spread { mean: 0.5, peak: 0.5 });
}

#[test]
fn a_sum_over_unreadable_processes_is_none() {
    let with = |at_us, pss_bytes| {
        let detail = Detail {
            pss_bytes,
            swap_bytes: pss_bytes,
            descriptors: Counted {
                unreadable: u32::from(pss_bytes.is_none()),
                ..Counted::default()
            },
            ..Detail::default()
        };
        Sample { detail: Some(detail), ..sample(at_us, 0) }
    };
    let summary = Summary::new(&[with(0, Some(10)), sample(1, 0), with(2, Some(20))]);
    assert_eq!(summary.pss_bytes, Some(Spread { mean: 15.0, peak: 20.0 }));
    assert_eq!(summary.unreadable, 0);
    let summary = Summary::new(&[with(0, Some(10)), with(1, None)]);
    assert_eq!((summary.pss_bytes, summary.swap_bytes), (None, None));
    assert_eq!(summary.unreadable, 1);
    let summary = Summary::new(&[sample(0, 0)]);
    assert_eq!((summary.pss_bytes, summary.descriptors), (None, None));
    assert_eq!((summary.cgroup, summary.host), (None, None));
}

#[test]
fn the_host_is_summarized_between_its_readings() {
    let with = |at_us, user_us, idle_us, available| {
        let mut host = Host { memory_available_bytes: available, ..Host::default() };
        (host.cpu.user_us, host.cpu.idle_us) = (user_us, idle_us);
        host.tcp.listen_overflows = user_us;
        Sample { host: Some(host), ..sample(at_us, 0) }
    };
    let samples =
        [sample(0, 0), with(10, 0, 0, 9), with(20, 1, 1, 5), with(30, 3, 1, 7), sample(40, 0)];
    assert_eq!(Summary::new(&samples[..2]).host, None);
    let host = Summary::new(&samples).host.unwrap();
    assert_eq!((host.duration_us, host.memory_available_min_bytes), (20, 5));
    assert!((host.busy - 0.75).abs() < 1e-9);
    assert_eq!(host.tcp.listen_overflows, 3);
}
