//! nginx: files, with the settings of an expert.

use super::setup::{as_root, descriptors};
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "nginx",
    about: "files by nginx",
    program: Program::Named(&["nginx"]),
    beside: &[],
    get: "install the Debian package nginx-light",
    serves: Serves::Files,
    settings: &[WORKERS, NOPUSH],
    version: &["-v"],
    launch,
};

pub(super) const WORKERS: Row =
    Row { name: "workers", default: "1", kind: Kind::Count(1, 256), about: "worker processes" };
const NOPUSH: Row = Row {
    name: "tcp_nopush",
    default: "off",
    kind: Kind::Word(&["off", "on"]),
    about: "whether head and body are sent in full packets (tcp_nopush)",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let site = setup.site.display();
    // Half the descriptors are for connections. A cache smaller than the tree costs more than none.
    let cached = descriptors() / 2;
    let cache = if cached < setup.traffic.files {
        "off".to_owned()
    } else {
        format!("max={cached} inactive=60s")
    };
    let server = format!(
        "  etag on; root {site}; open_file_cache {cache}; open_file_cache_valid 60s; open_file_cache_min_uses 1;\n"
    );
    start(setup).file("nginx.conf", configuration(setup, &server))
}

/// The process, without its file.
pub(super) fn start(setup: &Setup<'_>) -> Launch {
    let file = setup.own("nginx.conf");
    Launch::new(setup.program, ["-e", "stderr", "-c", &file])
}

/// The configuration around what a server has of its own.
pub(super) fn configuration(setup: &Setup<'_>, server: &str) -> String {
    let sendfile = if setup.traffic.is_large() { "on" } else { "off" };
    let deferred = if setup.traffic.closes() { "deferred" } else { "" };
    let nopush = match setup.settings.get("tcp_nopush") {
        "on" => "on",
        _ => "off",
    };
    let log = format!("access_log {} combined;", setup.own("access.log"));
    format!(
        "daemon off; pid {pid}; worker_processes {workers}; {user}
error_log stderr crit;
events {{ worker_connections 16384; multi_accept on; use epoll; }}
http {{
  {log} types {{ }} default_type text/plain;
  sendfile {sendfile}; tcp_nopush {nopush}; tcp_nodelay on; sendfile_max_chunk 0;
  keepalive_requests 1000000000; keepalive_timeout 75s; reset_timedout_connection on;
  client_body_temp_path {own}/body; proxy_temp_path {own}/proxy;
  fastcgi_temp_path {own}/fastcgi; uwsgi_temp_path {own}/uwsgi; scgi_temp_path {own}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096 {deferred};
{server}  }}
}}
",
        pid = setup.own("nginx.pid"),
        workers = setup.settings.get("workers"),
        user = as_root("user root;"),
        log = setup.logged(&log, "access_log off;"),
        own = setup.folder.display(),
        port = setup.port,
    )
}
