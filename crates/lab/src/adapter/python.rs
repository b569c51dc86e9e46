//! What adapters of Python servers share: the application as a module, and its folder.

use super::{Kind, Row, Setup};

/// The callable of a WSGI application.
pub(super) const CALLABLE: Row = Row {
    name: "callable",
    default: "application",
    kind: Kind::Text,
    about: "name of the application in its file",
};
/// The number of processes.
pub(super) const WORKERS: Row =
    Row { name: "workers", default: "1", kind: Kind::Count(1, 1000), about: "worker processes" };

/// The application's folder and `module:callable`.
pub(super) fn module(setup: &Setup<'_>) -> (String, String) {
    let app = setup.app();
    let folder = app.parent().unwrap_or(app).display().to_string();
    let stem = app.file_stem().unwrap_or_default().to_string_lossy();
    let callable = setup.settings.get("callable");
    (folder, format!("{stem}:{callable}"))
}

/// `127.0.0.1:PORT`.
pub(super) fn address(setup: &Setup<'_>) -> String {
    format!("127.0.0.1:{}", setup.port)
}
