//! lighttpd: files, with the settings of an expert.

use super::setup::descriptors;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "lighttpd",
    about: "files by lighttpd",
    program: Program::Named(&["lighttpd"]),
    beside: &[],
    get: "install the Debian package lighttpd",
    serves: Serves::Files,
    settings: &[BACKEND],
    version: &["-v"],
    launch,
};

const BACKEND: Row = Row {
    name: "network_backend",
    default: "sendfile",
    kind: Kind::Word(&["sendfile", "writev"]),
    about: "how files are sent (server.network-backend)",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let deferred = if setup.traffic.closes() { "server.defer-accept = 10" } else { "" };
    let log = format!(
        "server.modules += ( \"mod_accesslog\" )\naccesslog.filename = \"{}\"",
        setup.own("access.log")
    );
    let text = format!(
        r#"server.document-root = "{site}"
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
{log}
{deferred}
"#,
        site = setup.site.display(),
        port = setup.port,
        backend = setup.settings.get("network_backend"),
        descriptors = descriptors(),
        log = setup.logged(&log, ""),
    );
    let file = setup.own("lighttpd.conf");
    Launch::new(setup.program, ["-D", "-f", &file]).file("lighttpd.conf", text)
}
