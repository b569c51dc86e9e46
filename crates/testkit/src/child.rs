//! A program that a test starts: its lines as they come, its signals, and its certain end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::wait::{PATIENCE, wait_for, wait_until};

/// Which of the two a line was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, which has data.
    Stdout,
    /// Standard error, which has messages.
    Stderr,
}

/// One line of output of a child, without the line end; invalid UTF-8 is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The stream that the line was written to.
    pub stream: Stream,
    /// The text of the line.
    pub text: String,
}

/// A running program, killed and reaped on drop.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    name: String,
    lines: Arc<Mutex<Vec<Line>>>,
    readers: Vec<JoinHandle<()>>,
    exit: Option<ExitStatus>,
}

impl Child {
    /// Starts `program` with `arguments`, nothing on its standard input.
    #[track_caller]
    pub fn start<A: AsRef<OsStr>>(
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(program.as_ref());
        command.args(arguments);
        Self::spawn(command)
    }

    /// Starts a command made by the caller (environment, folder, descriptors). Its output is
    /// captured here.
    #[track_caller]
    pub fn spawn(mut command: Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process =
            command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let stdout = process.stdout.take().expect("standard output was asked for");
        let stderr = process.stderr.take().expect("standard error was asked for");
        let readers = vec![
            read_lines(stdout, Stream::Stdout, &lines),
            read_lines(stderr, Stream::Stderr, &lines),
        ];
        Self { process, name, lines, readers, exit: None }
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// All lines so far, in the order in which they were read.
    pub fn lines(&self) -> Vec<Line> {
        self.lines.lock().expect("no reader panics").clone()
    }

    /// What one stream has carried so far, lines ended by `\n`.
    pub fn text(&self, stream: Stream) -> String {
        let mut text = String::new();
        for line in self.lines().iter().filter(|line| line.stream == stream) {
            text.extend([
                &line.text, "
",
            ]);
        }
        text
    }

    /// Waits for a line of either stream that `matches`, looking at those already there first.
    #[track_caller]
    pub fn wait_for_line(&mut self, matches: impl Fn(&str) -> bool) -> String {
        self.wait_for_text("the line", |text| matches(text).then(|| text.to_owned()))
    }

    /// Waits for a line with `http://ADDRESS` in it and gives that address (IPv4 or IPv6 with a
    /// port).
    #[track_caller]
    pub fn wait_for_address(&mut self) -> SocketAddr {
        self.wait_for_text("an address", address_in)
    }

    /// Sends a signal. Nothing happens when the child has ended.
    pub fn signal(&mut self, signal: Signal) {
        // `try_wait` first: once reaped, the number may be someone else's.
        if self.exit().is_none() {
            let pid = Pid::from_child(&self.process);
            kill_process(pid, signal)
                .unwrap_or_else(|error| panic!("cannot signal {}: {error}", self.name));
        }
    }

    /// How the child ended; none while it runs.
    pub fn exit(&mut self) -> Option<ExitStatus> {
        if self.exit.is_none() {
            self.exit = self.process.try_wait().expect("a child can be waited for");
        }
        self.exit
    }

    /// Waits until the child has ended by itself and all its output is read.
    #[track_caller]
    pub fn wait_exit(&mut self, patience: Duration) -> ExitStatus {
        let exit = wait_for(patience, || self.exit());
        let exit = exit.unwrap_or_else(|| {
            panic!("{} still runs after {patience:?}; it wrote {:#?}", self.name, self.lines())
        });
        // A grandchild may hold the pipes; then what was read must do.
        wait_until(Duration::from_secs(1), || self.readers.iter().all(JoinHandle::is_finished));
        exit
    }

    /// The resident memory in bytes.
    #[track_caller]
    pub fn rss_bytes(&self) -> u64 {
        crate::rss_bytes(self.id()).unwrap_or_else(|| panic!("{} has ended", self.name))
    }

    /// The processor time of all its threads.
    #[track_caller]
    pub fn cpu_time(&self) -> Duration {
        crate::cpu_time(self.id()).unwrap_or_else(|| panic!("{} has ended", self.name))
    }

    /// How many descriptors it has open.
    #[track_caller]
    pub fn open_fds(&self) -> usize {
        crate::open_fds(self.id()).unwrap_or_else(|| panic!("{} has ended", self.name))
    }

    #[track_caller]
    fn wait_for_text<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let mut read = 0;
        let found = wait_for(PATIENCE, || {
            // Ended is looked at before the lines: what it wrote last is then among them.
            let ended = self.exit().is_some() && self.readers.iter().all(JoinHandle::is_finished);
            let lines = self.lines();
            let found = lines[read..].iter().find_map(|line| find(&line.text));
            read = lines.len();
            if found.is_some() { Some(found) } else { ended.then_some(None) }
        });
        found.flatten().unwrap_or_else(|| {
            panic!(
                "{what} did not come from {} (exit: {:?}); it wrote {:#?}",
                self.name,
                self.exit,
                self.lines()
            )
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit().is_none() {
            // It may end between the look and the kill; the wait reaps it either way.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

fn read_lines(
    from: impl Read + Send + 'static,
    stream: Stream,
    lines: &Arc<Mutex<Vec<Line>>>,
) -> JoinHandle<()> {
    let lines = Arc::clone(lines);
    std::thread::spawn(move || {
        for bytes in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            lines.lock().expect("no reader panics").push(Line { stream, text });
        }
    })
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let address = line.split_once("http://")?.1;
    let end = address.find(|c: char| c == '/' || c.is_whitespace()).unwrap_or(address.len());
    address[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        Child::start("sh", ["-c", script])
    }

    #[test]
    #[should_panic(expected = "did not come from sh")]
    fn a_child_that_ends_without_the_line_fails_at_once() {
        shell("echo something else").wait_for_line(|line| line == "ready");
    }

    #[test]
    #[should_panic(expected = "still runs after")]
    fn a_child_that_does_not_end_fails_the_wait() {
        shell("exec sleep 60").wait_exit(Duration::from_millis(20));
    }

    #[test]
    #[should_panic(expected = "cannot start no-such-program")]
    fn a_program_that_is_not_there_is_named() {
        Child::start("no-such-program", ["x"]);
    }

    #[test]
    fn the_two_streams_are_kept_apart() {
        let mut child = shell("echo data; echo talk >&2; exit 3");
        assert_eq!(child.wait_exit(PATIENCE).code(), Some(3));
        assert_eq!(
            (child.text(Stream::Stdout), child.text(Stream::Stderr)),
            ("data\n".into(), "talk\n".into())
        );
    }

    #[test]
    fn nothing_is_left_after_drop() {
        let child = shell("exec sleep 60");
        let pid = child.id();
        drop(child);
        assert_eq!(crate::rss_bytes(pid), None);
    }

    #[test]
    fn a_signal_arrives() {
        let mut child =
            shell("trap 'echo got it; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
        child.wait_for_line(|line| line == "ready");
        child.signal(Signal::TERM);
        assert_eq!(child.wait_exit(PATIENCE).code(), Some(7));
        assert_eq!(child.text(Stream::Stdout), "ready\ngot it\n");
        child.signal(Signal::TERM);
    }

    #[test]
    fn a_running_child_can_be_weighed() {
        let child = shell("exec sleep 60");
        assert!(child.rss_bytes() > 0);
        assert!(child.cpu_time() < Duration::from_mins(1));
        assert!(child.open_fds() >= 3);
    }

    #[test]
    fn addresses_are_found_in_lines() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(
                address_in(line),
                expected.map(|address| address.parse().unwrap()),
                "{line}"
            );
        };
        check("starting", None);
        check("see http://example.org/", None);
        check("serving /srv at http://127.0.0.1:40123/", Some("127.0.0.1:40123"));
        check("at http://[::1]:80/ now", Some("[::1]:80"));
        check("at http://127.0.0.1:1", Some("127.0.0.1:1"));
    }
}
