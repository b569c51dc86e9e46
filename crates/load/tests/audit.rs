//! Rules of the audit, each provoked by a run: a generator without time to spare, connections that
//! are served unevenly, and requests that leave by other ends than an answer. What needs a kernel
//! of its own is in the tests of the program.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{GOOD, canned, plan, request, requests, run, server, take};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use vervet_load::canned::{Canned, CannedAnswer, CannedContent};
use vervet_load::{Check, Plan};
use vervet_report::{ErrorClass, Finding, Run, Verdict};
use vervet_testkit::skip;

#[track_caller]
fn finding<'a>(run: &'a Run, rule: &str) -> &'a Finding {
    let found = run.findings.iter().find(|finding| finding.rule == rule);
    found.unwrap_or_else(|| panic!("{rule} says nothing: {:?}", run.findings))
}

/// Whether this kernel tells how long a thread waited for a processor: without it a busy machine
/// hides what is tried here.
fn tells_waits() -> bool {
    std::fs::metadata("/proc/thread-self/schedstat").is_ok()
}

/// A check that costs more than the answer: the generator always has something to do, whatever the
/// server gets.
fn heavy() -> (Canned, Plan) {
    let large = CannedAnswer { content: CannedContent::Bytes(1 << 20), ..CannedAnswer::default() };
    let (canned, address) = canned(&large);
    let mut plan = plan(address);
    plan.connections = 8;
    plan.checks = vec![Check { sha256: Some([0; 32]), ..Check::default() }];
    (canned, plan)
}

/// The generator had no time to spare. On a machine of its own it fails by its CPU time; on a
/// busy one other programs use part of it, and the wait for them is reported.
#[track_caller]
fn check_occupied(plan: Plan) {
    let run = run(plan);
    let found = finding(&run, "generator_cpu");
    assert_ne!(found.verdict, Verdict::Passed, "{found:?}");
    assert!(found.meaning.contains("the generator was the bottleneck"));
}

#[test]
fn a_heavy_check_makes_the_client_the_limit() {
    if !tells_waits() {
        skip!("needs /proc/thread-self/schedstat");
    }
    let (_canned, plan) = heavy();
    check_occupied(plan);
}

/// Threads that do nothing but to take turns on one processor, until dropped.
struct Spinning(Arc<AtomicBool>);

impl Spinning {
    fn on(core: usize, threads: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut cores = CpuSet::new();
                cores.set(core);
                sched_setaffinity(None, &cores).unwrap();
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(over)
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_generator_without_its_core_is_reported() {
    if !tells_waits() {
        skip!("needs /proc/thread-self/schedstat");
    }
    let allowed = sched_getaffinity(None).unwrap();
    let core = (0..CpuSet::MAX_CPU).find(|core| allowed.is_set(*core));
    let core = core.unwrap();
    let (_canned, mut plan) = heavy();
    plan.cores = vec![core];
    let _spinning = Spinning::on(core, 4);
    check_occupied(plan);
}

/// Most connections get an answer for each hundred that the first two get, until these have had
/// most of all.
#[derive(Default)]
struct Preference {
    preferred: Mutex<u64>,
    changed: Condvar,
    connections: AtomicU64,
}

/// Requests of the run that is served unevenly.
const UNEVEN: u64 = 1000;
/// From here on nobody waits, so that all requests have an end.
const EVEN_FROM: u64 = 900;

impl Preference {
    fn serve(&self, mut stream: TcpStream) {
        let is_preferred = self.connections.fetch_add(1, Ordering::Relaxed) < 2;
        let mut turn = 0;
        while request(&mut stream).is_some() {
            turn += 1;
            let mut preferred = self.preferred.lock().unwrap();
            if is_preferred {
                *preferred += 1;
                self.changed.notify_all();
            } else {
                let from = (turn * 100).min(EVEN_FROM);
                let early = |preferred: &mut u64| *preferred < from;
                preferred = self.changed.wait_while(preferred, early).unwrap();
            }
            drop(preferred);
            if stream.write_all(GOOD).is_err() {
                return;
            }
        }
    }
}

#[test]
fn uneven_connections_are_reported() {
    let preference = Arc::new(Preference::default());
    let address = server(move |stream| preference.serve(stream));
    let mut plan = requests(plan(address), UNEVEN);
    plan.connections = 8;
    let run = run(plan);
    assert_eq!(run.achieved.done, UNEVEN, "{:?}", run.errors);
    let found = finding(&run, "even_answers");
    assert_ne!(found.verdict, Verdict::Passed, "{found:?}");
}

/// Every second request fails, and takes longer than the others: a law that counts successful
/// responses alone does not hold.
#[track_caller]
fn check_law(
    class: ErrorClass,
    change: impl Fn(&mut Plan),
    fail: impl Fn(&mut TcpStream) + Send + Sync + 'static,
) {
    let turns = AtomicU64::new(0);
    let address = server(move |mut stream| {
        while request(&mut stream).is_some() {
            if turns.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                let _ = stream.write_all(GOOD);
                continue;
            }
            take(Duration::from_millis(10));
            fail(&mut stream);
        }
    });
    let mut plan = requests(plan(address), 240);
    plan.connections = 4;
    change(&mut plan);
    let run = run(plan);
    assert!(run.errors.count(class) >= 100, "{:?}", run.errors);
    let found = finding(&run, "littles_law");
    assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
}

#[test]
fn requests_that_fail_are_on_both_sides_of_littles_law() {
    let same = |_: &mut Plan| ();
    check_law(ErrorClass::WrongStatus, same, |stream| {
        let _ = stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    });
    check_law(ErrorClass::ClosedEarly, same, |stream| {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    check_law(ErrorClass::Malformed, same, |stream| {
        let _ = stream.write_all(b"odd\r\n\r\n");
    });
}

/// A connection that closes after an answer leaves pipelined requests unread.
#[test]
fn unread_requests_are_on_both_sides_of_littles_law() {
    let address = server(|mut stream| {
        for _ in 0..3 {
            if request(&mut stream).is_none() {
                return;
            }
            take(Duration::from_millis(1));
            let _ = stream.write_all(GOOD);
        }
        let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let _ = request(&mut stream).map(|_| stream.write_all(last));
    });
    let mut plan = requests(plan(address), 200);
    plan.connections = 2;
    plan.pipelining = 16;
    let run = run(plan);
    let found = finding(&run, "littles_law");
    assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
}
