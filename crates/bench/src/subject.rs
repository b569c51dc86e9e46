//! The subjects: which servers are compared, and how each is set up. How an expert sets up another server is the lab's to
//! say: its adapters do.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use vervet_lab::adapter::{self, Adapter, Program, Settings};
use vervet_lab::document::Log;
use vervet_lab::subject::find;

use crate::document::{APPLICATION_FILE, Variant, document};
use crate::workload::Workload;

/// What a subject stands for in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The server of this repository.
    Ours,
    /// Another server.
    Rival,
    /// What the machine can do at most.
    Ceiling,
}

#[derive(Clone, Copy)]
enum Kind {
    Vervet,
    /// By the lab's adapter of this name, with these settings beside its defaults.
    Adapter(&'static str, &'static [(&'static str, &'static str)]),
    Canned,
    /// With a configuration.
    Run(Variant),
}

/// Which workloads measure a subject without its being named; a variant that never wins costs time only.
#[derive(Clone, Copy)]
enum Share {
    All,
    Big,
    None,
    /// Those that name it.
    Cast,
}

/// One row of the subject table.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    kind: Kind,
    share: Share,
}

const fn row(name: &'static str, kind: Kind, share: Share) -> Subject {
    Subject { name, kind, share }
}

/// All subjects, in the order of the report.
pub(crate) const SUBJECTS: [Subject; 13] = [
    row("vervet", Kind::Vervet, Share::All),
    row("nginx", Kind::Adapter("nginx", &[]), Share::All),
    row(
        "nginx+nopush",
        Kind::Adapter("nginx", &[("tcp_nopush", "on")]),
        Share::Big,
    ),
    row("lighttpd", Kind::Adapter("lighttpd", &[]), Share::All),
    row(
        "lighttpd+writev",
        Kind::Adapter("lighttpd", &[("network_backend", "writev")]),
        Share::None,
    ),
    row("h2o", Kind::Adapter("h2o", &[]), Share::All),
    row("vervet+run", Kind::Run(Variant::Plain), Share::Cast),
    row("vervet+sites", Kind::Run(Variant::Sites), Share::Cast),
    row(
        "vervet+combined",
        Kind::Run(Variant::Log("combined")),
        Share::Cast,
    ),
    row("vervet+json", Kind::Run(Variant::Log("json")), Share::Cast),
    row("vervet+scraped", Kind::Run(Variant::Scraped), Share::Cast),
    row("bjoern", Kind::Adapter("bjoern", &[]), Share::Cast),
    row("canned", Kind::Canned, Share::All),
];

/// Flags of `vervet serve` beside the folder and the address, the same for every workload.
const VERVET_FLAGS: [&str; 10] = [
    "--workers",
    "1",
    "--log",
    "none",
    // As for the rivals: connections live on, and all may come from one address.
    "--limit",
    "requests_per_connection_max=0",
    "--limit",
    "connections_per_address_max=0",
    "--limit",
    "keep_alive_idle_ms=75s",
];

/// Where a server finds its files, and where it listens.
pub(crate) struct Setup<'a> {
    /// Folder for configurations and state; the site is the folder `site` in it.
    pub(crate) work: &'a Path,
    pub(crate) port: u16,
    pub(crate) workload: &'a Workload,
    pub(crate) vervet: &'a Path,
}

impl Subject {
    /// What the subject stands for.
    pub(crate) fn role(&self) -> Role {
        match self.kind {
            Kind::Vervet | Kind::Run(_) => Role::Ours,
            Kind::Adapter(..) => Role::Rival,
            Kind::Canned => Role::Ceiling,
        }
    }

    /// Says whether the subject takes part in `workload`, with `named` from `--subjects`.
    pub(crate) fn takes_part(&self, workload: &Workload, named: &[String]) -> bool {
        // Copying big contents from memory costs more than sendfile(2): it would be no ceiling.
        let able = self.role() != Role::Ceiling || workload.is_tiny();
        if !workload.cast.is_empty() && !workload.cast.contains(&self.name) {
            return false;
        }
        let wanted = match self.share {
            _ if !named.is_empty() => named.iter().any(|name| name == self.name),
            _ if !workload.cast.is_empty() => true,
            Share::All => true,
            Share::Big => workload.is_big(),
            Share::None | Share::Cast => false,
        };
        able && wanted
    }

    /// The program's file, if it is there.
    pub(crate) fn program(&self, vervet: &Path) -> Option<PathBuf> {
        match self.kind {
            Kind::Vervet | Kind::Run(_) | Kind::Canned => {
                vervet.is_file().then(|| vervet.to_owned())
            }
            Kind::Adapter(name, _) => match adapter::adapter(name)?.program {
                Program::Ours => None,
                Program::Named(names) => names.iter().find_map(|name| find(name)),
                // A Python that has it, which `bench/run` makes.
                Program::Module(_) => env::var_os("BENCH_PYTHON")
                    .map(PathBuf::from)
                    .filter(|file| file.is_file()),
            },
        }
    }

    /// Whether its metrics are scraped each second.
    pub(crate) fn is_scraped(&self) -> bool {
        matches!(self.kind, Kind::Run(Variant::Scraped))
    }

    /// Whether it writes an access log.
    pub(crate) fn is_logged(&self) -> bool {
        matches!(self.kind, Kind::Run(Variant::Log(_)))
    }

    /// Writes the configuration and gives the command line.
    pub(crate) fn command(&self, setup: &Setup<'_>) -> Result<Vec<String>> {
        let program = self.program(setup.vervet).unwrap_or_default();
        let site = setup.work.join("site").display().to_string();
        let tiny = setup.work.join("site/tiny.txt").display().to_string();
        let listen = format!("127.0.0.1:{}", setup.port);
        let arguments = match self.kind {
            Kind::Vervet => {
                let own = ["serve", &site, "--listen", &listen];
                owned(own.into_iter().chain(VERVET_FLAGS))
            }
            Kind::Canned => {
                let close = setup.workload.closes().then_some("--close");
                let own = ["lab", "ceiling", "--listen", &listen, "--content", &tiny];
                owned(own.into_iter().chain(close))
            }
            Kind::Run(variant) => {
                let name = format!("{}-{}.conf", self.name, setup.port);
                let file = setup.work.join(name);
                fs::write(&file, document(variant, setup.work, setup.port))?;
                owned(["run", &file.display().to_string()])
            }
            Kind::Adapter(name, settings) => {
                let adapter = adapter::adapter(name).context("an adapter of the lab")?;
                return self.launched(adapter, settings, setup);
            }
        };
        let program = program.display().to_string();
        Ok([program].into_iter().chain(arguments).collect())
    }

    /// Writes the files of an adapter into a folder of this run, and gives its command line.
    fn launched(
        &self,
        adapter: &Adapter,
        settings: &[(&str, &str)],
        setup: &Setup<'_>,
    ) -> Result<Vec<String>> {
        let folder = setup.work.join(format!("{}-{}", self.name, setup.port));
        fs::create_dir_all(&folder)?;
        let program = self.program(setup.vervet).unwrap_or_default();
        let launch = (adapter.launch)(&adapter::Setup {
            program: &program,
            port: setup.port,
            folder: &folder,
            site: &setup.work.join("site"),
            app: Some(&setup.work.join(APPLICATION_FILE)),
            settings: &Settings::new(adapter.settings, settings.iter().copied()),
            log: Log::None,
            traffic: setup.workload.traffic(),
        });
        for (name, text) in &launch.files {
            fs::write(folder.join(name), text)?;
        }
        // One process with one core is what is compared.
        let mut parts = launch.parts.into_iter();
        let part = parts.next().unwrap_or_default();
        ensure!(
            parts.next().is_none() && part.environment.is_empty(),
            "{} is more than one command",
            self.name
        );
        Ok(part.command)
    }
}

fn owned<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS;
    use vervet_testkit::TempTree;

    const PORT: u16 = 4000;
    const NGINX: &[&str] = &[
        "daemon off;",
        "worker_processes 1;",
        "error_log stderr crit;",
        "worker_connections 16384;",
        "multi_accept on;",
        "use epoll;",
        "access_log off;",
        "etag on;",
        "types { } default_type text/plain;",
        "tcp_nodelay on;",
        "sendfile_max_chunk 0;",
        "keepalive_requests 1000000000;",
        "keepalive_timeout 75s;",
        "reset_timedout_connection on;",
        "open_file_cache_valid 60s;",
        "open_file_cache_min_uses 1;",
        "listen 127.0.0.1:4000 backlog=4096 ",
        "root {work}/site;",
    ];
    const LIGHTTPD: &[&str] = &[
        "server.document-root = \"{work}/site\"",
        "server.bind = \"127.0.0.1\"",
        "server.port = 4000",
        "server.event-handler = \"linux-sysepoll\"",
        "server.stat-cache-engine = \"simple\"",
        "server.max-keep-alive-requests = 65535",
        "server.max-keep-alive-idle = 75",
        "server.max-fds = ",
        "server.max-connections = 9000",
        "server.listen-backlog = 4096",
        "mimetype.assign = ( \"\" => \"text/plain\" )",
    ];
    const H2O: &[&str] = &[
        "num-threads: 1\n",
        "num-name-resolution-threads: 1\n",
        "max-connections: 16384\n",
        "http1-request-timeout: 75\n",
        "listen: { host: 127.0.0.1, port: 4000 }",
        "file.dir: {work}/site",
        "file.send-compressed: OFF",
    ];
    const BJOERN: &[&str] = &[
        "start.py {work} greeting:application 4000",
        "listen_backlog=4096",
    ];

    /// The command line of a subject under a workload, and the files that it is started with.
    fn rendered(name: &str, workload: &str, work: &Path) -> String {
        let subject = SUBJECTS.iter().find(|row| row.name == name).unwrap();
        let setup = Setup {
            work,
            port: PORT,
            workload: WORKLOADS.iter().find(|row| row.name == workload).unwrap(),
            vervet: Path::new("/bin/vervet"),
        };
        let mut text = subject.command(&setup).unwrap().join(" ");
        let folder = work.join(format!("{name}-{PORT}"));
        for file in fs::read_dir(folder).unwrap() {
            text.push('\n');
            text.push_str(&fs::read_to_string(file.unwrap().path()).unwrap());
        }
        text
    }

    /// All of `always` and of `here` stand in what a subject is started with, and nothing of `never`.
    #[track_caller]
    fn check(row: (&str, &str), always: &[&str], here: &[&str], never: &[&str]) {
        let work = TempTree::new();
        let text = rendered(row.0, row.1, work.path());
        let folder = work.path().display().to_string();
        for piece in always.iter().chain(here) {
            let piece = piece.replace("{work}", &folder);
            assert!(text.contains(&piece), "{row:?}: no {piece:?} in\n{text}");
        }
        for piece in never {
            assert!(!text.contains(piece), "{row:?}: {piece:?} in\n{text}");
        }
    }

    #[test]
    fn nginx_is_set_up_for_each_workload() {
        let tiny = ["sendfile off;", "tcp_nopush off;"];
        let large = ["sendfile on;", "tcp_nopush off;"];
        for workload in ["tiny64", "tiny1000", "idle8000", "many", "pipelined"] {
            check(("nginx", workload), NGINX, &tiny, &["deferred"]);
        }
        for workload in ["large100", "large1000", "range"] {
            check(("nginx", workload), NGINX, &large, &["deferred"]);
            let pushed = ["sendfile on;", "tcp_nopush on;"];
            check(("nginx+nopush", workload), NGINX, &pushed, &["deferred"]);
        }
        let deferred = ["sendfile off;", "backlog=4096 deferred;"];
        check(("nginx", "close64"), NGINX, &deferred, &[]);
        // A cache for open files, wherever the tree fits into it.
        check(("nginx", "tiny64"), NGINX, &["open_file_cache max="], &[]);
    }

    #[test]
    fn lighttpd_is_set_up_for_each_workload() {
        let defer = "server.defer-accept = 10";
        let (sent, copied) = (
            ["server.network-backend = \"sendfile\""],
            ["server.network-backend = \"writev\""],
        );
        for workload in ["tiny64", "large100", "range", "many"] {
            check(("lighttpd", workload), LIGHTTPD, &sent, &[defer]);
            check(("lighttpd+writev", workload), LIGHTTPD, &copied, &[defer]);
        }
        check(("lighttpd", "close64"), LIGHTTPD, &[sent[0], defer], &[]);
    }

    #[test]
    fn h2o_and_bjoern_are_the_same_for_all_workloads() {
        for workload in ["tiny64", "close64", "large100", "many"] {
            check(("h2o", workload), H2O, &[], &["access-log"]);
        }
        check(("bjoern", "page64"), BJOERN, &[], &[]);
    }

    #[test]
    fn every_rival_is_an_adapter_of_the_lab() {
        for subject in &SUBJECTS {
            let Kind::Adapter(name, settings) = subject.kind else {
                continue;
            };
            let adapter = adapter::adapter(name).unwrap();
            for (setting, value) in settings {
                let row = adapter.settings.iter().find(|row| row.name == *setting);
                assert_eq!(row.unwrap().refusal(value), None, "{}", subject.name);
            }
        }
    }
}
