//! What an adapter of tasks receives, and what it returns to be run.

use std::path::Path;

use rustix::process::getuid;

use crate::adapter::{Kind, Process, Row, Settings};

/// What an adapter receives.
#[derive(Clone, Copy, Debug)]
pub struct TaskSetup<'a> {
    /// Path of the server program; empty without a server.
    pub program: &'a Path,
    /// A folder for what is kept, empty, on the disk of the record.
    pub folder: &'a Path,
    /// The socket to listen on.
    pub socket: &'a Path,
    /// The settings of the adapter.
    pub settings: &'a Settings,
}

/// What is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskLaunch {
    /// What is run to its end before, and not measured.
    pub prepare: Vec<Process>,
    /// The server, if it has one.
    pub server: Option<Process>,
    /// The arguments of the client.
    pub client: Vec<String>,
}

/// Whether each put is on the disk before the next one.
pub(super) const DURABLE: Row = Row {
    name: "durable",
    default: "false",
    kind: Kind::Word(&["true", "false"]),
    about: "whether each put is on disk before its response",
};

/// Setting: an index on the keys.
pub(super) const INDEX: Row = Row {
    name: "index",
    default: "true",
    kind: Kind::Word(&["true", "false"]),
    about: "whether the table has an index on its keys",
};

impl TaskSetup<'_> {
    /// A path below the folder, as text.
    pub(super) fn own(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The arguments of the client of a store that is at `place`.
    pub(super) fn client(&self, store: &str, place: &str) -> Vec<String> {
        let mut arguments = vec![store.to_owned(), "--at".to_owned(), place.to_owned()];
        if self.settings.get("durable") == "true" {
            arguments.push("--durable".to_owned());
        }
        if self.settings.get("index") == "false" {
            arguments.push("--no-index".to_owned());
        }
        arguments
    }

    /// What runs a server at the socket, and its client.
    pub(super) fn served(&self, store: &str, arguments: &[&str]) -> TaskLaunch {
        TaskLaunch {
            prepare: Vec::new(),
            server: Some(part(self.program, arguments)),
            client: self.client(store, &self.socket.display().to_string()),
        }
    }
}

/// A program with its arguments.
pub(super) fn part(program: &Path, arguments: &[&str]) -> Process {
    let program = program.display().to_string();
    let arguments = arguments.iter().map(|argument| (*argument).to_owned());
    Process { command: std::iter::once(program).chain(arguments).collect(), ..Process::default() }
}

/// An argument for root alone: servers that refuse to run as root need it.
pub(super) fn as_root(argument: &'static str) -> Option<&'static str> {
    getuid().is_root().then_some(argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::task_adapter;

    #[test]
    fn durability_and_index_reach_the_client() {
        let check = |name: &str, given: (&str, &str), expected: &str, is_there: bool| {
            let adapter = task_adapter(name).unwrap();
            let settings = Settings::new(adapter.settings, [given].into_iter());
            let launch = (adapter.launch)(&TaskSetup {
                program: Path::new("/bin/server"),
                folder: Path::new("/f"),
                socket: Path::new("/s"),
                settings: &settings,
            });
            let mut words = launch
                .client
                .iter()
                .chain(launch.server.iter().flat_map(|part| part.command.iter()));
            let found = words.any(|word| word == expected);
            assert_eq!(found, is_there, "{} {given:?}", adapter.name);
        };
        check("sqlite", ("durable", "true"), "--durable", true);
        check("sqlite", ("durable", "false"), "--durable", false);
        check("sqlite", ("index", "false"), "--no-index", true);
        check("redb", ("durable", "true"), "--durable", true);
        check("redis", ("durable", "true"), "yes", true);
        check("redis", ("durable", "false"), "yes", false);
        let commit = "--innodb-flush-log-at-trx-commit=1";
        check("mariadb", ("durable", "true"), commit, true);
        check("mariadb", ("durable", "false"), commit, false);
        check("mariadb", ("index", "false"), "--no-index", true);
    }
}
