//! A server made from a document, as `vervet run` makes it, on a port that the kernel chooses.

use std::net::SocketAddr;
use std::path::Path;

use vervet_config::{Diagnostics, Documents, Reading, Sources};
use vervet_engine::listener::Inherited;
use vervet_engine::{Carrier, Running};
use vervet_server::error_log::{ErrorLog, Level};
use vervet_server::log_sinks::{LogSinks, Target};
use vervet_server::plan::Plan;
use vervet_server::server::{Reloaded, Server, Setup, Sockets};
use vervet_server::settings::Document;
use vervet_server::staging::{Tools, prepare};
use vervet_testkit::{RawClient, TempTree};

/// The document of a test: paths start from the folder of its tree.
pub fn read(tree: &Path, text: &str) -> Reading<Document> {
    let environment = |_: &str| None;
    let mut documents = Documents::new(&environment);
    documents.add(tree.join("vervet.toml").to_string_lossy(), text);
    documents.read()
}

/// The plan of a document, or each finding as `line:column: message`.
pub fn plan(tree: &Path, text: &str) -> Result<Plan, Vec<String>> {
    let reading = read(tree, text);
    let Some(document) = &reading.value else {
        return Err(said(&reading.diagnostics, &reading.sources));
    };
    let unasked = ["127.0.0.1:0".parse().unwrap()];
    Plan::of(document, &unasked).map_err(|found| said(&found, &reading.sources))
}

/// Findings as `line:column: message`.
pub fn said(found: &Diagnostics, sources: &Sources) -> Vec<String> {
    let found = found.iter().map(|one| match sources.position(one.span) {
        Some(at) => format!("{}:{}: {}", at.line, at.column, one.message),
        None => one.message.clone(),
    });
    found.collect()
}

pub fn tools() -> Tools {
    let logs = LogSinks::new(|_| {});
    let sink = logs.open(&Target::Memory).unwrap();
    let error_log = ErrorLog::new(&sink, Level::Debug);
    Tools::new(logs, error_log)
}

/// A server that ends with its test.
pub struct Served {
    pub tree: TempTree,
    pub server: Server,
    running: Option<Running>,
}

impl Served {
    #[track_caller]
    pub fn start(tree: TempTree, text: &str) -> Self {
        let plan = plan(tree.path(), text).unwrap();
        let tools = tools();
        let sockets = Sockets::bind(&plan, &mut Inherited::default()).unwrap();
        let (stage, _) = prepare(&plan, &sockets.keys(), &tools).unwrap();
        let setup = Setup { workers: 1, carrier: Carrier::Thread };
        let (server, running) = Server::start(plan, stage, sockets, tools, setup).unwrap();
        Self { tree, server, running: Some(running) }
    }

    /// Goes over to another document.
    pub fn reload(&self, text: &str) -> Result<Reloaded, Vec<String>> {
        let reading = read(self.tree.path(), text);
        let plan = plan(self.tree.path(), text)?;
        let reloaded = self.server.reload(plan);
        reloaded.map_err(|found| said(&found, &reading.sources))
    }

    /// The address of the listener of this name.
    #[track_caller]
    pub fn address(&self, name: &str) -> SocketAddr {
        let listeners = self.server.listeners();
        let found = listeners.iter().find(|(known, _)| known == name);
        found.unwrap().1.local_address().unwrap()
    }

    #[track_caller]
    pub fn connect(&self) -> RawClient {
        let (name, _) = &self.server.listeners()[0];
        RawClient::connect(self.address(name))
    }

    /// The answer to `GET target` of a host: status and content.
    #[track_caller]
    pub fn get(&self, host: &str, target: &str) -> (u16, String) {
        let mut client = self.connect();
        let response = client.exchange(get(host, target));
        (response.status, response.text().to_owned())
    }
}

pub fn get(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.control().stop();
        let ended = self.running.take().map(Running::wait);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}
