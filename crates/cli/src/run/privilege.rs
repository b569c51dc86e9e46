//! Drops privileges: root opens what only root may open, then switches to an unprivileged user for
//! good, and verifies it.
//!
//! The identity is a matter of each thread. The C library changes all threads together; what keeps
//! a program from gaining privileges (`no_new_privs`) is set for the calling thread and those it
//! starts. So this is for the main thread before it has started others, and what the kernel says of
//! every thread is read afterwards.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fmt;
use std::fs;
use std::io;

use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;
use nix::unistd::{
    Gid, Group, Uid, User, getegid, geteuid, getgrouplist, setgroups, setresgid, setresuid,
};

/// User and groups of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    uid: u32,
    gid: u32,
    /// Supplementary groups, if they were set; inherited ones are not listed.
    groups: Option<BTreeSet<u32>>,
}

impl Identity {
    /// The number of the primary group.
    pub(super) fn gid(&self) -> u32 {
        self.gid
    }
}

/// Why privileges cannot be dropped: a fault of the configuration or the system.
#[derive(Debug)]
pub(crate) enum PrivilegeError {
    /// The process runs as root without `user`.
    Root,
    /// The process is not root, and cannot switch users.
    NotRoot { user: String, own_uid: u32 },
    /// A group without a user.
    NoUser,
    /// The user or group does not exist.
    Unknown { kind: &'static str, name: String },
    /// A number without an account, and without a group.
    NoGroup(String),
    /// The system refused.
    System { what: &'static str, errno: Errno },
    /// The kernel's own words could not be read.
    Unproved(io::Error),
    /// Something is left that was to be dropped.
    Left(String),
}

impl fmt::Display for PrivilegeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str(
                "refusing to serve as root: set user (or --user) to an account without privileges, or to \"root\"",
            ),
            Self::NotRoot { user, own_uid } => write!(
                f,
                "cannot switch to user {user}: this process has uid {own_uid} (start as root, or leave user out)"
            ),
            Self::NoUser => f.write_str("group is set without user (set user, too)"),
            Self::Unknown { kind, name } => {
                write!(f, "{kind} {name} not found (getent {} lists all)", database(kind))
            }
            Self::NoGroup(user) => {
                write!(f, "the user {user} has no account with a group (set group, too)")
            }
            Self::System { what, errno } => {
                write!(f, "cannot {what}: {}", errno.desc().to_lowercase())
            }
            Self::Unproved(error) => {
                write!(f, "cannot verify that privileges were dropped: {error}")
            }
            Self::Left(what) => write!(f, "privileges were not dropped: {what}"),
        }
    }
}

impl std::error::Error for PrivilegeError {}

impl PrivilegeError {
    /// Whether `group` is at fault, and not `user`.
    pub(super) fn is_of_group(&self) -> bool {
        matches!(self, Self::NoUser | Self::Unknown { kind: "group", .. })
    }
}

fn database(kind: &str) -> &'static str {
    match kind {
        "group" => "group",
        _ => "passwd",
    }
}

/// `uid 33, gid 33`
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uid {}, gid {}", self.uid, self.gid)
    }
}

/// Switches to `user` and `group`, each a name or a number, if given. The process cannot gain
/// privileges afterwards.
///
/// Root switches to the user with the supplementary groups of its account, and keeps no privileges.
/// It stays root only if `user` is root.
pub(crate) fn take_on(user: Option<&str>, group: Option<&str>) -> Result<Identity, PrivilegeError> {
    let (own_user, own_group) = (geteuid(), getegid());
    let mut identity = identity(user, group)?;
    if (identity.uid, identity.gid) == (own_user.as_raw(), own_group.as_raw()) {
        identity.groups = None;
    } else if own_user.is_root() {
        become_other(&identity)?;
    } else {
        return Err(PrivilegeError::NotRoot {
            user: user.unwrap_or_default().to_owned(),
            own_uid: own_user.as_raw(),
        });
    }
    set_no_new_privs().map_err(system("forbid new privileges"))?;
    prove(&identity)?;
    Ok(identity)
}

/// The identity that [`take_on`] switches to.
pub(super) fn identity(
    user: Option<&str>,
    group: Option<&str>,
) -> Result<Identity, PrivilegeError> {
    let (own_user, own_group) = (geteuid(), getegid());
    match user {
        Some(user) => find(user, group),
        None if own_user.is_root() => Err(PrivilegeError::Root),
        None if group.is_some() => Err(PrivilegeError::NoUser),
        None => Ok(Identity { uid: own_user.as_raw(), gid: own_group.as_raw(), groups: None }),
    }
}

fn find(user: &str, group: Option<&str>) -> Result<Identity, PrivilegeError> {
    let account = match user.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(user),
    };
    let account = account.map_err(system("read the accounts"))?;
    let uid = match (&account, user.parse()) {
        (Some(account), _) => account.uid.as_raw(),
        (None, Ok(number)) => number,
        (None, Err(_)) => {
            return Err(PrivilegeError::Unknown { kind: "user", name: user.to_owned() });
        }
    };
    let gid = match (group, &account) {
        (Some(group), _) => find_group(group)?,
        (None, Some(account)) => account.gid,
        (None, None) => return Err(PrivilegeError::NoGroup(user.to_owned())),
    };
    let name = account.and_then(|account| CString::new(account.name).ok());
    let groups = match name {
        Some(name) => getgrouplist(&name, gid).map_err(system("read the groups"))?,
        None => vec![gid],
    };
    Ok(Identity {
        uid,
        gid: gid.as_raw(),
        groups: Some(groups.into_iter().map(Gid::as_raw).collect()),
    })
}

fn find_group(group: &str) -> Result<Gid, PrivilegeError> {
    if let Ok(number) = group.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(group).map_err(system("read the groups"))?;
    found
        .map(|found| found.gid)
        .ok_or_else(|| PrivilegeError::Unknown { kind: "group", name: group.to_owned() })
}

/// Groups first: they are root's to set. The saved ids go, too, else there would be a way back.
fn become_other(identity: &Identity) -> Result<(), PrivilegeError> {
    let groups = identity.groups.iter().flatten();
    let groups: Vec<_> = groups.map(|group| Gid::from_raw(*group)).collect();
    setgroups(&groups).map_err(system("set supplementary groups"))?;
    let gid = Gid::from_raw(identity.gid);
    setresgid(gid, gid, gid).map_err(system("set the group"))?;
    let uid = Uid::from_raw(identity.uid);
    setresuid(uid, uid, uid).map_err(system("set the user"))
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> PrivilegeError {
    move |errno| PrivilegeError::System { what, errno }
}

/// Verifies the identity of every thread.
fn prove(identity: &Identity) -> Result<(), PrivilegeError> {
    let threads = fs::read_dir("/proc/self/task").map_err(PrivilegeError::Unproved)?;
    for thread in threads {
        let thread = thread.map_err(PrivilegeError::Unproved)?;
        let status =
            fs::read_to_string(thread.path().join("status")).map_err(PrivilegeError::Unproved)?;
        if let Some(left) = left_over(&status, identity) {
            let thread = thread.file_name().display().to_string();
            return Err(PrivilegeError::Left(format!("thread {thread} has {left}")));
        }
    }
    Ok(())
}

/// What a thread has beyond an identity, by its `/proc/PID/task/TID/status` (proc(5)).
fn left_over(status: &str, identity: &Identity) -> Option<String> {
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).unwrap_or_default()
    };
    let numbers = |name: &str| -> Vec<u32> {
        let words = value(name).split_ascii_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    // Real, effective, saved and file system's.
    let ids = [("Uid:", identity.uid), ("Gid:", identity.gid)];
    let id = ids.iter().find(|(name, id)| numbers(name) != [*id; 4]);
    if let Some((name, _)) = id {
        return Some(format!("{name} {}", value(name)));
    }
    if value("NoNewPrivs:") != "1" {
        return Some(format!("NoNewPrivs: {}", value("NoNewPrivs:")));
    }
    let groups = identity.groups.as_ref()?;
    if numbers("Groups:").into_iter().collect::<BTreeSet<_>>() != *groups {
        return Some(format!("Groups: {}", value("Groups:")));
    }
    if identity.uid == 0 {
        return None; // root has all of them
    }
    let has_some = |name: &&&str| value(name).bytes().any(|digit| digit != b'0');
    let sets = ["CapPrm:", "CapEff:", "CapAmb:"];
    let set = sets.iter().find(has_some)?;
    Some(format!("{set} {}", value(set)))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    use vervet_testkit::{find_program, skip};

    use super::*;

    const STATUS: &str = "Name:\tvervet\nUid:\t33\t33\t33\t33\nGid:\t34\t34\t34\t34\nGroups:\t34 40 \n\
        CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n\
        CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";

    /// What is found in a status that differs from the good one like this.
    #[track_caller]
    fn check_status(from: &str, to: &str, expected: Option<&str>) {
        let identity = Identity { uid: 33, gid: 34, groups: Some([34, 40].into()) };
        assert!(STATUS.contains(from));
        let status = STATUS.replacen(from, to, 1);
        let found = left_over(&status, &identity);
        assert_eq!(found.as_deref(), expected, "{to}");
    }

    #[test]
    fn leftover_privileges_are_found() {
        let check = check_status;
        check("Uid:\t33\t33\t33\t33", "Uid:\t33\t33\t0\t33", Some("Uid: 33\t33\t0\t33"));
        check("Uid:", "Mid:", Some("Uid: "));
        check("34\t34\nG", "0\t34\nG", Some("Gid: 34\t34\t0\t34"));
        check("34 40 ", "34 40 0", Some("Groups: 34 40 0"));
        check("34 40 ", "34", Some("Groups: 34"));
        check("NoNewPrivs:\t1", "NoNewPrivs:\t0", Some("NoNewPrivs: 0"));
        check("NoNewPrivs:\t1", "", Some("NoNewPrivs: "));
        for set in ["CapPrm", "CapEff", "CapAmb"] {
            let (from, to) =
                (format!("{set}:\t0000000000000000"), format!("{set}:\t0000000000000400"));
            check(&from, &to, Some(&format!("{set}: 0000000000000400")));
        }
        check("34 40 ", "40 34", None);
    }

    #[track_caller]
    fn check_unknown(user: &str, group: Option<&str>, expected: &str) {
        let error = find(user, group).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn missing_targets_are_named() {
        check_unknown(
            "nobody-of-this-name",
            None,
            "user nobody-of-this-name not found (getent passwd lists all)",
        );
        check_unknown(
            "root",
            Some("no-group-of-this-name"),
            "group no-group-of-this-name not found (getent group lists all)",
        );
        check_unknown("-1", None, "user -1 not found (getent passwd lists all)");
        check_unknown(
            "3999999",
            None,
            "the user 3999999 has no account with a group (set group, too)",
        );
        let found = find("3999999", Some("3999998")).unwrap();
        assert_eq!(found.to_string(), "uid 3999999, gid 3999998");
        assert_eq!(found.groups, Some([3_999_998].into()));
    }

    /// Set for a process that is to change who it is: `user:group`, either of them empty for none.
    const WANTED: &str = "VERVET_TEST_IDENTITY";

    /// The whole life of such a process: it says what became of it, and waits until it is looked
    /// at.
    #[test]
    #[ignore = "run by other tests as another process"]
    fn child() {
        let Ok(wanted) = std::env::var(WANTED) else {
            return;
        };
        let (user, group) = wanted.split_once(':').unwrap();
        let some = |name| Some(name).filter(|name: &&str| !name.is_empty());
        match take_on(some(user), some(group)) {
            Ok(identity) => println!("RESULT {identity}"),
            Err(error) => println!("RESULT error: {error}"),
        }
        let _ = std::io::stdin().lines().next();
    }

    /// What becomes of a process that `setpriv` starts like this and that wants to be another, and
    /// what the kernel says of its threads.
    fn run(started: &[&str], wanted: &str) -> (String, Vec<String>) {
        let test = ["run::privilege::tests::child", "--ignored", "--exact", "--nocapture"];
        let mut child = Command::new(find_program("setpriv").unwrap())
            .args(started)
            .arg(std::env::current_exe().unwrap())
            .args(test)
            .env(WANTED, wanted)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.lines().map_while(Result::ok);
        let result =
            lines.find_map(|line| line.split_once("RESULT ").map(|(_, text)| text.to_owned()));
        let threads = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let status = |thread: io::Result<fs::DirEntry>| thread.unwrap().path().join("status");
        let statuses = threads.map(|thread| fs::read_to_string(status(thread)).unwrap());
        let statuses = statuses.collect();
        writeln!(child.stdin.take().unwrap()).unwrap();
        lines.for_each(drop);
        assert!(child.wait().unwrap().success());
        (result.unwrap(), statuses)
    }

    /// The test program has another thread during the test, so settings of a single thread must be
    /// set before: `NO_NEW` for results that need it.
    const NO_NEW: &str = "--no-new-privs";
    /// What a shell or a service manager may have left.
    const GROUPS: &str = "--groups=0,4,27";
    const STRANGER: [&str; 4] = ["--reuid=3999999", "--regid=3999999", "--clear-groups", NO_NEW];

    fn cannot_run() -> Option<&'static str> {
        if !geteuid().is_root() {
            return Some("needs root");
        }
        find_program("setpriv").is_none().then_some("needs setpriv")
    }

    #[test]
    fn root_is_refused_without_permission() {
        if let Some(why) = cannot_run() {
            skip!("{why}");
        }
        let refusal = "error: refusing to serve as root: set user (or --user) to an account without privileges, or to \"root\"";
        assert_eq!(run(&[NO_NEW], ":").0, refusal);
        assert_eq!(run(&[NO_NEW], "root:").0, "uid 0, gid 0");
        let (result, threads) = run(&[GROUPS, NO_NEW], "root:3999998");
        assert_eq!(result, "uid 0, gid 3999998");
        assert!(threads[0].contains("\nGid:\t3999998\t3999998\t3999998\t3999998\n"));
    }

    #[test]
    fn other_users_than_root_stay_unchanged() {
        if let Some(why) = cannot_run() {
            skip!("{why}");
        }
        let as_it_was = "uid 3999999, gid 3999999";
        assert_eq!(run(&STRANGER, ":").0, as_it_was);
        assert_eq!(run(&STRANGER, "3999999:3999999").0, as_it_was);
        let refusal = "error: cannot switch to user root: this process has uid 3999999 \
                       (start as root, or leave user out)";
        assert_eq!(run(&STRANGER, "root:").0, refusal);
        let refusal = "error: group is set without user (set user, too)";
        assert_eq!(run(&STRANGER, ":3999999").0, refusal);
    }

    /// FEATURES Y3: "then uid/gid/groups dropped, proved in /proc", as seen from another process.
    #[test]
    fn root_becomes_another_and_keeps_nothing() {
        if let Some(why) = cannot_run() {
            skip!("{why}");
        }
        let nobody = User::from_name("nobody").unwrap().unwrap();
        let (uid, gid) = (nobody.uid.as_raw(), nobody.gid.as_raw());
        for (wanted, uid, gid) in [
            ("nobody:".to_owned(), uid, gid),
            (format!("{uid}:"), uid, gid),
            ("3999999:3999998".to_owned(), 3_999_999, 3_999_998),
        ] {
            let (result, threads) = run(&[GROUPS, NO_NEW], &wanted);
            assert_eq!(result, format!("uid {uid}, gid {gid}"), "{wanted}");
            let none = "0000000000000000";
            for line in [
                format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}"),
                format!("Gid:\t{gid}\t{gid}\t{gid}\t{gid}"),
                format!("Groups:\t{gid} "),
                format!("CapPrm:\t{none}"),
                format!("CapEff:\t{none}"),
                format!("CapAmb:\t{none}"),
            ] {
                let has_line = |status: &String| status.lines().any(|found| found == line);
                assert!(threads.iter().all(has_line), "{line} in {threads:?}");
            }
        }
    }

    /// What was not given to all threads was not given.
    #[test]
    fn a_thread_that_could_gain_privileges_is_found() {
        if let Some(why) = cannot_run() {
            skip!("{why}");
        }
        let (result, threads) = run(&[GROUPS], "nobody:");
        let left = "error: privileges were not dropped: thread ";
        assert!(result.starts_with(left) && result.ends_with(" has NoNewPrivs: 0"), "{result}");
        let gains_nothing = |status: &&String| status.contains("\nNoNewPrivs:\t1\n");
        assert_eq!(threads.iter().filter(gains_nothing).count(), 1);
    }
}
