//! h2o: files, with the settings of an expert. It sets `TCP_DEFER_ACCEPT` and the backlog itself.

use super::setup::as_root;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "h2o",
    about: "files by h2o",
    program: Program::Named(&["h2o"]),
    beside: &[],
    get: "install the Debian package h2o",
    serves: Serves::Files,
    settings: &[THREADS],
    version: &["--version"],
    launch,
};

const THREADS: Row =
    Row { name: "threads", default: "1", kind: Kind::Count(1, 256), about: "worker threads" };

fn launch(setup: &Setup<'_>) -> Launch {
    let log = format!("access-log: {}\n", setup.own("access.log"));
    let text = format!(
        "num-threads: {threads}
num-name-resolution-threads: 1
max-connections: 16384
http1-request-timeout: 75
{user}{log}hosts:
  default:
    listen: {{ host: 127.0.0.1, port: {port} }}
    paths:
      /:
        file.dir: {site}
        file.send-compressed: OFF
        file.mime.setdefaulttype: text/plain
",
        threads = setup.settings.get("threads"),
        user = as_root("user: root\n"),
        log = setup.logged(&log, ""),
        port = setup.port,
        site = setup.site.display(),
    );
    let file = setup.own("h2o.conf");
    Launch::new(setup.program, ["-m", "worker", "-c", &file]).file("h2o.conf", text)
}
