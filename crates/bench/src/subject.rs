//! The subjects: which servers are compared, and how each is set up as an expert would.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::process::{Resource, getrlimit, getuid};
use vervet_lab::subject::find;

use crate::document::{Variant, document};
use crate::workload::{Fetch, MANY_FILES, Workload};

/// What a subject stands for in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The server of this repository.
    Ours,
    /// Another server.
    Rival,
    /// What the machine can do at most.
    Ceiling,
}

#[derive(Clone, Copy)]
enum Kind {
    Vervet,
    /// With the value of `tcp_nopush`.
    Nginx(&'static str),
    /// With the value of `server.network-backend`.
    Lighttpd(&'static str),
    H2o,
    Canned,
    /// With a configuration.
    Run(Variant),
    Bjoern,
}

/// Which workloads measure a subject without its being named; a variant that never wins costs time only.
#[derive(Clone, Copy)]
enum Share {
    All,
    Big,
    None,
    /// Those that name it.
    Cast,
}

/// One row of the subject table.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    kind: Kind,
    share: Share,
}

const fn row(name: &'static str, kind: Kind, share: Share) -> Subject {
    Subject { name, kind, share }
}

/// All subjects, in the order of the report.
pub(crate) const SUBJECTS: [Subject; 13] = [
    row("vervet", Kind::Vervet, Share::All),
    row("nginx", Kind::Nginx("off"), Share::All),
    row("nginx+nopush", Kind::Nginx("on"), Share::Big),
    row("lighttpd", Kind::Lighttpd("sendfile"), Share::All),
    row("lighttpd+writev", Kind::Lighttpd("writev"), Share::None),
    row("h2o", Kind::H2o, Share::All),
    row("vervet+run", Kind::Run(Variant::Plain), Share::Cast),
    row("vervet+sites", Kind::Run(Variant::Sites), Share::Cast),
    row(
        "vervet+combined",
        Kind::Run(Variant::Log("combined")),
        Share::Cast,
    ),
    row("vervet+json", Kind::Run(Variant::Log("json")), Share::Cast),
    row("vervet+scraped", Kind::Run(Variant::Scraped), Share::Cast),
    row("bjoern", Kind::Bjoern, Share::Cast),
    row("canned", Kind::Canned, Share::All),
];

/// Flags of `vervet serve` beside the folder and the address, the same for every workload.
const VERVET_FLAGS: [&str; 10] = [
    "--workers",
    "1",
    "--log",
    "none",
    // As for the rivals: connections live on, and all may come from one address.
    "--limit",
    "requests_per_connection_max=0",
    "--limit",
    "connections_per_address_max=0",
    "--limit",
    "keep_alive_idle_ms=75s",
];

/// Where a server finds its files, and where it listens.
pub(crate) struct Setup<'a> {
    /// Folder for configurations and state; the site is the folder `site` in it.
    pub(crate) work: &'a Path,
    pub(crate) port: u16,
    pub(crate) workload: &'a Workload,
    pub(crate) vervet: &'a Path,
}

impl Subject {
    /// What the subject stands for.
    pub(crate) fn role(&self) -> Role {
        match self.kind {
            Kind::Vervet | Kind::Run(_) => Role::Ours,
            Kind::Nginx(_) | Kind::Lighttpd(_) | Kind::H2o | Kind::Bjoern => Role::Rival,
            Kind::Canned => Role::Ceiling,
        }
    }

    /// Says whether the subject takes part in `workload`, with `named` from `--subjects`.
    pub(crate) fn takes_part(&self, workload: &Workload, named: &[String]) -> bool {
        // Copying big contents from memory costs more than sendfile(2): it would be no ceiling.
        let able = self.role() != Role::Ceiling || workload.is_tiny();
        if !workload.cast.is_empty() && !workload.cast.contains(&self.name) {
            return false;
        }
        let wanted = match self.share {
            _ if !named.is_empty() => named.iter().any(|name| name == self.name),
            _ if !workload.cast.is_empty() => true,
            Share::All => true,
            Share::Big => workload.is_big(),
            Share::None | Share::Cast => false,
        };
        able && wanted
    }

    /// The program's file, if it is there.
    pub(crate) fn program(&self, vervet: &Path) -> Option<PathBuf> {
        match self.kind {
            Kind::Vervet | Kind::Run(_) | Kind::Canned => {
                vervet.is_file().then(|| vervet.to_owned())
            }
            Kind::Nginx(_) => find("nginx"),
            Kind::Lighttpd(_) => find("lighttpd"),
            Kind::H2o => find("h2o"),
            // A Python that has it, which `bench/run` makes.
            Kind::Bjoern => env::var_os("BENCH_PYTHON")
                .map(PathBuf::from)
                .filter(|file| file.is_file()),
        }
    }

    /// Whether its metrics are scraped each second.
    pub(crate) fn is_scraped(&self) -> bool {
        matches!(self.kind, Kind::Run(Variant::Scraped))
    }

    /// Whether it writes an access log.
    pub(crate) fn is_logged(&self) -> bool {
        matches!(self.kind, Kind::Run(Variant::Log(_)))
    }

    /// Writes the configuration and gives the command line.
    pub(crate) fn command(&self, setup: &Setup<'_>) -> Result<Vec<String>> {
        let program = self.program(setup.vervet).unwrap_or_default();
        let site = setup.work.join("site").display().to_string();
        let tiny = setup.work.join("site/tiny.txt").display().to_string();
        let listen = format!("127.0.0.1:{}", setup.port);
        let file = setup
            .work
            .join(format!("{}-{}.conf", self.name, setup.port));
        let config = file.display().to_string();
        let application = setup.work.join("greeting.py").display().to_string();
        let port = setup.port.to_string();
        let (text, mut arguments) = match self.kind {
            Kind::Vervet => (None, vec!["serve", &site, "--listen", &listen]),
            Kind::Nginx(nopush) => (
                Some(nginx(setup, nopush)),
                vec!["-c", &config, "-e", "stderr"],
            ),
            Kind::Lighttpd(backend) => (Some(lighttpd(setup, backend)), vec!["-D", "-f", &config]),
            Kind::H2o => (Some(h2o(setup)), vec!["-c", &config]),
            Kind::Canned => (
                None,
                vec!["lab", "ceiling", "--listen", &listen, "--content", &tiny],
            ),
            Kind::Run(variant) => (
                Some(document(variant, setup.work, setup.port)),
                vec!["run", &config],
            ),
            Kind::Bjoern => (None, vec![&*application, &*port]),
        };
        match self.kind {
            Kind::Vervet => arguments.extend(VERVET_FLAGS),
            Kind::Canned if setup.workload.closes() => arguments.push("--close"),
            _ => {}
        }
        if let Some(text) = text {
            fs::write(&file, text)?;
        }
        let program = program.display().to_string();
        Ok([program]
            .into_iter()
            .chain(arguments.into_iter().map(str::to_owned))
            .collect())
    }
}

/// Servers change to another user when started by root, who could then not read the work folder.
fn as_root(line: &str) -> &str {
    if getuid().is_root() { line } else { "" }
}

fn nginx(setup: &Setup<'_>, tcp_nopush: &str) -> String {
    let work = setup.work.display();
    let sendfile = if setup.workload.is_big() { "on" } else { "off" };
    let deferred = if setup.workload.closes() {
        "deferred"
    } else {
        ""
    };
    // Half the descriptors are for connections. A cache smaller than the tree costs more than none.
    let cached = descriptors() / 2;
    let crowded = setup.workload.fetch == Fetch::Many && cached < u64::from(MANY_FILES);
    let cache = if crowded {
        "off".to_owned()
    } else {
        format!("max={cached} inactive=60s")
    };
    format!(
        "daemon off; pid {work}/nginx.pid; worker_processes 1; {user}
error_log stderr crit;
events {{ worker_connections 16384; multi_accept on; use epoll; }}
http {{
  access_log off; etag on; types {{ }} default_type text/plain;
  sendfile {sendfile}; tcp_nopush {tcp_nopush}; tcp_nodelay on; sendfile_max_chunk 0;
  keepalive_requests 1000000000; keepalive_timeout 75s; reset_timedout_connection on;
  open_file_cache {cache}; open_file_cache_valid 60s; open_file_cache_min_uses 1;
  client_body_temp_path {work}/nginx-body; proxy_temp_path {work}/nginx-proxy;
  fastcgi_temp_path {work}/nginx-fastcgi; uwsgi_temp_path {work}/nginx-uwsgi; scgi_temp_path {work}/nginx-scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096 {deferred}; root {work}/site; }}
}}
",
        user = as_root("user root;"),
        port = setup.port,
    )
}

fn lighttpd(setup: &Setup<'_>, backend: &str) -> String {
    let deferred = if setup.workload.closes() {
        "server.defer-accept = 10"
    } else {
        ""
    };
    format!(
        r#"server.document-root = "{work}/site"
server.bind = "127.0.0.1"
server.port = {port}
server.network-backend = "{backend}"
server.event-handler = "linux-sysepoll"
server.stat-cache-engine = "simple"
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 75
server.max-fds = {descriptors}
server.max-connections = 9000
server.listen-backlog = 4096
mimetype.assign = ( "" => "text/plain" )
{deferred}
"#,
        descriptors = descriptors(),
        work = setup.work.display(),
        port = setup.port,
    )
}

/// Descriptors a server may have; `bench/run` raises the limit as far as it may.
fn descriptors() -> u64 {
    getrlimit(Resource::Nofile)
        .current
        .unwrap_or(u64::from(MANY_FILES) * 2)
}

/// h2o sets `TCP_DEFER_ACCEPT` and the backlog itself.
fn h2o(setup: &Setup<'_>) -> String {
    format!(
        "num-threads: 1
num-name-resolution-threads: 1
max-connections: 16384
http1-request-timeout: 75
{user}
hosts:
  default:
    listen: {{ host: 127.0.0.1, port: {port} }}
    paths:
      /:
        file.dir: {work}/site
        file.send-compressed: OFF
",
        user = as_root("user: root"),
        port = setup.port,
        work = setup.work.display(),
    )
}
