//! `vervet run` on a document, seen from outside: its folder, its listeners, what it says, and what
//! its admin socket tells.

#![allow(dead_code, unreachable_pub)]

pub mod load;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use vervet_testkit::{Child, PATIENCE, RawClient, Response, Signal, Stream, TempTree, wait_for};

pub const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// What a user's environment may hold that would change a test.
const FOREIGN: [&str; 8] = [
    "PORT",
    "WEB_CONCURRENCY",
    "NO_COLOR",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
];

/// The file that is served, and its admin socket, where a document has one.
const FILE: &str = "vervet.toml";
pub const ADMIN: &str = "admin = \"unix:admin.sock\"\n";

/// A command of the program in a folder, with an environment that says nothing of it.
pub fn vervet(folder: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.current_dir(folder);
    let ours = std::env::vars_os().map(|(name, _)| name);
    let ours = ours.filter(|name| name.to_string_lossy().starts_with("VERVET_"));
    for name in ours.chain(FOREIGN.map(Into::into)) {
        command.env_remove(name);
    }
    command
}

/// Whether this is root, who has to say whom the server becomes.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `vervet check`, by root for a server that stays root.
pub fn check(folder: &Path) -> Command {
    let mut command = vervet(folder);
    command.arg("check");
    if is_root() {
        command.env("VERVET_USER", "root");
    }
    command
}

/// `vervet run vervet.toml`, which stays who it is.
pub fn run(folder: &Path) -> Command {
    let mut command = vervet(folder);
    command.args(["run", FILE]);
    if is_root() {
        command.args(["--set", "user=root"]);
    }
    command
}

/// A server at work.
pub struct Run {
    pub tree: TempTree,
    pub child: Child,
}

impl Run {
    /// Serves a document in a folder that may hold more, and waits until it says that it does.
    #[track_caller]
    pub fn start(tree: TempTree, document: &str) -> Self {
        let command = run(tree.path());
        Self::spawn(tree, document, command)
    }

    /// The same by a command of the caller's.
    #[track_caller]
    pub fn spawn(tree: TempTree, document: &str, command: Command) -> Self {
        tree.write(FILE, document);
        let mut child = Child::spawn(command);
        child.wait_for_line(|line| line.contains("serving at "));
        Self { tree, child }
    }

    /// Where a listener of this name listens.
    #[track_caller]
    pub fn address(&mut self, listener: &str) -> SocketAddr {
        let end = format!(" ({listener})");
        let line = self.child.wait_for_line(|line| line.ends_with(&end));
        let (_, address) = line.split_once("http://").unwrap();
        let (address, _) = address.split_once('/').unwrap();
        address.parse().unwrap()
    }

    /// A new connection to the listener called `main`.
    #[track_caller]
    pub fn connect(&mut self) -> RawClient {
        RawClient::connect(self.address("main"))
    }

    /// The answer to one request at `main`.
    #[track_caller]
    pub fn get(&mut self, host: &str, target: &str) -> Response {
        self.connect().exchange(get(host, target))
    }

    /// The answer of the admin socket.
    #[track_caller]
    pub fn admin(&self, target: &str) -> Response {
        let mut client = RawClient::connect_unix(self.tree.join("admin.sock"));
        client.exchange(get("localhost", target))
    }

    /// The state that the admin socket tells.
    #[track_caller]
    pub fn status(&self) -> Value {
        serde_json::from_str(self.admin("/-/status").text()).unwrap()
    }

    /// How many reloads there have been, by result.
    #[track_caller]
    pub fn reloads(&self) -> (u64, u64) {
        let reloads = &self.status()["reloads"];
        let count = |result: &str| reloads[result].as_u64().unwrap();
        (count("done"), count("refused"))
    }

    /// Serves another document from now on; all workers do when this returns.
    #[track_caller]
    pub fn reload(&mut self, document: &str) {
        let refused = self.after_hup(document);
        assert_eq!(refused, None, "{}", self.said());
    }

    /// Offers a document that is to be refused, and gives the reason that the status tells.
    #[track_caller]
    pub fn refused(&mut self, document: &str) -> String {
        let refused = self.after_hup(document);
        refused.expect("a document that is refused")
    }

    #[track_caller]
    fn after_hup(&mut self, document: &str) -> Option<String> {
        let before = self.reloads();
        self.tree.write(FILE, document);
        self.child.signal(Signal::HUP);
        let after = wait_for(PATIENCE, || Some(self.reloads()).filter(|now| *now != before));
        after.unwrap_or_else(|| panic!("nothing came of HUP: {}", self.said()));
        let error = &self.status()["reloads"]["last_error"];
        error.as_str().map(str::to_owned)
    }

    /// All that was written to standard error.
    pub fn said(&self) -> String {
        self.child.text(Stream::Stderr)
    }

    /// Ends it by TERM, and demands success.
    #[track_caller]
    pub fn end(mut self) -> TempTree {
        self.child.signal(Signal::TERM);
        let exit = self.child.wait_exit(PATIENCE);
        assert_eq!(exit.code(), Some(0), "{}", self.said());
        self.tree
    }
}

/// A request.
pub fn get(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// Writes a user with `vervet passwd`, by an entry that costs little.
#[track_caller]
pub fn passwd(folder: &Path, file: &str, user: &str, password: &str) {
    let mut command = vervet(folder);
    command.args(["passwd", file, user, "--bcrypt", "--cost", "4"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{password}").unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
}
