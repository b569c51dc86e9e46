//! Targets against a small `/proc` that is made by hand: names that nobody should have, processes
//! that vanish while they are looked at, sockets whose owner cannot be seen.

use vervet_testkit::TempTree;

use super::{Resolved, find};
use crate::find::FindError;
use crate::kernel_file::Reader;
use crate::target::Target;

/// A `/proc` of processes.
struct Machine(TempTree);

impl Machine {
    fn new() -> Self {
        Self(TempTree::new().dir("self/net"))
    }

    fn process(self, pid: u32, parent: u32, name: &str, line: &str) -> Self {
        let stat = format!("{pid} ({name}) S {parent} 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 9 1 1\n");
        let line = line.replace(' ', "\0") + "\0";
        let tree = self.0.file(format!("{pid}/stat"), stat);
        Self(
            tree.file(format!("{pid}/cmdline"), line)
                .dir(format!("{pid}/task/{pid}"))
                .dir(format!("{pid}/fd")),
        )
    }

    /// A socket that listens on port 8080.
    fn listener(self, inode: u64) -> Self {
        let line = format!("0: 00000000:1F90 00000000:0000 0A 0:0 0:0 0 0 0 {inode} 1\n");
        let path = self.0.join("self/net/tcp");
        let table = std::fs::read_to_string(&path).unwrap_or("head\n".to_owned());
        Self(self.0.file("self/net/tcp", table + &line))
    }

    fn descriptor(self, pid: u32, number: u32, link: &str) -> Self {
        Self(self.0.symlink(format!("{pid}/fd/{number}"), link))
    }

    #[track_caller]
    fn check(&self, target: &str, expected: Result<&[u32], &str>) {
        let target = target.parse().unwrap();
        let found = match find(self.0.path(), &target, &mut Reader::default()) {
            Ok(Resolved::Roots(pids)) => Ok(pids),
            Ok(Resolved::Cgroup(cgroup)) => panic!("{cgroup:?}"),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(found, expected.map(<[u32]>::to_vec).map_err(str::to_owned), "{target}");
    }
}

#[test]
fn missing_targets_are_not_found() {
    let machine = Machine::new().process(7, 1, "sh", "sh").process(8080, 1, "a", "a");
    machine.check("9", Err("there is no process 9, and no process listens on that port"));
    machine.check("pid:9", Err("there is no process 9"));
    machine.check(
        "99999999",
        Err("there is no process 99999999, and no process listens on that port"),
    );
    machine.check("port:80", Err("no process listens on port 80"));
    machine.check("nginx", Err("no process has the name \"nginx\""));
    let none = "no cgroup v2 hierarchy is mounted on this machine or in this container";
    machine.check("/sys/fs/cgroup/a", Err(none));
    machine.check("a.service", Err(none));
    let nowhere = Machine(TempTree::new());
    let gone = nowhere.0.join("gone");
    let error = find(&gone, &Target::Pid(1), &mut Reader::default()).unwrap_err();
    assert!(matches!(error, FindError::Proc(path, _) if path == gone));
}

#[test]
fn a_number_that_is_both_is_refused() {
    let machine = Machine::new()
        .process(8080, 1, "a", "a")
        .process(12, 1, "b", "b")
        .listener(500)
        .descriptor(12, 3, "socket:[500]");
    let both = "8080 is a process ID and a port with a listener: write pid:8080 or port:8080";
    machine.check("8080", Err(both));
    machine.check("pid:8080", Ok(&[8080]));
    machine.check("port:8080", Ok(&[12]));
    machine.check("12", Ok(&[12]));
}

#[test]
fn a_number_may_be_a_port() {
    let machine =
        Machine::new().process(12, 1, "b", "b").listener(500).descriptor(12, 3, "socket:[500]");
    machine.check("8080", Ok(&[12]));
}

#[test]
fn a_listener_whose_owner_cannot_be_seen_says_so() {
    let machine =
        Machine::new().process(12, 1, "b", "b").descriptor(12, 3, "socket:[501]").listener(500);
    let hidden = "cannot see which process listens on port 8080 (run as its user, or as root)";
    machine.check("port:8080", Err(hidden));
}

#[test]
fn a_port_means_the_topmost_of_its_owners() {
    let machine = Machine::new()
        .process(1, 0, "systemd", "/sbin/init")
        .process(12, 1, "master", "m")
        .process(13, 12, "worker", "w")
        .process(20, 1, "other", "o")
        .listener(500)
        .listener(600)
        .descriptor(1, 3, "socket:[500]")
        .descriptor(12, 0, "/dev/null")
        .descriptor(12, 4, "socket:[500]")
        .descriptor(13, 4, "socket:[500]")
        .descriptor(20, 9, "socket:[600]");
    machine.check(":8080", Ok(&[12, 20]));
}

#[test]
fn the_service_manager_owns_a_port_only_if_no_other_process_does() {
    let machine = Machine::new().process(1, 0, "systemd", "/sbin/init").listener(5).descriptor(
        1,
        3,
        "socket:[5]",
    );
    machine.check(":8080", Ok(&[1]));
}

#[test]
fn names_may_be_odd() {
    let machine = Machine::new()
        .process(5, 1, "a) S 99 (b", "x")
        .process(6, 1, "tmux: server", "tmux")
        .process(7, 1, "python3", "/usr/bin/python3.11 -u /usr/bin/gunicorn app")
        .process(8, 1, "nginx", "nginx: master process /usr/sbin/nginx")
        .process(9, 8, "nginx", "nginx: worker process")
        .process(10, 1, "a_very_long_nam", "/opt/a_very_long_name_indeed --flag")
        .process(11, 1, "pythonic", "/bin/pythonic gunicorn")
        .process(12, 1, "kworker/0:0", "");
    machine.check("a) S 99 (b", Ok(&[5]));
    machine.check("tmux: server", Ok(&[6]));
    machine.check("name:tmux: server", Ok(&[6]));
    machine.check("tmux", Ok(&[6]));
    machine.check("gunicorn", Ok(&[7]));
    machine.check("nginx", Ok(&[8]));
    machine.check("a_very_long_name_indeed", Ok(&[10]));
    machine.check("name:kworker/0:0", Ok(&[12]));
    machine.check("-u", Err("no process has the name \"-u\""));
}

#[test]
fn the_watch_does_not_match_itself() {
    let me = std::process::id();
    let machine = Machine::new()
        .process(5, 1, "sh", "sh")
        .process(me, 5, "vervet", "vervet watch vervet")
        .process(7, 1, "vervet", "vervet serve");
    machine.check("vervet", Ok(&[7]));
    machine.check("sh", Err("no process has the name \"sh\""));
}

#[test]
fn processes_that_exit_during_the_search_are_skipped() {
    let machine = Machine::new().process(5, 1, "nginx", "nginx").process(6, 1, "nginx", "nginx");
    let machine = Machine(machine.0.file("6/stat", "6 (nginx) S").dir("7"));
    machine.check("nginx", Ok(&[5]));
    let zombie = Machine(
        Machine::new().0.file("8/stat", "8 (nginx) Z 1 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 9 1 1"),
    );
    zombie.check("nginx", Err("no process has the name \"nginx\""));
}

#[test]
fn a_thread_is_not_a_process() {
    let machine = Machine(Machine::new().0.dir("9/task/8"));
    machine.check("pid:9", Err("there is no process 9"));
}
