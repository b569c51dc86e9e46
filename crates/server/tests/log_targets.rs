//! Where lines go: daemons that are dead, slow or restarted, the journal, memory, and files.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::log_writer as support;
use crate::support::log_writer::Ended;
use vervet_server::access_log::{Condition, LogPlan, LogSet, LogWriter};
use vervet_server::log_sinks::{
    Drops, LINES_BYTES_MAX, LogSinks, Notice, RECENT_LINES_MAX, Target,
};
use vervet_testkit::{Child, PATIENCE, TempTree, wait_until};

/// A writer of lines to one target, and the notices of its sink.
struct Bench {
    logs: LogSinks,
    writer: LogWriter,
    log_set: LogSet,
    notices: Receiver<Notice>,
}

impl Bench {
    fn new(target: &Target, format: &str) -> Self {
        let (sender, notices) = channel();
        let sender = Mutex::new(sender);
        let logs = LogSinks::new(move |notice| sender.lock().unwrap().send(notice).unwrap());
        let mut plan = LogPlan::new();
        let sink = logs.open(target).unwrap();
        let log = plan.add_log(format.parse().unwrap(), Condition::default(), sink);
        let log_set = plan.log_set(log.as_slice());
        Self { writer: LogWriter::new(&Arc::new(plan)), logs, log_set, notices }
    }

    fn request(&mut self, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        let ended = Ended { request: &request, ..Ended::default() };
        ended.log(&mut self.writer, |info| info.logs = self.log_set);
    }

    /// More lines than the buffers hold.
    fn flood(&mut self) -> u64 {
        let path = format!("/{}", "x".repeat(1023));
        let count = 2 * LINES_BYTES_MAX / path.len();
        for _ in 0..count {
            self.request(&path);
        }
        count as u64
    }

    fn finish(self) -> Drops {
        drop(self.writer);
        self.logs.finish(PATIENCE).remove(0).1
    }
}

fn syslog(path: &Path) -> Target {
    support::target(&format!("syslog = 'unix:{}'", path.display()))
}

fn receive(socket: &UnixDatagram) -> String {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = vec![0; 65_536];
    let count = socket.recv(&mut buffer).unwrap();
    String::from_utf8(buffer[..count].to_vec()).unwrap()
}

#[test]
fn lines_wait_for_a_syslog_daemon_that_starts_later_and_restarts() {
    let tree = TempTree::new();
    let path = tree.join("log");
    let mut bench = Bench::new(&syslog(&path), "{path}");
    bench.request("/before");
    let daemon = UnixDatagram::bind(&path).unwrap();
    let line = receive(&daemon);
    assert!(line.starts_with("<190>") && line.ends_with("]: /before"), "{line}");

    drop(daemon);
    fs::remove_file(&path).unwrap();
    bench.request("/between");
    let daemon = UnixDatagram::bind(&path).unwrap();
    assert!(receive(&daemon).ends_with("/between"));
    bench.request("/after");
    assert_eq!(bench.finish().lines, 0);
    assert!(receive(&daemon).ends_with("/after"));
}

#[test]
fn a_dead_syslog_daemon_delays_nothing_and_drops_are_counted_and_reported_once() {
    let tree = TempTree::new();
    let mut bench = Bench::new(&syslog(&tree.join("none")), "{path}");
    let sent = bench.flood();
    assert!(matches!(bench.notices.recv_timeout(PATIENCE).unwrap(), Notice::LinesDropped));
    assert!(bench.notices.try_recv().is_err());
    drop(bench.writer);
    let drops = bench.logs.finish(Duration::from_millis(50)).remove(0).1;
    assert_eq!(drops.lines, sent);
    let reason = drops.reason.unwrap();
    assert!(reason.starts_with("No such file"), "{reason}");
}

#[test]
fn a_syslog_daemon_that_reads_slowly_gets_every_line() {
    let tree = TempTree::new();
    let path = tree.join("log");
    let daemon = UnixDatagram::bind(&path).unwrap();
    let mut bench = Bench::new(&syslog(&path), "{path}");
    // More than a queue of datagrams has room for, and fewer than fill the buffers.
    for number in 0..2000 {
        bench.request(&format!("/{number}"));
    }
    for number in 0..2000 {
        let line = receive(&daemon);
        assert!(line.ends_with(&format!("]: /{number}")), "{line} {number}");
    }
    assert_eq!(bench.finish().lines, 0);
}

#[test]
fn syslog_over_udp_follows_rfc_5424() {
    let daemon = UdpSocket::bind("127.0.0.1:0").unwrap();
    daemon.set_read_timeout(Some(PATIENCE)).unwrap();
    let address = daemon.local_addr().unwrap();
    let target = support::target(&format!("syslog = 'udp:{address}'"));
    let mut bench = Bench::new(&target, "{path} {status}");
    bench.request("/a");
    let mut buffer = [0; 4096];
    let count = daemon.recv(&mut buffer).unwrap();
    let line = std::str::from_utf8(&buffer[..count]).unwrap();
    let words: Vec<_> = line.split(' ').collect();
    assert_eq!(words[0], "<190>1");
    assert!(words[1].ends_with('Z') && words[1].len() == 20, "{line}");
    let process = std::process::id().to_string();
    assert_eq!(words[3..], ["vervet", &process, "-", "-", "/a", "200"]);
}

#[test]
fn the_journal_gets_an_entry_with_fields() {
    let tree = TempTree::new();
    let path = tree.join("journal");
    let daemon = UnixDatagram::bind(&path).unwrap();
    let target = support::target(&format!("journal = {{socket = '{}'}}", path.display()));
    let mut bench = Bench::new(&target, "{status} for {path}!");
    bench.request("/a%0A");
    assert_eq!(
        receive(&daemon),
        "PRIORITY=6\nSYSLOG_IDENTIFIER=vervet\nMESSAGE=200 for /a%0A!\nVERVET_STATUS=200\nVERVET_CLIENT=192.0.2.9\n\
         VERVET_DURATION_MS=7\nVERVET_METHOD=GET\nVERVET_TARGET=/a%0A\n"
    );
    assert_eq!(bench.finish().lines, 0);
}

#[test]
fn memory_keeps_the_last_lines() {
    let mut bench = Bench::new(&Target::Memory, "{path}");
    for number in 0..RECENT_LINES_MAX + 10 {
        bench.request(&format!("/{number}"));
    }
    let sink = bench.logs.sinks().remove(0);
    assert_eq!(bench.finish().lines, 0);
    let recent = sink.recent();
    assert_eq!(recent.len(), RECENT_LINES_MAX);
    assert_eq!(recent[0], "/10");
    assert_eq!(recent[RECENT_LINES_MAX - 1], format!("/{}", RECENT_LINES_MAX + 9));
}

#[test]
fn a_pipe_without_a_reader_delays_no_other_log() {
    let tree = TempTree::new();
    let (pipe, file) = (tree.join("pipe"), tree.join("file"));
    assert!(Child::start("mkfifo", [&pipe]).wait_exit(PATIENCE).success());
    let mut bench = Bench::new(&Target::file(&pipe), "{path}");
    let mut plan = LogPlan::new();
    let other = bench.logs.open(&Target::file(&file)).unwrap();
    let log = plan.add_log("{path}".parse().unwrap(), Condition::default(), other);
    let log_set = plan.log_set(log.as_slice());
    bench.flood();
    assert!(matches!(bench.notices.recv_timeout(PATIENCE).unwrap(), Notice::LinesDropped));
    bench.writer = LogWriter::new(&Arc::new(plan));
    bench.log_set = log_set;
    bench.request("/written");
    let text = || fs::read_to_string(&file).unwrap_or_default();
    assert!(wait_until(PATIENCE, || text() == "/written\n"));
}

#[test]
fn a_missing_directory_is_reported_and_not_created() {
    let tree = TempTree::new();
    let logs = support::logs();
    let folder = tree.join("none");
    let error = logs.open(&Target::file(folder.join("log"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the directory {} does not exist (create it, writable for the user that the server runs as)",
            folder.display()
        )
    );
    assert!(!folder.exists());
    let error = logs.open(&Target::file(tree.join(""))).unwrap_err();
    assert_eq!(error.to_string(), "Is a directory (os error 21)");
}

#[test]
fn equal_targets_share_a_sink() {
    let tree = TempTree::new();
    let logs = support::logs();
    let one = logs.open(&Target::file(tree.join("log"))).unwrap();
    let same = logs.open(&Target::file(tree.join("log"))).unwrap();
    let other = logs.open(&Target::file(tree.join("other"))).unwrap();
    assert_eq!(logs.sinks().len(), 2);
    drop((one, other));
    assert_eq!(logs.sinks().len(), 1);
    drop(same);
    assert_eq!(logs.sinks().len(), 0);
    assert!(logs.open(&Target::file(tree.join("log"))).is_ok());
}
