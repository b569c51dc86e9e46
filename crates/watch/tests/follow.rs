//! A tree is followed as processes fork and end, and what they used is not lost with them.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::common::sample_until;
use vervet_testkit::{Child, PATIENCE, Signal, find_program, skip, wait_until};
use vervet_watch::{Event, FindError, Summary, Target, Watcher};

/// Children that are born and end unseen, each with this much CPU time.
const CHILDREN: u64 = 10;
const CHILD_US: u64 = 60_000;

/// A Python program that does what a line on its standard input says, and says so.
struct Python {
    process: std::process::Child,
}

impl Python {
    fn start(program: &str) -> Option<Self> {
        let python = find_program("python3")?;
        let mut command = Command::new(python);
        command.args(["-u", "-c", program]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = Self { process: command.spawn().unwrap() };
        python.wait_for_answer();
        Some(python)
    }

    fn next_step(&mut self) {
        let input = self.process.stdin.as_mut().unwrap();
        input.write_all(b"go\n").unwrap();
        self.wait_for_answer();
    }

    fn wait_for_answer(&mut self) {
        use std::io::Read as _;
        let mut answer = [0; 3];
        self.process.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ok\n");
    }

    fn target(&self) -> Target {
        Target::Pid(self.process.id())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_missing_process_is_not_found() {
    let error = Watcher::open(&Target::Pid(1 << 22)).unwrap_err();
    assert!(matches!(error, FindError::NotFound(Target::Pid(_))), "{error}");
    let error = Watcher::open(&"name:no such program".parse().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "no process has the name \"no such program\"");
    let error = Watcher::open(&Target::Cgroup("/no/such/cgroup".into())).unwrap_err();
    assert!(matches!(error, FindError::NotFound(_) | FindError::NoCgroups), "{error}");
    let error = Watcher::open(&Target::Unit("no-such.service".into())).unwrap_err();
    assert!(matches!(error, FindError::NotFound(_) | FindError::NoCgroups), "{error}");
}

#[test]
fn children_that_are_born_and_end_between_two_samples_are_counted() {
    let program = format!(
        "import os, sys, time\nprint('ok')\nfor line in sys.stdin:\n  for i in range({CHILDREN}):\n    if os.fork() == 0:\n\
         \x20     while time.process_time_ns() < {CHILD_US}000: pass\n      os._exit(0)\n    os.wait()\n  print('ok')\n"
    );
    let Some(mut python) = Python::start(&program) else {
        skip!("needs python3");
    };
    let mut watcher = Watcher::open(&python.target()).unwrap();
    let before = watcher.sample_all(Instant::now());
    python.next_step();
    let after = watcher.sample_all(Instant::now());
    assert_eq!((before.processes, after.processes), (1, 1));
    let summary = Summary::new([&before, &after]);
    // The clock of a child begins with its fork, and the account of its parent is in ticks of ten
    // milliseconds.
    let used = CHILDREN * CHILD_US;
    assert!(summary.cpu.total_us() >= used - 20_000, "{summary:#?}");
    assert!(summary.cpu.total_us() < used * 3 / 2, "{summary:#?}");
    assert!(summary.faults.minor >= CHILDREN, "{summary:#?}");
    assert!(summary.valid);
}

#[test]
fn memory_that_processes_share_counts_once() {
    const SHARED: u64 = 64 << 20;
    let program = "import os, sys, time\nshared = b'x' * (64 << 20)\nprint('ok')\nfor line in sys.stdin:\n\
        \x20 for i in range(3):\n    if os.fork() == 0:\n      time.sleep(600)\n  print('ok')\n";
    let Some(mut python) = Python::start(program) else {
        skip!("needs python3");
    };
    let mut watcher = Watcher::open(&python.target()).unwrap();
    python.next_step();
    let sample = sample_until(&mut watcher, |sample| sample.processes == 4);
    let pss = sample.detail.unwrap().pss_bytes.unwrap();
    let rss = sample.rss_bytes;
    assert!(rss > SHARED * 4, "{rss}");
    assert!(pss > SHARED && pss < SHARED * 3 / 2, "{pss}");
    for child in children_of(python.process.id()) {
        rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    }
    sample_until(&mut watcher, |sample| sample.processes == 1);
}

fn children_of(pid: u32) -> Vec<rustix::process::Pid> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let pids = text.split_whitespace().map(|word| word.parse().unwrap());
    pids.map(|pid| rustix::process::Pid::from_raw(pid).unwrap()).collect()
}

#[test]
fn children_of_other_threads_than_the_main_one_are_found() {
    let program = "import subprocess, sys, threading, time\n\
        def work():\n  subprocess.Popen(['sleep', '600']).wait()\n\
        for i in range(2): threading.Thread(target=work, daemon=True).start()\n\
        print('ok')\nfor line in sys.stdin: pass\n";
    let Some(python) = Python::start(program) else {
        skip!("needs python3");
    };
    let mut watcher = Watcher::open(&python.target()).unwrap();
    let sample = sample_until(&mut watcher, |sample| sample.processes == 3);
    assert_eq!(sample.threads, 5);
    let sleepers = std::fs::read_dir(format!("/proc/{}/task", python.process.id())).unwrap();
    for thread in sleepers.flatten() {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap();
        for pid in children.split_whitespace() {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
}

#[test]
fn sockets_descriptors_switches_and_threads_are_counted() {
    let program = "import socket, sys, time\nprint('ok')\nfor line in sys.stdin:\n\
        \x20 pairs = [socket.socketpair() for i in range(10)]\n  for i in range(50): time.sleep(0.001)\n  print('ok')\n";
    let Some(mut python) = Python::start(program) else {
        skip!("needs python3");
    };
    let mut watcher = Watcher::open(&python.target()).unwrap();
    let before = watcher.sample_all(Instant::now()).detail.unwrap();
    python.next_step();
    let sample = watcher.sample_all(Instant::now());
    let after = sample.detail.unwrap();
    assert_eq!(after.descriptors.value.sockets, before.descriptors.value.sockets + 20);
    assert_eq!(after.descriptors.value.open, before.descriptors.value.open + 20);
    assert_eq!(before.switches.value.voluntary, 0);
    assert!(after.switches.value.voluntary >= 50, "{after:#?}");
    assert_eq!((after.descriptors.unreadable, after.switches.unreadable), (0, 0));
    assert_eq!(sample.threads, 1);
}

#[test]
fn the_host_is_sampled() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut watcher = Watcher::open(&Target::Pid(std::process::id())).unwrap();
    let before = watcher.sample_all(Instant::now()).host.unwrap();
    assert_eq!(before.cpu.idle_us + before.tcp.opened, 0);
    assert!(before.memory_total_bytes > before.memory_available_bytes);
    let connections: Vec<_> = (0..5)
        .map(|_| std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap())
        .collect();
    let told = |sample: &vervet_watch::Sample| {
        let host = sample.host.as_ref().unwrap();
        let network = host.tcp.opened >= 5 && host.loopback.received_packets >= 10;
        network
            && host.switches > 0
            && host.files_open > 0
            && host.cpu.user_us + host.cpu.idle_us > 0
    };
    sample_until(&mut watcher, told);
    drop(connections);
}

#[test]
fn a_tree_ends_with_its_last_process_and_what_it_used_is_known_until_it_is_reaped() {
    let python = find_program("python3");
    let Some(python) = python else {
        skip!("needs python3");
    };
    let program = format!("import time\nwhile time.process_time_ns() < {CHILD_US}000: pass\n");
    let mut process = Command::new(python).args(["-c", &program]).spawn().unwrap();
    let mut watcher = Watcher::open_child(process.id()).unwrap();
    let mut samples = Vec::new();
    assert!(wait_until(PATIENCE, || {
        samples.push(watcher.sample(Instant::now()));
        watcher.has_ended()
    }));
    process.wait().unwrap();
    let last = samples.last().unwrap();
    assert!(last.cpu.total_us() >= CHILD_US, "{last:#?}");
    assert_eq!(last.processes, 0);
    assert!(matches!(last.events.as_slice(), [Event::RootEnded(_)]));
    let summary = Summary::new(&samples);
    assert!(summary.ended && summary.valid, "{summary:#?}");
}

#[test]
fn the_restart_of_a_root_invalidates_the_interval() {
    let port = vervet_testkit::free_port();
    let serve = || {
        let program = "import socket, sys, time\nlistener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
            print('http://127.0.0.1:' + sys.argv[1], flush=True)\ntime.sleep(600)\n";
        let mut child = Child::start("python3", ["-c", program, &port.to_string()]);
        child.wait_for_address();
        child
    };
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let mut server = serve();
    let mut watcher = Watcher::open(&Target::Port(port)).unwrap();
    let mut samples = vec![watcher.sample(Instant::now())];
    assert_eq!(watcher.subject().roots[0].pid, server.id());
    server.signal(Signal::KILL);
    server.wait_exit(PATIENCE);
    samples.push(watcher.sample(Instant::now()));
    assert!(!watcher.has_ended(), "it may come back");
    let server = serve();
    let mut started = None;
    assert!(wait_until(PATIENCE, || {
        let sample = watcher.sample(Instant::now());
        started = sample.events.iter().find_map(|event| match event {
            Event::RootStarted(root) => Some(root.pid),
            Event::RootEnded(_) => None,
        });
        samples.push(sample);
        started.is_some() || watcher.has_ended()
    }));
    assert_eq!(started, Some(server.id()), "{samples:#?}");
    let summary = Summary::new(&samples);
    assert!(!summary.valid);
    let reasons = summary.invalid_because.join("; ");
    assert!(reasons.contains("was started during the watch"), "{reasons}");
    assert!(reasons.contains("exited during the watch"), "{reasons}");
}

#[test]
fn a_name_that_does_not_come_back_has_ended() {
    let tree =
        vervet_testkit::TempTree::new().symlink("watched-one", find_program("sleep").unwrap());
    let mut child = Child::start(tree.join("watched-one"), ["600"]);
    let mut watcher = Watcher::open(&"watched-one".parse().unwrap()).unwrap();
    watcher.sample(Instant::now());
    assert_eq!(watcher.subject().roots[0].pid, child.id());
    child.signal(Signal::KILL);
    child.wait_exit(PATIENCE);
    assert!(wait_until(PATIENCE, || {
        watcher.sample(Instant::now());
        watcher.has_ended()
    }));
}
