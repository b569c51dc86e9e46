//! uWSGI: WSGI by processes and threads.

use super::python::{CALLABLE, WORKERS, address};
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "uwsgi",
    about: "WSGI by uWSGI",
    program: Program::Module("pyuwsgi"),
    beside: &[],
    get: "run labs/setup, which installs pyuwsgi by pip",
    serves: Serves::App,
    settings: &[WORKERS, THREADS, CALLABLE],
    version: &["-c", "import importlib.metadata as m; print('uWSGI', m.version('pyuwsgi'))"],
    launch,
};

const THREADS: Row = Row {
    name: "threads",
    default: "1",
    kind: Kind::Count(1, 1000),
    about: "threads of a process",
};

/// The module takes over the process with the arguments after the script.
const SCRIPT: &str = "import sys, pyuwsgi; pyuwsgi.run(sys.argv[1:])";

/// The queue that the others have, as far as the kernel allows: uWSGI does not start with more.
fn listen_queue() -> String {
    const WANTED: u32 = 4096;
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    allowed.trim().parse().unwrap_or(128).min(WANTED).to_string()
}

fn launch(setup: &Setup<'_>) -> Launch {
    let app = setup.app();
    let file = app.display().to_string();
    let folder = app.parent().unwrap_or(app).display().to_string();
    let address = address(setup);
    let callable = setup.settings.get("callable");
    let queue = listen_queue();
    // The one keeps every connection, the other none; neither does as the request says.
    let socket = if setup.traffic.closes() { "--http-socket" } else { "--http11-socket" };
    let mut arguments = vec!["-c", SCRIPT, socket, &address, "--chdir", &folder];
    arguments.extend(["--wsgi-file", &file, "--callable", callable, "--master", "--need-app"]);
    arguments.extend(["--processes", setup.settings.get("workers"), "--listen", &queue]);
    arguments.extend(["--threads", setup.settings.get("threads"), "--die-on-term"]);
    arguments.extend(["--buffer-size", "8192", "--so-keepalive"]);
    if setup.logged("log", "").is_empty() {
        arguments.push("--disable-logging");
    }
    Launch::new(setup.program, arguments)
}
