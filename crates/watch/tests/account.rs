//! What is summed over processes equals the kernel's own account of the cgroup, for servers that
//! fork and end workers while they are watched.

use std::net::SocketAddr;
use std::time::Instant;

use crate::common::{Forking, ask};
use vervet_testkit::{Cgroup, PATIENCE, Rival, RivalKind, Signal, TempTree, skip, wait_until};
use vervet_watch::{Account, Summary, Target, Watcher};

/// How much CPU time a server is made to use, in microseconds: what the kernel tells in ticks
/// of ten milliseconds is then within the tolerance.
const USE_US: u64 = 1_500_000;

/// They may differ by one in so many: two in a hundred.
const TOLERANCE: u64 = 50;

/// Connections between two samples, and requests on each.
const ROUND: (usize, usize) = (10, 10);

/// Watches a tree by its root while `round` keeps it busy, and its cgroup as well.
#[track_caller]
fn check(root: u32, cgroup: &Cgroup, mut round: impl FnMut(usize)) {
    cgroup.adopt_tree(root);
    let mut by_root = Watcher::open(&Target::Pid(root)).unwrap();
    let mut by_cgroup = Watcher::open(&Target::Cgroup(cgroup.path().into())).unwrap();
    wait_until_idle(cgroup);
    let before = cgroup.cpu_us();
    let mut samples = vec![by_root.sample_all(Instant::now())];
    let mut of_cgroup = vec![by_cgroup.sample_all(Instant::now())];
    let mut number = 0;
    assert!(wait_until(PATIENCE * 3, || {
        round(number);
        number += 1;
        samples.push(by_root.sample(Instant::now()));
        of_cgroup.push(by_cgroup.sample(Instant::now()));
        cgroup.cpu_us() - before > USE_US
    }));
    wait_until_idle(cgroup);
    samples.push(by_root.sample_all(Instant::now()));
    of_cgroup.push(by_cgroup.sample_all(Instant::now()));
    let used = cgroup.cpu_us() - before;

    assert_eq!(by_root.subject().account, Account::Processes);
    assert_eq!(by_cgroup.subject().account, Account::Cgroup);
    for samples in [&samples, &of_cgroup] {
        let summary = Summary::new(samples);
        let off = summary.cpu.total_us().abs_diff(used);
        assert!(off * TOLERANCE < used, "{used} us used: {summary:#?}");
        assert_eq!(summary.invalid_because, [""; 0]);
        // The cgroup belongs to the tree, so its figures are comparable with those of the
        // processes.
        let cgroup_us = summary.cgroup.expect("the cgroup's account").cpu.total_us();
        assert!(cgroup_us.abs_diff(used) * TOLERANCE < used, "{cgroup_us} of {used}");
        let forward = samples.windows(2).all(|pair| {
            pair[0].cpu.user_us <= pair[1].cpu.user_us
                && pair[0].cpu.system_us <= pair[1].cpu.system_us
        });
        assert!(forward, "CPU time went back");
    }
}

/// Until nobody in it has used anything for several looks: then what is read is exact.
#[track_caller]
fn wait_until_idle(cgroup: &Cgroup) {
    let (mut last, mut looks) = (0, 0);
    assert!(wait_until(PATIENCE, || {
        let now = cgroup.cpu_us();
        looks = if now == last { looks + 1 } else { 0 };
        last = now;
        looks >= 10
    }));
}

fn asking(address: SocketAddr) -> impl FnMut(usize) {
    move |_| ask(address, ROUND.0, ROUND.1)
}

#[test]
fn nginx_whose_workers_are_replaced_by_reloads() {
    let tree = TempTree::new().file("page", vec![b'x'; 1 << 20]);
    let Some(rival) = Rival::start(RivalKind::Nginx, tree.path()) else {
        skip!("needs nginx");
    };
    let Some(cgroup) = Cgroup::new("") else {
        skip!("needs root and a writable cgroup of version 2");
    };
    let mut rival = rival;
    let address = rival.address;
    let root = rival.child.id();
    check(root, &cgroup, |round| {
        if round % 20 == 10 {
            rival.child.signal(Signal::HUP);
        }
        ask(address, ROUND.0, ROUND.1);
    });
}

#[test]
fn apache_whose_processes_end_after_a_few_connections() {
    let Some(apache) = Forking::apache() else {
        skip!("needs apache2 with prefork");
    };
    let Some(cgroup) = Cgroup::new("") else {
        skip!("needs root and a writable cgroup of version 2");
    };
    check(apache.child.id(), &cgroup, asking(apache.address));
}

#[test]
fn gunicorn_whose_workers_end_after_a_few_requests() {
    let Some(gunicorn) = Forking::gunicorn() else {
        skip!("needs gunicorn: scripts/setup");
    };
    let Some(cgroup) = Cgroup::new("") else {
        skip!("needs root and a writable cgroup of version 2");
    };
    check(gunicorn.child.id(), &cgroup, asking(gunicorn.address));
}
