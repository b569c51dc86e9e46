//! The image that `packaging/container/Containerfile` describes works under the conditions of a
//! container: a root folder that holds what it copies and nothing else, read-only, its user a
//! number without privileges, its process number 1.
//!
//! No daemon is needed: the file is read here, and the kernel is asked for the same things. What
//! the image copies as the static program is that of `VERVET_DIST_PROGRAM` (`scripts/dist` sets
//! it), or the program of the tests with its libraries.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use vervet_testkit::{Child, PATIENCE, RawClient, TempTree, free_port, skip, wait_for, wait_until};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// More than the buffers of a connection hold.
const BIG_BYTES: usize = 64 << 20;

/// What the runtime of containers does, by the tools of the system. The rest of the line is what it
/// starts.
const RUNTIME: &str = r#"
set -e
[ -z "$CGROUP" ] || echo $$ > "$CGROUP/cgroup.procs"
mount --bind "$ROOT" "$ROOT"
mount --rbind /sys/fs/cgroup "$ROOT/sys/fs/cgroup"
mount -t proc proc "$ROOT/proc"
mount -o remount,bind,ro "$ROOT"
exec env -i "$ENVIRONMENT" "$(command -v setpriv)" --no-new-privs "$(command -v chroot)" --userspec="$OWNER" "$ROOT" "$@"
"#;

/// What the file says.
struct Image {
    tree: TempTree,
    user: String,
    command: Vec<String>,
    admin: SocketAddr,
}

impl Image {
    /// Follows the file line by line; a line that it does not know fails the test.
    fn build() -> Self {
        let file = Path::new(REPOSITORY).join("packaging/container/Containerfile");
        let mut image = Self {
            tree: TempTree::new().dir("proc").dir("sys/fs/cgroup"),
            user: String::new(),
            command: Vec::new(),
            admin: SocketAddr::from(([127, 0, 0, 1], free_port())),
        };
        for line in fs::read_to_string(file).unwrap().lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "#" | "" | "EXPOSE" => {}
                "FROM" => assert_eq!(rest, "scratch"),
                "COPY" => image.copy(rest.split_once(' ').unwrap()),
                // The tests have a port of their own.
                "ENV" => assert_eq!(rest, "PORT=8080"),
                "USER" => rest.clone_into(&mut image.user),
                "STOPSIGNAL" => assert_eq!(rest, "SIGTERM"),
                "ENTRYPOINT" | "CMD" => image.command.extend(words(rest)),
                _ => panic!("{line}"),
            }
        }
        image.move_admin();
        image
    }

    fn copy(&self, (from, to): (&str, &str)) {
        let to = self.tree.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        if from.starts_with("dist/") {
            assert_eq!(from, "dist/vervet-*-x86_64-unknown-linux-musl");
            return self.copy_program(&to);
        }
        let from = Path::new(REPOSITORY).join(from);
        let status = Command::new("cp").arg("-r").args([&from, &to]).status();
        assert!(status.unwrap().success(), "{}", from.display());
    }

    fn copy_program(&self, to: &Path) {
        if let Some(program) = std::env::var_os("VERVET_DIST_PROGRAM") {
            fs::copy(program, to).unwrap();
            return;
        }
        let program = env!("CARGO_BIN_EXE_vervet");
        fs::copy(program, to).unwrap();
        let output = Command::new("ldd").arg(program).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for library in text.split_whitespace().filter(|word| word.starts_with('/')) {
            let to = self.tree.join(library.trim_start_matches('/'));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(library, to).unwrap();
        }
    }

    /// To a free port: tests run in parallel, while containers have their own network.
    fn move_admin(&self) {
        let file = self.tree.join("etc/vervet/vervet.toml");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("\"127.0.0.1:9180\""), "{text}");
        fs::write(file, text.replace("127.0.0.1:9180", &self.admin.to_string())).unwrap();
    }

    fn start(&self, cgroup: Option<&Path>) -> Container {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--pid", "--fork", "bash", "-c", RUNTIME, "runtime"])
            .args(&self.command)
            .env("ROOT", self.tree.path())
            .env("OWNER", &self.user)
            .env("CGROUP", cgroup.unwrap_or(Path::new("")))
            .env("ENVIRONMENT", format!("PORT={}", address.port()));
        let mut child = Child::spawn(command);
        let port = format!(":{}/", address.port());
        child.wait_for_line(|line| line.contains("serving at") && line.ends_with(&port));
        let file = format!("/proc/{0}/task/{0}/children", child.id());
        let text = fs::read_to_string(file).unwrap();
        Container { inside: text.trim().parse().unwrap(), child, address }
    }
}

/// The words of a list as JSON writes it.
fn words(list: &str) -> Vec<String> {
    let words = list.split('"').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

/// A container that runs.
struct Container {
    child: Child,
    /// The server, as it is called outside.
    inside: u32,
    address: SocketAddr,
}

impl Container {
    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.inside)).unwrap()
    }

    fn status(&self, name: &str) -> Vec<String> {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let line = line.unwrap().trim_start_matches(':');
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn terminate(&self) {
        let id = i32::try_from(self.inside).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // The kernel forgets that it was to die with its parent when it becomes another user. Its
        // number is free for others only when the parent, which waits for it, has ended.
        if self.child.exit().is_none() {
            let id = i32::try_from(self.inside).unwrap();
            let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
            self.child.wait_exit(PATIENCE);
        }
    }
}

/// Why there can be no container here.
fn lacking() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("needs root, to mount and to become another user");
    }
    let mut command = Command::new("unshare");
    let status = command.args(["--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "x", "/mnt"]);
    let can = status.status().is_ok_and(|status| status.success());
    (!can).then_some("needs unshare and the right to mount")
}

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn it_serves_without_privileges_from_a_folder_that_cannot_be_written_to() {
    if let Some(why) = lacking() {
        skip!("{why}");
    }
    let image = Image::build();
    let container = image.start(None);
    let response = RawClient::connect(container.address).exchange(REQUEST);
    assert_eq!(response.status, 200);
    assert!(response.text().contains("This is Vervet"));
    assert_eq!(image.user, "65532:65532");
    assert_eq!(container.status("Uid"), ["65532"; 4]);
    assert_eq!(container.status("Gid"), ["65532"; 4]);
    assert_eq!(container.status("CapEff"), ["0000000000000000"]);
    assert_eq!(container.status("NoNewPrivs"), ["1"]);
    assert_eq!(container.status("NSpid").last().unwrap(), "1");
    let mounts = container.proc("mountinfo");
    let root = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let root: Vec<_> = root.filter(|fields| fields[4] == "/").collect();
    assert!(root[0][5].starts_with("ro"), "{mounts}");
}

#[test]
fn its_end_waits_for_the_answers_under_way() {
    if let Some(why) = lacking() {
        skip!("{why}");
    }
    let image = Image::build();
    let big = fs::File::create(image.tree.join("srv/www/big")).unwrap();
    big.set_len(BIG_BYTES as u64).unwrap();
    let mut container = image.start(None);
    let mut socket = TcpStream::connect(container.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"GET /big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut first = [0; 1024];
    socket.read_exact(&mut first).unwrap();
    container.terminate();
    let refuses = || TcpStream::connect(container.address).is_err();
    assert!(wait_until(PATIENCE, refuses), "it still accepts");
    assert!(container.child.exit().is_none(), "it has not waited");
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).unwrap();
    let head = first.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(first.len() - head + rest.len(), BIG_BYTES);
    assert!(container.child.wait_exit(PATIENCE).success());
}

/// A control group that may use one processor; gone with the value.
struct OneProcessor(PathBuf);

impl OneProcessor {
    fn new() -> Option<Self> {
        let name = format!("vervet-test-{}", std::process::id());
        let (folder, file, text) = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            ("/sys/fs/cgroup", "cpu.max", "100000 100000")
        } else {
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000")
        };
        let group = Path::new(folder).join(name);
        fs::create_dir(&group).ok()?;
        let group = Self(group);
        fs::write(group.0.join(file), text).ok()?;
        Some(group)
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        // Processes leave it a moment after they have ended.
        let gone = wait_for(PATIENCE, || fs::remove_dir(&self.0).ok());
        assert!(gone.is_some() || std::thread::panicking(), "{} is in use", self.0.display());
    }
}

/// How many reactors it has.
fn reactors(image: &Image) -> usize {
    let request = "GET /-/status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let response = RawClient::connect(image.admin).exchange(request);
    let text = response.text();
    let (_, rest) = text.split_once("\"open_by_reactor\": [").unwrap();
    rest.split_once(']').unwrap().0.split(',').count()
}

#[test]
fn it_has_as_many_workers_as_its_control_group_allows() {
    if let Some(why) = lacking() {
        skip!("{why}");
    }
    let Some(group) = OneProcessor::new() else {
        skip!("needs a control group of CPU time that can be made");
    };
    let processors = std::thread::available_parallelism().unwrap().get();
    let image = Image::build();
    {
        let _container = image.start(None);
        assert_eq!(reactors(&image), processors);
    }
    let image = Image::build();
    let container = image.start(Some(&group.0));
    assert_eq!(reactors(&image), 1);
    drop(container);
}

/// What the example says to the runtime is what is tried above.
#[test]
fn the_example_gives_it_no_more_than_it_needs() {
    let file = Path::new(REPOSITORY).join("packaging/container/compose.yaml");
    let text = fs::read_to_string(file).unwrap();
    for line in [
        "read_only: true",
        "cap_drop: [ALL]",
        "security_opt: [\"no-new-privileges:true\"]",
        "- \"8080:8080\"",
        "- ../../examples/site:/srv/www:ro",
        "dockerfile: packaging/container/Containerfile",
    ] {
        assert!(text.lines().any(|found| found.trim() == line), "{line}");
    }
}
