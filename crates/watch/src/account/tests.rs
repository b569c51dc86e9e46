//! The account against trees whose use is known: readings are made by hand, as the kernel would
//! give them.

use super::*;

/// `(parent, own, reaped)`, in microseconds.
fn reading((parent, own, reaped): (u32, u64, u64)) -> Reading {
    let counters = |cpu_us| Counters { cpu_us, ..Counters::default() };
    Reading { parent, own: counters(own), reaped: counters(reaped) }
}

/// One step of a watch.
enum Step {
    CountFrom(u32, (u32, u64, u64), Started),
    Update(u32, (u32, u64, u64)),
    End(&'static [u32]),
}
use Started::{BeforeWatch as Before, DuringWatch as Since};
use Step::{CountFrom, End, Update};

#[track_caller]
fn check(steps: impl IntoIterator<Item = Step>, expected: u64) {
    let mut ledger = Ledger::default();
    for step in steps {
        match step {
            CountFrom(pid, values, birth) => ledger.begin(pid, reading(values), birth),
            Update(pid, values) => ledger.update(pid, reading(values)),
            End(gone) => ledger.end(gone),
        }
    }
    assert_eq!(ledger.total().cpu_us, expected);
}

#[test]
fn usage_before_the_watch_does_not_count() {
    check([CountFrom(1, (0, 500, 900), Before)], 0);
    check([CountFrom(1, (0, 500, 900), Before), Update(1, (0, 530, 900))], 30);
}

#[test]
fn an_unseen_child_counts_by_its_parents_counters() {
    check([CountFrom(1, (0, 500, 900), Before), Update(1, (0, 500, 970))], 70);
}

#[test]
fn a_child_that_was_seen_and_reaped_counts_once() {
    let begin = || {
        [CountFrom(1, (0, 0, 0), Before), CountFrom(2, (1, 10, 0), Since), Update(2, (1, 40, 0))]
    };
    check(begin(), 40);
    // It used 5 more before it ended.
    let end = [Update(1, (0, 0, 45)), End(&[2])];
    check(begin().into_iter().chain(end), 45);
    // The account of its parent is coarser than what we have read.
    let end = [Update(1, (0, 0, 30)), End(&[2])];
    check(begin().into_iter().chain(end), 40);
}

#[test]
fn a_coarse_account_gathers_no_error() {
    // A hundred children of 4 us each, read whole; the kernel tells the sum in steps of 10.
    let mut steps = vec![CountFrom(1, (0, 0, 0), Before)];
    for child in 1..=100 {
        steps.push(CountFrom(2, (1, 4, 0), Since));
        steps.push(Update(1, (0, 0, child * 4 / 10 * 10)));
        steps.push(End(&[2]));
    }
    check(steps, 400);
}

#[test]
fn a_child_from_before_counts_what_it_used_since() {
    let steps = [
        CountFrom(1, (0, 0, 0), Before),
        CountFrom(2, (1, 1000, 200), Before),
        Update(2, (1, 1030, 200)),
        Update(1, (0, 0, 1240)),
        End(&[2]),
    ];
    check(steps, 40);
}

#[test]
fn an_unreaped_child_stays_counted() {
    let steps = [CountFrom(1, (0, 0, 0), Before), CountFrom(2, (1, 40, 0), Since), End(&[2])];
    check(steps, 40);
}

#[test]
fn a_branch_that_ends_at_once_counts_once() {
    let steps = [
        CountFrom(1, (0, 0, 0), Before),
        CountFrom(2, (1, 10, 0), Since),
        CountFrom(3, (2, 70, 0), Since),
        // 3 used 5 more and was reaped by 2, which used 1 more and was reaped by 1.
        Update(1, (0, 0, 86)),
        End(&[2, 3]),
    ];
    check(steps, 86);
}

#[test]
fn what_a_child_had_reaped_of_unseen_ones_moves_up_with_it() {
    let steps = [
        CountFrom(1, (0, 0, 0), Before),
        CountFrom(2, (1, 10, 100), Since),
        Update(1, (0, 0, 110)),
        End(&[2]),
    ];
    check(steps, 110);
}

#[test]
fn the_root_may_end_first() {
    let steps = [
        CountFrom(1, (0, 5, 0), Since),
        CountFrom(2, (1, 10, 0), Since),
        End(&[1]),
        Update(2, (1, 30, 0)),
        End(&[2]),
    ];
    check(steps, 35);
}

#[test]
fn a_cycle_of_reused_process_ids_ends() {
    let steps = [CountFrom(1, (2, 5, 0), Since), CountFrom(2, (1, 7, 0), Since), End(&[1, 2])];
    check(steps, 12);
    check([End(&[9]), Update(9, (0, 1, 1))], 0);
}
