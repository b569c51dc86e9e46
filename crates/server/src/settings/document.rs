//! The whole document.

use std::sync::Arc;

use vervet_config::{Named, Path, Setting, Size, Text, section, words};

use super::limits::LimitSettings;
use super::listen::{AdminSettings, Listen};
use super::site::Site;
use super::workers::Workers;
use crate::access_log::LogSettings;
use crate::error_log::ErrorLogSettings;
use crate::filters::forwarded::ForwardedFrom;

words! {
    /// What becomes of connections above `connections_max`.
    pub enum Overload {
        /// 503 with Retry-After.
        Reject = "reject",
        /// They wait in the kernel's queue.
        Wait = "wait",
    }
}

section! {
    /// What of the file system the server sees once it has started: with landlock (Linux 5.13), the
    /// folders that the configuration names, and nothing else. It reads its own files and folders,
    /// writes to those of its logs, and runs nothing. Folders that a later configuration names must
    /// lie below those of the first.
    pub struct Sandbox short(landlock) {
        /// Whether it is restricted.
        pub landlock: bool = true,
        /// Further folders and files that may be read.
        pub read: Vec<Path>,
        /// Further folders that may be written to.
        pub write: Vec<Path>,
    }
}

section! {
    /// A configuration of `vervet run`.
    pub struct Document {
        /// Further files, whose tables are added to those of this one. Wildcards are allowed:
        /// `"sites/*.toml"`.
        pub include: Vec<Path>,
        /// The account that the server becomes when its sockets are bound, by name or number. Who
        /// starts it as root has to give one; `"root"` insists. LogSinks are opened as this
        /// account.
        pub user: Option<Text>,
        /// Its group, where it is not that of the account.
        pub group: Option<Text>,
        /// A file that holds the number of the process while it runs.
        pub pid_file: Option<Path>,
        /// What of the file system the server sees.
        pub sandbox: Option<Sandbox>,
        /// Threads that answer requests; `"auto"` for as many as the processors and the control
        /// group allow.
        pub workers: Workers = "auto",
        /// What becomes of connections above `limits.connections_max`.
        pub overload: Overload = "reject",
        /// The value of the Server field.
        pub server: Text = "Vervet",
        /// What clients may take.
        pub limits: LimitSettings,
        /// Where connections come from. Without any: the sockets that the parent process has left,
        /// else the port that `PORT` names, else `127.0.0.1:8080`.
        pub listen: Vec<Listen>,
        /// Proxies that are believed when they say who the client is.
        pub forwarded: Option<ForwardedFrom>,
        /// What operators and their tools ask the server.
        pub admin: Option<AdminSettings>,
        /// Events of the server itself.
        pub error_log: ErrorLogSettings,
        /// Access logs by their names.
        pub log: Named<LogSettings>,
        /// Media types by extension, before the built-in table: `{ md = "text/markdown" }`.
        pub media_types: Named<Text>,
        /// Media type of files whose extension nobody knows.
        pub default_media_type: Text = "application/octet-stream",
        /// Memory of each worker for entries of files with their heads, and for small files.
        pub file_cache: Size = "64MiB" in "64KiB"..="1TiB",
        /// What is served, by host names.
        pub site: Vec<Setting<Arc<Site>>>,
    }
}
