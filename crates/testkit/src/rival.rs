//! Other servers of the same machine, to compare with: each with a small configuration in a
//! temporary folder.
//!
//! They are set up to serve a folder correctly, not as fast as they can: the expert's settings
//! belong to `bench/`.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::child::Child;
use crate::net::free_port;
use crate::raw::RawClient;
use crate::skip::find_program;
use crate::tree::TempTree;
use crate::wait::{PATIENCE, wait_for};

/// The servers that can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RivalKind {
    /// nginx with one worker process.
    Nginx,
    /// lighttpd with its defaults.
    Lighttpd,
    /// H2O with one thread.
    H2o,
}

impl RivalKind {
    /// All rivals, in this order.
    pub const ALL: [Self; 3] = [Self::Nginx, Self::Lighttpd, Self::H2o];

    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Lighttpd => "lighttpd",
            Self::H2o => "h2o",
        }
    }

    fn configuration(self, site: &str, scratch: &str, port: u16) -> String {
        match self {
            Self::Nginx => format!(
                "{user}worker_processes 1;\ndaemon off;\npid {scratch}/pid;\nerror_log stderr;\n\
                 events {{ worker_connections 4096; }}\n\
                 http {{\n  access_log off;\n  default_type application/octet-stream;\n\
                 types {{ text/html html; text/plain txt; text/css css; }}\n\
                 client_body_temp_path {scratch}/body; proxy_temp_path {scratch}/proxy;\n\
                 fastcgi_temp_path {scratch}/fastcgi; uwsgi_temp_path {scratch}/uwsgi; scgi_temp_path {scratch}/scgi;\n\
                 server {{ listen 127.0.0.1:{port}; root {site}; }}\n}}\n",
                user = as_root("user root;\n"),
            ),
            Self::Lighttpd => format!(
                "server.document-root = \"{site}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\n\
                 index-file.names = ( \"index.html\" )\n\
                 mimetype.assign = ( \".html\" => \"text/html\", \".txt\" => \"text/plain\", \".css\" => \"text/css\" )\n",
            ),
            Self::H2o => format!(
                "{user}num-threads: 1\nlisten:\n  host: 127.0.0.1\n  port: {port}\n\
                 hosts:\n  default:\n    paths:\n      /:\n        file.dir: {site}\n",
                user = as_root("user: root\n"),
            ),
        }
    }

    fn command(self, program: &Path, configuration: &Path) -> Command {
        let mut command = Command::new(program);
        match self {
            Self::Nginx => command.args(["-e", "stderr", "-c"]),
            Self::Lighttpd => command.args(["-D", "-f"]),
            Self::H2o => command.args(["-m", "worker", "-c"]),
        };
        command.arg(configuration);
        command
    }
}

/// A rival that runs, on a free port of 127.0.0.1. Ends with the value.
#[derive(Debug)]
pub struct Rival {
    /// The process. That of nginx is the master, which answers nothing itself.
    pub child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
    _scratch: TempTree,
}

impl Rival {
    /// Starts a rival that serves `site` and waits until it listens; none when it is not installed.
    #[track_caller]
    pub fn start(kind: RivalKind, site: impl AsRef<Path>) -> Option<Self> {
        let program = find_program(kind.program())?;
        let scratch = TempTree::new();
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let site = site.as_ref().to_str().expect("a folder whose name is text");
        let folder = scratch.path().to_str().expect("a temporary folder whose name is text");
        let configuration = kind.configuration(site, folder, address.port());
        let configuration = scratch.write("configuration", configuration);
        let mut child = Child::spawn(kind.command(&program, &configuration));
        let listening = wait_for(PATIENCE, || match child.exit() {
            Some(_) => Some(false),
            None => std::net::TcpStream::connect(address).is_ok().then_some(true),
        });
        assert_eq!(
            listening,
            Some(true),
            "{} does not listen; it wrote {:#?}",
            program.display(),
            child.lines()
        );
        Some(Self { child, address, _scratch: scratch })
    }

    /// A new connection to it.
    #[track_caller]
    pub fn connect(&self) -> RawClient {
        RawClient::connect(self.address)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // On SIGKILL, nginx's master does not stop its worker; on SIGTERM it stops the worker
        // first.
        self.child.signal(rustix::process::Signal::TERM);
        wait_for(PATIENCE, || self.child.exit());
    }
}

/// A line that only root needs: without it these servers drop to a user who may not read the tests'
/// folders.
fn as_root(line: &str) -> &str {
    let root = std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
    if root { line } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skip;

    fn check(kind: RivalKind) {
        let tree = TempTree::new().file("hello.txt", "Hello, World!");
        let Some(rival) = Rival::start(kind, tree.path()) else {
            skip!("needs {}", kind.program());
        };
        let response =
            rival.connect().exchange("GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!((response.status, response.text()), (200, "Hello, World!"));
        let response =
            rival.connect().exchange("GET /no-such-file HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(response.status, 404);
    }

    #[test]
    fn nginx_serves_a_folder() {
        check(RivalKind::Nginx);
    }

    #[test]
    fn lighttpd_serves_a_folder() {
        check(RivalKind::Lighttpd);
    }

    #[test]
    fn h2o_serves_a_folder() {
        check(RivalKind::H2o);
    }
}
