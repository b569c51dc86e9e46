//! The whole configuration document.

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
    /// What happens to connections above `connections_max`.
    pub enum Overload {
        /// Answers 503 with Retry-After and closes the connection.
        Reject = "reject",
        /// Leaves the connection in the accept queue of the kernel until another one ends.
        Wait = "wait",
    }
}

section! {
    /// Restricts the file system that the server can access after its start, with Landlock (Linux
    /// 5.13 or later): it reads only the files and folders that the configuration names, writes
    /// only to the folders of its logs, and cannot execute programs. Folders that a reloaded
    /// configuration names must be below those of the first configuration.
    pub struct Sandbox short(landlock) {
        /// Whether the restriction is enabled.
        pub landlock: bool = true,
        /// Additional folders and files that the server may read.
        pub read: Vec<Path>,
        /// Additional folders that the server may write to.
        pub write: Vec<Path>,
    }
}

section! {
    /// The configuration of `vervet run`.
    pub struct Document {
        /// Further configuration files, whose tables are added to those of this file. Wildcards are
        /// allowed: `"sites/*.toml"`. Only regular files are read, of at most 64 MiB each and 256
        /// MiB in all.
        pub include: Vec<Path>,
        /// The user, by name or number, that the server runs as after it has bound its sockets.
        /// Required if it is started as root; `"root"` keeps root. Log files are opened as this
        /// user.
        pub user: Option<Text>,
        /// The group that the server runs as; if not set, the primary group of `user`.
        pub group: Option<Text>,
        /// The file that contains the process ID while the server runs.
        pub pid_file: Option<Path>,
        /// Restricts access to the file system; if not set, it is not restricted.
        pub sandbox: Option<Sandbox>,
        /// The number of worker threads; `"auto"` is `WEB_CONCURRENCY` if that is set, else the
        /// number of processors that CPU affinity and the cgroup allow.
        pub workers: Workers = "auto",
        /// What happens to connections above `limits.connections_max`.
        pub overload: Overload = "reject",
        /// The value of the Server response header.
        pub server: Text = "Vervet",
        /// Limits of time, memory and connections for clients.
        pub limits: LimitSettings,
        /// Listening sockets. If not set: the sockets inherited from the parent process
        /// (`LISTEN_FDS`), else the port in the environment variable `PORT`, else `127.0.0.1:8080`.
        pub listen: Vec<Listen>,
        /// Trusted reverse proxies, whose headers determine the client address.
        pub forwarded: Option<ForwardedFrom>,
        /// The admin service: health checks, metrics and status; if not set, it is off.
        pub admin: Option<AdminSettings>,
        /// The error log: events of the server itself.
        pub error_log: ErrorLogSettings,
        /// Access logs, by name. Sites and routes select them with `log`.
        pub log: Named<LogSettings>,
        /// Media types by file extension, which override the built-in table:
        /// `{ md = "text/markdown" }`.
        pub media_types: Named<Text>,
        /// The media type of files with an unknown extension.
        pub default_media_type: Text = "application/octet-stream",
        /// Maximum memory of the cache of each worker, which holds small files and the response
        /// heads of all files.
        pub file_cache: Size = "64MiB" in "64KiB"..="1TiB",
        /// Sites (virtual hosts): what is served under which hostnames.
        pub site: Vec<Setting<Arc<Site>>>,
    }
}
