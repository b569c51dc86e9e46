//! Files are rotated by size and time, and renamed by others, without the loss of a line.

use std::fs::{self, File};
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::support::log_writer::{Ended, logs};
use vervet_config::{Setting, Size};
use vervet_server::access_log::{Condition, LogPlan, LogSet, LogWriter};
use vervet_server::log_sinks::{LogSink, LogSinks, Notice, Period, Rotation, Target};
use vervet_testkit::{PATIENCE, TempTree, wait_until};

struct Bench {
    logs: LogSinks,
    sink: LogSink,
    writer: LogWriter,
    log_set: LogSet,
    sent: usize,
}

impl Bench {
    /// A log of numbered lines, each 10 bytes long.
    fn new(logs: LogSinks, path: &Path) -> Self {
        let sink = logs.open(&Target::file(path)).unwrap();
        let mut plan = LogPlan::new();
        let format = "{target}".parse().unwrap();
        let log = plan.add_log(format, Condition::default(), sink.clone());
        let log_set = plan.log_set(log.as_slice());
        Self { writer: LogWriter::new(&Arc::new(plan)), logs, sink, log_set, sent: 0 }
    }

    fn requests(&mut self, count: usize) {
        for _ in 0..count {
            let request = format!("GET /{:08} HTTP/1.1\r\nHost: a\r\n\r\n", self.sent);
            let ended = Ended { request: &request, ..Ended::default() };
            ended.log(&mut self.writer, |info| info.logs = self.log_set);
            self.sent += 1;
        }
    }

    fn finish(self) {
        drop(self.writer);
        for (_, drops) in self.logs.finish(PATIENCE) {
            assert_eq!(drops.lines, 0);
        }
    }
}

fn rotation(bytes_max: u64, keep: u32) -> Rotation {
    Rotation {
        size: Setting::assumed(Some(Size::new(bytes_max))),
        every: Setting::assumed(None),
        keep: Setting::assumed(keep),
        compress: Setting::assumed(false),
    }
}

/// The copies of `log` in a folder, oldest first, and the file itself.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut copies: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "log")
        .collect();
    copies.sort();
    copies.push(folder.join("log"));
    copies
}

fn text(path: &Path) -> String {
    let mut text = String::new();
    let file = File::open(path).unwrap();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        let mut file = file;
        file.read_to_string(&mut text).unwrap();
    }
    text
}

/// The lines of these requests.
fn numbered(numbers: Range<usize>) -> String {
    let lines: Vec<_> = numbers.map(|number| format!("/{number:08}\n")).collect();
    lines.concat()
}

/// Whether all lines are there, once and in order.
#[track_caller]
fn check_lines(files: &[PathBuf], sent: usize) {
    let all: String = files.iter().map(|path| text(path)).collect();
    let expected = numbered(0..sent);
    assert!(all == expected, "{} lines of {sent}", all.lines().count());
}

#[test]
fn files_of_the_right_size_hold_all_lines_in_order() {
    let tree = TempTree::new();
    let folder = tree.join("");
    let mut bench = Bench::new(logs(), &tree.join("log"));
    bench.sink.set_rotation(Some(rotation(105, 1000)));
    bench.requests(995);
    bench.finish();
    let files = files(&folder);
    assert_eq!(files.len(), 100);
    for file in &files[..99] {
        assert_eq!(file.metadata().unwrap().len(), 100, "{file:?}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777 & !0o640, 0);
    }
    let sent = 995;
    check_lines(&files, sent);
}

#[test]
fn as_many_copies_are_kept_as_configured_and_compressed() {
    let tree = TempTree::new();
    let folder = tree.join("");
    let mut bench = Bench::new(logs(), &tree.join("log"));
    bench
        .sink
        .set_rotation(Some(Rotation { compress: Setting::assumed(true), ..rotation(1000, 3) }));
    bench.requests(950);
    assert!(wait_until(PATIENCE, || bench.sink.written() == 950));
    let is_done = || {
        let files = files(&folder);
        let are_compressed = files[..files.len() - 1]
            .iter()
            .all(|file| file.extension().is_some_and(|end| end == "gz"));
        files.len() == 4 && are_compressed
    };
    assert!(wait_until(PATIENCE, is_done), "{:?}", files(&folder));
    bench.finish();
    let all: String = files(&folder).iter().map(|path| text(path)).collect();
    let expected = numbered(600..950);
    assert_eq!(all, expected);
}

#[test]
fn a_file_of_yesterday_is_rotated_before_todays_first_line() {
    let tree = TempTree::new().file("log", "of yesterday\n");
    let folder = tree.join("");
    let yesterday = SystemTime::now() - Duration::from_hours(24);
    let old = File::options().append(true).open(tree.join("log")).unwrap();
    old.set_modified(yesterday).unwrap();
    let mut bench = Bench::new(logs(), &tree.join("log"));
    bench.sink.set_rotation(Some(Rotation {
        size: Setting::assumed(None),
        every: Setting::assumed(Some(Period::Day)),
        ..rotation(0, 7)
    }));
    bench.requests(1);
    bench.finish();
    let texts: Vec<_> = files(&folder).iter().map(|path| text(path)).collect();
    assert_eq!(texts, ["of yesterday\n", "/00000000\n"]);
}

#[test]
fn a_renamed_file_is_noticed_without_a_signal() {
    let tree = TempTree::new();
    let (log, old) = (tree.join("log"), tree.join("log.old"));
    let mut bench = Bench::new(logs(), &log);
    bench.requests(1);
    assert!(wait_until(PATIENCE, || text(&log).lines().count() == 1));
    fs::rename(&log, &old).unwrap();
    let renamed = std::time::Instant::now();
    while !log.exists() {
        bench.requests(1);
        let written = bench.sink.written();
        assert!(wait_until(PATIENCE, || bench.sink.written() > written
            || bench.sent as u64 == bench.sink.written()));
    }
    assert!(renamed.elapsed() < Duration::from_secs(5), "{:?}", renamed.elapsed());
    bench.requests(3);
    let sent = bench.sent;
    bench.finish();
    check_lines(&[old, log], sent);
}

#[test]
fn a_file_that_cannot_be_rotated_is_still_written_and_the_error_reported_once() {
    let tree = TempTree::new().dir("logs");
    let (sender, notices) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    let logs = LogSinks::new(move |notice| sender.lock().unwrap().send(notice).unwrap());
    let mut bench = Bench::new(logs, &tree.join("logs/log"));
    bench.sink.set_rotation(Some(rotation(100, 3)));
    bench.requests(10);
    assert!(wait_until(PATIENCE, || bench.sink.written() == 10));
    // A folder that is gone takes neither a copy nor a new file; permissions would not stop root.
    fs::rename(tree.join("logs"), tree.join("gone")).unwrap();
    bench.requests(100);
    assert!(wait_until(PATIENCE, || bench.sink.written() == 110));
    bench.finish();
    let said: Vec<_> = notices.try_iter().collect();
    let [Notice::Failed { error, .. }] = &said[..] else {
        panic!("{said:?}");
    };
    let said = error.to_string();
    assert!(
        said.starts_with("cannot rotate the log file, still writing to it: No such file"),
        "{said}"
    );
    check_lines(&[tree.join("gone/log")], 110);
}

#[test]
fn reopening_while_files_are_rotated_loses_no_line() {
    let tree = TempTree::new();
    let folder = tree.join("");
    let mut bench = Bench::new(logs(), &tree.join("log"));
    bench.sink.set_rotation(Some(rotation(5000, 10_000)));
    for _ in 0..50 {
        bench.requests(500);
        bench.logs.reopen();
    }
    let sent = bench.sent;
    bench.finish();
    check_lines(&files(&folder), sent);
}
