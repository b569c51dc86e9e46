//! Apache with PHP in its processes: the module wants the prefork way of serving.

use std::path::Path;

use super::{Adapter, Kind, Launch, Row, Serves, Setup, apache};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "apache-php",
    about: "PHP by Apache and its module, prefork",
    program: apache::PROGRAM,
    beside: &["libphp.so"],
    get: "install the Debian packages apache2-bin, libapache2-mod-php and php-sqlite3",
    serves: Serves::App,
    settings: &[PROCESSES],
    version: &["-v"],
    launch,
};

const PROCESSES: Row = Row {
    name: "processes",
    default: "64",
    kind: Kind::Count(1, 1000),
    about: "processes; each handles one connection",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let modules = apache::modules(setup.program);
    let processes = setup.settings.get("processes");
    let php = php_module(Path::new(&modules)).unwrap_or_default();
    let own = format!(
        "LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule php_module {modules}/{php}
LoadModule dir_module {modules}/mod_dir.so
ServerLimit {processes}
StartServers {processes}
MinSpareServers {processes}
MaxSpareServers {processes}
MaxRequestWorkers {processes}
MaxConnectionsPerChild 0
DirectoryIndex index.php
DocumentRoot \"{app}\"
php_admin_flag opcache.enable On
php_admin_value opcache.validate_timestamps 0
php_admin_flag expose_php Off
<FilesMatch \"\\.php$\">
  SetHandler application/x-httpd-php
</FilesMatch>
",
        app = setup.app().display(),
    );
    apache::start(setup, &own)
}

/// The file of the PHP module, whichever version it is.
fn php_module(modules: &Path) -> Option<String> {
    let entries = std::fs::read_dir(modules).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_php = |name: &String| {
        let version = name.strip_prefix("libphp");
        version.is_some_and(|rest| rest.strip_suffix(".so").is_some())
    };
    let mut names: Vec<String> = names.filter(is_php).collect();
    names.sort();
    names.pop()
}

/// Whether Apache has its PHP module.
pub(crate) fn has_php_module(program: &Path) -> bool {
    php_module(Path::new(&apache::modules(program))).is_some()
}
