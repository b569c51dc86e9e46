//! Our own server: files, and pages where the lab file gives an `app`.

use super::setup::as_root;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "vervet",
    about: "files by Vervet; with an app, that template on every path",
    program: Program::Ours,
    beside: &[],
    get: "build it with cargo build --release",
    serves: Serves::Files,
    settings: &[WORKERS, MODE, SITES, ROUTES, LOG_FORMAT, ADMIN],
    version: &["version"],
    launch,
};

const WORKERS: Row =
    Row { name: "workers", default: "1", kind: Kind::Count(1, 256), about: "worker threads" };
const MODE: Row = Row {
    name: "mode",
    default: "run",
    kind: Kind::Word(&["run", "serve"]),
    about: "`vervet run` with a configuration, or `vervet serve` with flags, which supports no other setting",
};
const SITES: Row = Row {
    name: "sites",
    default: "1",
    kind: Kind::Count(1, 10_000),
    about: "number of sites: s0.test, s1.test and so on; a single site serves all hosts",
};
const ROUTES: Row = Row {
    name: "routes",
    default: "0",
    kind: Kind::Count(0, 100),
    about: "routes per site: /r0/*, /r1/* and so on, the last one for all paths",
};
const LOG_FORMAT: Row = Row {
    name: "log_format",
    default: "common",
    kind: Kind::Word(&["common", "combined", "json"]),
    about: "format of the access log",
};
const ADMIN: Row = Row {
    name: "admin",
    default: "off",
    kind: Kind::Word(&["off", "on"]),
    about: "admin listener, on the socket admin.sock in the scratch folder",
};

fn launch(setup: &Setup<'_>) -> Launch {
    if setup.settings.get("mode") == "serve" {
        return serve(setup);
    }
    let file = setup.own("vervet.toml");
    Launch::new(setup.program, ["run", &file]).file("vervet.toml", configuration(setup))
}

/// Flags alone. As for the rivals: connections stay open, and all may come from one address.
fn serve(setup: &Setup<'_>) -> Launch {
    let folder = setup.app().display().to_string();
    let listen = format!("127.0.0.1:{}", setup.port);
    let workers = setup.settings.get("workers");
    let mut arguments = vec!["serve", &folder, "--listen", &listen, "--workers", workers];
    arguments.extend(["--log", "none"]);
    arguments.extend(as_root("--user=root").split_whitespace());
    for limit in
        ["requests_per_connection_max=0", "connections_per_address_max=0", "keep_alive_idle_ms=75s"]
    {
        arguments.extend(["--limit", limit]);
    }
    Launch::new(setup.program, arguments)
}

fn configuration(setup: &Setup<'_>) -> String {
    let log = format!(
        "log.main = {{ file = \"{}\", format = \"{}\" }}\n",
        setup.own("access.log"),
        setup.settings.get("log_format")
    );
    let admin = match setup.settings.get("admin") {
        "on" => format!("admin = \"unix:{}\"\n", setup.own("admin.sock")),
        _ => String::new(),
    };
    // As for the rivals: connections stay open, and all may come from one address.
    let mut text = format!(
        "listen = \"127.0.0.1:{port}\"\nworkers = {workers}\n{user}\
         limits = {{ requests_per_connection_max = 0, connections_per_address_max = 0, keep_alive_idle_ms = \"75s\" }}\n\
         {log}{admin}",
        port = setup.port,
        workers = setup.settings.get("workers"),
        user = as_root("user = \"root\"\n"),
        log = setup.logged(&log, ""),
    );
    let count = |name: &str| setup.settings.get(name).parse::<u32>().unwrap_or(1);
    for site in 0..count("sites") {
        text.push_str("[[site]]\n");
        if count("sites") > 1 {
            text.extend(["hosts = [\"s", &site.to_string(), ".test\"]\n"]);
        }
        text.push_str(setup.logged("log = \"main\"\n", ""));
        let routes = (0..count("routes")).map(|route| format!("/r{route}/*"));
        for path in routes.chain(["/*".to_owned()]) {
            text.push_str(&route(setup, &path));
        }
    }
    text
}

fn route(setup: &Setup<'_>, path: &str) -> String {
    let action = match setup.app {
        Some(page) => format!("page = \"{}\"", page.display()),
        None => format!("files = \"{}\"", setup.site.display()),
    };
    format!("[[site.route]]\npath = \"{path}\"\n{action}\n")
}
