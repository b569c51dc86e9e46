//! Apache: files by its event module, with the settings of an expert.

use std::path::Path;

use super::setup::as_root;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "apache",
    about: "files by Apache, event module, one process",
    program: PROGRAM,
    beside: &[],
    get: "install the Debian package apache2-bin",
    serves: Serves::Files,
    settings: &[THREADS],
    version: &["-v"],
    launch,
};

pub(super) const PROGRAM: Program = Program::Named(&["apache2", "httpd"]);

const THREADS: Row = Row {
    name: "threads",
    default: "64",
    kind: Kind::Count(1, 1000),
    about: "threads of the process; each handles one request at a time",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let threads = setup.settings.get("threads");
    // Connections that wait for their next request cost no thread; so many a thread.
    let factor = setup.traffic.connections_max.div_ceil(16).max(64);
    let sendfile = if setup.traffic.is_large() { "On" } else { "Off" };
    let own = format!(
        "LoadModule mpm_event_module {modules}/mod_mpm_event.so
ServerLimit 1
StartServers 1
ThreadLimit {threads}
ThreadsPerChild {threads}
MaxRequestWorkers {threads}
MinSpareThreads 1
MaxSpareThreads {threads}
AsyncRequestWorkerFactor {factor}
EnableSendfile {sendfile}
DocumentRoot \"{site}\"
",
        modules = modules(setup.program),
        site = setup.site.display(),
    );
    start(setup, &own)
}

/// The process, with what a module has of its own.
pub(super) fn start(setup: &Setup<'_>, own: &str) -> Launch {
    let modules = modules(setup.program);
    let deferred = if setup.traffic.closes() { "" } else { "AcceptFilter http none\n" };
    // Debian builds the module in, others load it.
    let log = format!(
        "<IfModule !log_config_module>\nLoadModule log_config_module {modules}/mod_log_config.so\n</IfModule>\n\
         CustomLog \"{}\" \"%h %l %u %t \\\"%r\\\" %>s %b\"\n",
        setup.own("access.log")
    );
    let text = format!(
        "ServerRoot \"{folder}\"
ServerName localhost
Listen 127.0.0.1:{port}
ListenBackLog 4096
PidFile \"{folder}/pid\"
DefaultRuntimeDir \"{folder}\"
ErrorLog \"{folder}/error.log\"
LogLevel crit
{deferred}Timeout 75
KeepAlive On
KeepAliveTimeout 75
MaxKeepAliveRequests 0
HostnameLookups Off
ServerTokens Prod
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
TypesConfig /dev/null
{user}{own}{log}<Directory />
  AllowOverride None
  Options FollowSymLinks
  Require all granted
  FileETag MTime Size
  ForceType text/plain
</Directory>
",
        folder = setup.folder.display(),
        port = setup.port,
        log = setup.logged(&log, ""),
        user = as_root("User www-data\nGroup www-data\n"),
    );
    let file = setup.own("apache.conf");
    Launch::new(setup.program, ["-D", "FOREGROUND", "-f", &file]).file("apache.conf", text)
}

/// The modules folder of a program: `usr/lib/apache2/modules` for `usr/sbin/apache2`.
pub(super) fn modules(program: &Path) -> String {
    let program = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let name = program.file_name().unwrap_or_default();
    let root = program.parent().and_then(Path::parent);
    let root = root.unwrap_or(Path::new("/usr"));
    root.join("lib").join(name).join("modules").display().to_string()
}
