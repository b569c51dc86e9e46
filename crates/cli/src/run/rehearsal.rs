//! A start without serving: finds what `vervet run` would refuse, as the account that it would run
//! as. For `vervet check`, and for a start that has failed and reports all errors at once.

use std::path::Path;

use nix::unistd::geteuid;
use vervet_server::config::{Diagnostic, Diagnostics, Span};
use vervet_server::engine::listener::ListenAddress;
use vervet_server::plan::Plan;
use vervet_server::settings::Document;
use vervet_server::staging::{Account, rehearse, unreadable, unwritable};

use super::pid_file::PidFile;
use super::privilege::{Identity, PrivilegeError, identity, take_on};

/// Finds the problems of starting a server with this plan. `file` is the configuration file, if
/// there is one: a reload reads it again. This process takes on the account of the configuration
/// for good, if it can, so it must serve nothing.
pub(crate) fn rehearse_start(plan: &Plan, file: Option<&Path>) -> Diagnostics {
    let document = plan.document();
    let mut found = check_process(document);
    let user = document.user.value().as_deref();
    let taken = take_on(user, document.group.value().as_deref());
    match taken {
        Ok(identity) => {
            let account = account_of(document, &identity);
            found.extend_with_later(plan.denials(&account).explain(&rehearse(plan)));
            found.extend(check_afterwards(document, file, &account));
        }
        // Root can start the server; what its account may do is known to root alone.
        Err(PrivilegeError::NotRoot { .. }) => found.extend_with_later(rehearse(plan)),
        Err(error) => {
            // An unknown account has been reported.
            let later = Diagnostic::error(document.user.span(), error.to_string());
            found.extend_with_later(later.into());
            found.extend_with_later(rehearse(plan));
        }
    }
    found
}

/// The account of a document whose user has this identity.
pub(super) fn account_of(document: &Document, identity: &Identity) -> Account {
    let user = document.user.value().clone();
    Account { user: user.unwrap_or_else(|| geteuid().to_string()), gid: identity.gid() }
}

/// What the process that starts a server has to have: the account, and folders for the pid file and
/// unix sockets.
pub(super) fn check_process(document: &Document) -> Diagnostics {
    let mut found = Diagnostics::new();
    let (user, group) = (document.user.value().as_deref(), document.group.value().as_deref());
    if let Err(error) = identity(user, group) {
        let span = if error.is_of_group() { document.group.span() } else { document.user.span() };
        found.push(Diagnostic::error(span, error.to_string()));
    }
    // Root starts a server that changes its user: the rights of others do not matter then.
    if !geteuid().is_root() && user.is_some() {
        return found;
    }
    if let Some(path) = document.pid_file.value()
        && let Err(error) = PidFile::check(path)
    {
        found.push(Diagnostic::error(document.pid_file.span(), error.to_string()));
    }
    for (folder, span) in socket_folders(document) {
        if !folder.is_dir() {
            let message = format!("the folder {} of the socket does not exist", folder.display());
            found.push(Diagnostic::error(span, message));
        }
    }
    found
}

/// The folders of the unix sockets of a document.
fn socket_folders(document: &Document) -> Vec<(&Path, Span)> {
    let listeners = document.listen.iter().map(|listen| &listen.address);
    let admin = document.admin.value().iter().map(|admin| &admin.address);
    let sockets = listeners.chain(admin).filter_map(|address| match &address.value().0 {
        ListenAddress::Unix(path) => Some((folder_of(path), address.span())),
        _ => None,
    });
    sockets.collect()
}

/// The folder of a file, which may be a name alone.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != "").unwrap_or(Path::new("."))
}

/// Warns of what the account cannot do later: remove the pid file, or read the configuration.
fn check_afterwards(document: &Document, file: Option<&Path>, account: &Account) -> Diagnostics {
    let mut found = Diagnostics::new();
    if let Some(path) = document.pid_file.value()
        && let Some(reason) = unwritable(folder_of(path), account)
    {
        let message = "the pid file cannot be removed when the server ends";
        found.push(Diagnostic::warning(document.pid_file.span(), message).note(reason));
    }
    for (folder, span) in socket_folders(document) {
        if let Some(reason) = unwritable(folder, account) {
            let message = "the socket cannot be removed when the server ends";
            found.push(Diagnostic::warning(span, message).note(reason));
        }
    }
    if let Some(file) = file
        && let Some(reason) = unreadable(file, account)
    {
        let message = format!("a reload cannot read {}", file.display());
        found.push(Diagnostic::warning(Span::NOWHERE, message).note(reason));
    }
    found
}
