//! What several tests of the watch share: servers that fork, and a load that keeps them busy.

#![allow(dead_code, clippy::missing_panics_doc)]

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use vervet_testkit::{
    Child, PATIENCE, RawClient, TempTree, find_program, free_port, wait_for, wait_until,
};
use vervet_watch::{Sample, Watcher};

/// Connections that each of them answers before its worker is replaced.
const CONNECTIONS_PER_WORKER: u32 = 20;

const GUNICORN: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../tools/bin/gunicorn");
const PYTHON: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../tools/bin/python3");
const APACHE_MODULES: &str = "/usr/lib/apache2/modules";

/// A server with a master and workers.
pub(crate) struct Forking {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    _scratch: TempTree,
}

impl Forking {
    /// Apache with a process for each connection; none when it is not installed.
    pub(crate) fn apache() -> Option<Self> {
        let program = find_program("apache2")?;
        if !Path::new(APACHE_MODULES).join("mod_mpm_prefork.so").exists() {
            return None;
        }
        let scratch = TempTree::new().file("site/page", vec![b'x'; 1 << 20]);
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let folder = scratch.path().display();
        let configuration = format!(
            "ServerRoot {folder}\nServerName localhost\nListen {address}\nPidFile {folder}/pid\nErrorLog /dev/stderr\n\
             LoadModule mpm_prefork_module {APACHE_MODULES}/mod_mpm_prefork.so\n\
             LoadModule authz_core_module {APACHE_MODULES}/mod_authz_core.so\n\
             DefaultRuntimeDir {folder}\nMutex file:{folder} default\nUser nobody\nGroup nogroup\nDocumentRoot {folder}/site\n\
             StartServers 2\nMinSpareServers 1\nMaxSpareServers 4\nMaxRequestWorkers 4\n\
             MaxConnectionsPerChild {CONNECTIONS_PER_WORKER}\n"
        );
        let file = scratch.write("apache.conf", configuration);
        let mut command = Command::new(program);
        command.arg("-f").arg(file).args(["-D", "FOREGROUND"]);
        Some(Self::start(command, address, scratch))
    }

    /// gunicorn with two workers; none when `scripts/setup` could not get it.
    pub(crate) fn gunicorn() -> Option<Self> {
        if !Path::new(GUNICORN).exists() {
            return None;
        }
        let app = "def app(environ, start_response):\n    body = b'%d' % sum(range(20000))\n\
            \x20   start_response('200 OK', [('Content-Length', str(len(body)))])\n    return [body]\n";
        let scratch = TempTree::new().file("busy.py", app);
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let mut command = Command::new(PYTHON);
        command.args(["-m", "gunicorn", "--workers", "2", "--max-requests"]);
        command.arg(CONNECTIONS_PER_WORKER.to_string());
        command.args(["--bind", &address.to_string(), "--worker-tmp-dir"]);
        command.arg(scratch.path()).arg("busy:app");
        command.current_dir(scratch.path());
        Some(Self::start(command, address, scratch))
    }

    fn start(command: Command, address: SocketAddr, scratch: TempTree) -> Self {
        let mut child = Child::spawn(command);
        let listening = wait_for(PATIENCE, || match child.exit() {
            Some(_) => Some(false),
            None => TcpStream::connect(address).is_ok().then_some(true),
        });
        assert_eq!(listening, Some(true), "it wrote {:#?}", child.lines());
        Self { child, address, _scratch: scratch }
    }
}

impl Drop for Forking {
    fn drop(&mut self) {
        // On SIGKILL the master does not stop its workers.
        self.child.signal(vervet_testkit::Signal::TERM);
        wait_for(PATIENCE, || self.child.exit());
    }
}

/// Requests over connections of their own, so many on each. A worker that is being replaced may
/// close one early.
pub(crate) fn ask(address: SocketAddr, connections: usize, requests: usize) {
    let request = "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(requests - 1)
        + "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for _ in 0..connections {
        let mut client = RawClient::connect(address);
        if client.try_send(&request).is_ok() {
            client.read_to_close();
        }
    }
}

/// Samples until one is as wanted.
#[track_caller]
pub(crate) fn sample_until(watcher: &mut Watcher, wanted: impl Fn(&Sample) -> bool) -> Sample {
    let mut last = None;
    let found = wait_until(PATIENCE, || {
        let sample = watcher.sample_all(Instant::now());
        let found = wanted(&sample);
        last = Some(sample);
        found
    });
    assert!(found, "{last:#?}");
    last.unwrap()
}
