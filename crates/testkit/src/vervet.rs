//! Our own server as a child.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::child::Child;
use crate::raw::RawClient;

/// A running `vervet serve` on a free port of 127.0.0.1. Ends with the value.
#[derive(Debug)]
pub struct Vervet {
    /// The process, for its signals, lines and weight.
    pub child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
}

impl Vervet {
    /// Serves `folder` with `binary` (in tests of the crate `vervet`:
    /// `env!("CARGO_BIN_EXE_vervet")`) and waits until it says where it listens. `arguments` come
    /// after `serve FOLDER --listen 127.0.0.1:0`.
    #[track_caller]
    pub fn serve<A: AsRef<OsStr>>(
        binary: impl AsRef<Path>,
        folder: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(binary.as_ref());
        command.arg("serve").arg(folder.as_ref()).args(["--listen", "127.0.0.1:0"]).args(arguments);
        Self::spawn(command)
    }

    /// Starts a command that the caller has made, and waits for the first address that it prints.
    /// Root stays root.
    #[track_caller]
    pub fn spawn(mut command: Command) -> Self {
        if rustix::process::geteuid().is_root() {
            command.env("VERVET_USER", "root");
        }
        let mut child = Child::spawn(command);
        let address = child.wait_for_address();
        Self { child, address }
    }

    /// A new connection to it.
    #[track_caller]
    pub fn connect(&self) -> RawClient {
        RawClient::connect(self.address)
    }

    /// The URL of a target (`/a/b?c`) on this server.
    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_the_program_with_the_folder_and_reads_its_address() {
        let binary = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fake-vervet");
        let mut server = Vervet::serve(binary, "folder", ["--workers", "1"]);
        assert_eq!(server.address, "127.0.0.1:4321".parse().unwrap());
        assert_eq!(server.url("/a?b"), "http://127.0.0.1:4321/a?b");
        let expected = "serve folder --listen 127.0.0.1:0 --workers 1";
        server.child.wait_for_line(|line| line == expected);
    }
}
