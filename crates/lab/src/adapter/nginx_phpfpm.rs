//! nginx before php-fpm, on a private unix socket.

use std::path::PathBuf;

use super::setup::as_root;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup, nginx};
use crate::subject::find;

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "nginx-phpfpm",
    about: "PHP by php-fpm, with nginx as the front end",
    program: Program::Named(&["nginx"]),
    beside: &["php-fpm"],
    get: "install the Debian packages nginx-light, php-fpm and php-sqlite3",
    serves: Serves::App,
    settings: &[nginx::WORKERS, PROCESSES, EXTENSIONS],
    version: &["-v"],
    launch,
};

const PROCESSES: Row = Row {
    name: "processes",
    default: "8",
    kind: Kind::Count(1, 1000),
    about: "processes of php-fpm; each handles one request at a time",
};

const EXTENSIONS: Row = Row {
    name: "extensions",
    default: "pdo sqlite3 pdo_sqlite",
    kind: Kind::Text,
    about: "PHP extensions to load in addition to opcache",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let app = setup.app().display();
    let socket = setup.own("php.sock");
    let pool = format!(
        "[global]
error_log = {errors}
daemonize = no
log_level = error
[www]
listen = {socket}
listen.backlog = 4096
{user}pm = static
pm.max_children = {processes}
pm.max_requests = 0
php_admin_flag[opcache.enable] = on
php_admin_value[opcache.validate_timestamps] = 0
php_admin_flag[expose_php] = off
php_admin_flag[display_errors] = off
",
        errors = setup.own("php-fpm.log"),
        user = as_root("user = root\ngroup = root\n"),
        processes = setup.settings.get("processes"),
    );
    let server = format!(
        "  root {app}; index index.php;
  location ~ \\.php$ {{
    fastcgi_pass php; fastcgi_keep_conn on;
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
    fastcgi_param SCRIPT_NAME $fastcgi_script_name; fastcgi_param QUERY_STRING $query_string;
    fastcgi_param REQUEST_METHOD $request_method; fastcgi_param REQUEST_URI $request_uri;
    fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
    fastcgi_param DOCUMENT_ROOT $document_root; fastcgi_param SERVER_PROTOCOL $server_protocol;
  }}
"
    );
    let upstream = format!("  upstream php {{ server unix:{socket}; keepalive 64; }}\n  server {{");
    let text = nginx::configuration(setup, &server).replacen("  server {", &upstream, 1);
    let fpm = php_fpm().unwrap_or_else(|| "php-fpm".into());
    let pool_file = setup.own("php-fpm.conf");
    // A pool whose processes stay root has to be asked for.
    let mut arguments = vec!["-F", "-n", "-d", "zend_extension=opcache", "-y", &pool_file];
    if !as_root("root").is_empty() {
        arguments.insert(0, "-R");
    }
    // Without the system's files of settings, what the applications need is loaded by name.
    let extensions = setup.settings.get("extensions").split_whitespace();
    let extensions: Vec<String> = extensions.map(|name| format!("extension={name}")).collect();
    arguments.extend(extensions.iter().flat_map(|one| ["-d", one.as_str()]));
    let file = setup.own("nginx.conf");
    Launch::new(&fpm, arguments)
        .and(setup.program, ["-e", "stderr", "-c", &file])
        // nginx answers with 502 as long as php-fpm does not listen.
        .after(&socket)
        .file("php-fpm.conf", pool)
        .file("nginx.conf", text)
}

/// The program, whichever version it is.
fn php_fpm() -> Option<PathBuf> {
    let plain = find("php-fpm");
    plain.or_else(|| (0..10).rev().find_map(|minor| find(&format!("php-fpm8.{minor}"))))
}

/// Whether the program is there.
pub(crate) fn has_php_fpm() -> bool {
    php_fpm().is_some()
}
