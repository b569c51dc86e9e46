//! Long content that no check reads is discarded in the kernel; counts and errors stay the same.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

use crate::common;
use crate::common::{answering, canned, plan, plan_of, request, requests, run, server};
use vervet_engine::reactor::Outgoing;
use vervet_load::canned::{CannedAnswer, CannedContent};
use vervet_load::script::{Answer, Script, Scripts, Step, Turn, Verdict};
use vervet_load::{Check, Plan};
use vervet_report::{ErrorClass, Run};

const REQUESTS: u64 = 40;
const CONTENT_BYTES: usize = 200_000;

/// The content ends in a word, so that a check for it has to read all of it.
fn content() -> Vec<u8> {
    let mut content = vec![b'x'; CONTENT_BYTES - 3];
    content.extend_from_slice(b"end");
    content
}

fn head(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {CONTENT_BYTES}\r\n{fields}\r\n")
}

fn answer() -> Vec<u8> {
    [head("").as_bytes(), &content()].concat()
}

fn check_for(change: impl FnOnce(&mut Check)) -> Vec<Check> {
    let mut check = Check::default();
    change(&mut check);
    vec![check]
}

fn seen() -> Vec<Check> {
    check_for(|check| check.text = Some(Arc::from(&b"end"[..])))
}

#[track_caller]
fn check_good(run: &Run, answer_bytes: usize) {
    let achieved = &run.achieved;
    assert_eq!(run.errors.total(), 0, "{:?}", run.errors);
    assert_eq!(achieved.done, REQUESTS);
    assert_eq!(achieved.content_bytes, REQUESTS * CONTENT_BYTES as u64);
    assert_eq!(achieved.bytes_received, REQUESTS * answer_bytes as u64);
    assert_eq!(run.timings.first_byte.count(), REQUESTS);
}

/// The same plan whose answers nobody has to see, and whose answers have to be seen.
#[track_caller]
fn check_both(plan: impl Fn() -> Plan, answer_bytes: usize) {
    for checks in [vec![Check::default()], seen()] {
        let mut plan = requests(plan(), REQUESTS);
        plan.checks = checks;
        check_good(&run(plan), answer_bytes);
    }
}

#[track_caller]
fn check_failed(plan: Plan, class: ErrorClass) {
    let run = run(requests(plan, REQUESTS));
    assert_eq!(run.errors.count(class), REQUESTS, "{:?}", run.errors);
    assert_eq!(run.errors.total(), REQUESTS);
    assert_eq!((run.achieved.done, run.achieved.content_bytes), (0, 0));
}

#[test]
fn a_server_that_closes_within_the_content() {
    for sent in [CONTENT_BYTES / 2, CONTENT_BYTES - 1] {
        let address = server(move |mut stream| {
            if request(&mut stream).is_some() {
                let answer = answer();
                let whole = head("").len() + sent;
                let _ = stream.write_all(&answer[..whole]);
            }
        });
        check_failed(plan(address), ErrorClass::ClosedEarly);
    }
}

/// Bytes after discarded content are found as they are after content that was read.
#[test]
fn a_server_that_sends_more_than_announced() {
    let address = answering([&answer()[..], b"and more"].concat());
    check_failed(plan(address), ErrorClass::Malformed);
}

#[test]
fn a_server_with_another_content() {
    let address = answering(answer());
    for checks in [
        check_for(|check| check.length = Some(CONTENT_BYTES as u64 - 1)),
        check_for(|check| check.text = Some(Arc::from(&b"End"[..]))),
        check_for(|check| check.sha256 = Some([7; 32])),
    ] {
        let mut plan = plan(address);
        plan.checks = checks;
        check_failed(plan, ErrorClass::WrongContent);
    }
}

#[test]
fn counts_are_the_same_for_read_and_discarded_content() {
    let address = answering(answer());
    for connections in [1, 7] {
        let plan = || {
            let mut plan = plan(address);
            plan.connections = connections;
            plan
        };
        check_both(plan, answer().len());
    }
}

/// Answers to pipelined requests follow each other, short ones between long ones.
#[test]
fn counts_the_same_in_a_pipeline() {
    let address = answering(answer());
    let plan = || {
        let mut plan = plan(address);
        plan.pipelining = 8;
        plan
    };
    check_both(plan, answer().len());

    let short = &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend"[..];
    let address = server(move |mut stream| {
        for number in 0.. {
            if request(&mut stream).is_none() {
                return;
            }
            let answered = match number % 3 {
                0 => stream.write_all(&answer()),
                _ => stream.write_all(short),
            };
            if answered.is_err() {
                return;
            }
        }
    });
    for checks in [vec![Check::default()], seen()] {
        let mut plan = requests(common::plan(address), 60);
        plan.pipelining = 8;
        plan.checks = checks;
        let run = run(plan);
        assert_eq!((run.achieved.done, run.errors.total()), (60, 0));
        let content_bytes = 20 * CONTENT_BYTES + 40 * 3;
        assert_eq!(run.achieved.content_bytes, content_bytes as u64);
        let bytes = 20 * answer().len() + 40 * short.len();
        assert_eq!(run.achieved.bytes_received, bytes as u64);
    }
}

/// A connection ends with its answer where the target says so.
#[test]
fn counts_the_same_where_the_target_closes() {
    let closing = [head("Connection: close\r\n").as_bytes(), &content()].concat();
    let length = closing.len();
    let address = server(move |mut stream| {
        if request(&mut stream).is_some() {
            let _ = stream.write_all(&closing);
        }
    });
    check_both(|| plan(address), length);
}

#[test]
fn counts_the_same_of_our_own_server() {
    let canned_answer =
        CannedAnswer { content: CannedContent::Bytes(CONTENT_BYTES), ..CannedAnswer::default() };
    let (_canned, address) = canned(&canned_answer);
    let run = run(requests(plan(address), REQUESTS));
    let content_bytes = REQUESTS * CONTENT_BYTES as u64;
    assert_eq!(run.achieved.content_bytes, content_bytes);
    assert!(run.achieved.bytes_received > content_bytes);
}

#[test]
fn counts_the_same_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut byte = [0];
            let mut read = Vec::new();
            while let Ok(1) = stream.read(&mut byte) {
                read.push(byte[0]);
                if read.ends_with(b"\r\n\r\n") && stream.write_all(&answer()).is_err() {
                    break;
                }
            }
        }
    });
    let plan = || {
        let outgoing = Outgoing::unix(&path).unwrap();
        plan_of(outgoing, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    };
    check_both(plan, answer().len());
}

/// Looks at all of the content of each answer.
struct Looks {
    request: Vec<u8>,
    steps: Vec<String>,
}

impl Scripts for Looks {
    fn user(&self, _: u32) -> Box<dyn Script> {
        Box::new(Look(self.request.clone()))
    }

    fn steps(&self) -> &[String] {
        &self.steps
    }
}

struct Look(Vec<u8>);

impl Script for Look {
    fn next(&mut self, _: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        out.extend_from_slice(&self.0);
        Step::Send(vervet_load::script::Request {
            check: 0,
            step: 0,
            content: vervet_load::script::ContentOfAnswer::AsFramed,
            due: None,
        })
    }

    fn reads_answers(&self) -> bool {
        true
    }

    fn judge(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.content == content() { Verdict::Passed } else { Verdict::Failed(0) }
    }
}

#[test]
fn a_script_gets_the_answer() {
    let address: SocketAddr = answering(answer());
    let looks = Looks {
        request: format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
        steps: vec!["/".to_owned()],
    };
    let plan = Plan::new("test", Outgoing::tcp(address), Arc::new(looks));
    check_good(&run(requests(plan, REQUESTS)), answer().len());
}
