//! Where subjects are started: the programs that were found, the generated files, and a folder that
//! is gone afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;

use super::options::RunError;
use crate::adapter::{Setup, Traffic};
use crate::plan::{Plan, PlannedStep, PlannedSubject, SubjectStart};
use crate::subject::{Missing, Running, StartError, StartOptions, SubjectProgram, find_subject};
use crate::workload;

/// Where subjects are started.
#[derive(Debug)]
pub struct Stage<'a> {
    /// The plan that is run.
    pub plan: &'a Plan,
    found: Vec<Result<SubjectProgram, Missing>>,
    ceiling: Vec<String>,
    /// Congestion controls that cannot be set, each with the reason.
    pub(super) unusable: Vec<(String, String)>,
    folder: TempDir,
}

impl<'a> Stage<'a> {
    /// Looks for the programs of all subjects, and makes the files of all trees.
    pub fn set(plan: &'a Plan, ceiling: &[String]) -> Result<Self, RunError> {
        let at = std::env::temp_dir();
        let fail = |error| RunError::Folder(at.clone(), error);
        // Not for us alone: Apache serves as another user.
        let all = fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new()
            .prefix("vervet-lab-")
            .permissions(all)
            .tempdir()
            .map_err(fail)?;
        let found = plan.subjects.iter().map(|subject| {
            let has_ceiling =
                !ceiling.is_empty() || !matches!(subject.start, SubjectStart::Ceiling);
            let missing = || Missing("this program has no canned-response server".to_owned());
            has_ceiling.then_some(()).ok_or_else(missing)?;
            find_subject(subject, &plan.folder)
        });
        let stage = Self {
            plan,
            found: found.collect(),
            ceiling: ceiling.to_vec(),
            unusable: unusable_congestion(plan),
            folder,
        };
        let site = stage.site();
        fs::create_dir_all(&site).map_err(fail)?;
        for tree in &plan.trees {
            workload::create(tree, plan.seed, &site).map_err(RunError::Files)?;
        }
        Ok(stage)
    }

    /// The program of each subject, or why it is missing.
    pub fn found(&self) -> &[Result<SubjectProgram, Missing>] {
        &self.found
    }

    /// Whether a subject can be started.
    pub fn is_there(&self, subject: usize) -> bool {
        self.found[subject].is_ok()
    }

    /// Whether a step can be run: its subject can be started, and its congestion control be set.
    pub fn can_run(&self, step: &PlannedStep) -> bool {
        let control = self.plan.workload(step).congestion.as_ref();
        let is_usable = |control: &String| self.unusable.iter().all(|(name, _)| name != control);
        self.is_there(step.subject) && control.is_none_or(is_usable)
    }

    /// Starts a subject for a load of a workload, with further arguments for the ceiling.
    pub fn start(
        &self,
        workload: usize,
        load: usize,
        subject: usize,
        ceiling: &[String],
    ) -> Result<Running, StartError> {
        let missing =
            |Missing(why): &Missing| StartError::System(std::io::Error::other(why.clone()));
        let found = self.found[subject].as_ref().map_err(missing)?;
        let site = self.site();
        let command: Vec<String> = self.ceiling.iter().chain(ceiling).cloned().collect();
        Running::start(&StartOptions {
            subject: &self.plan.subjects[subject],
            found,
            traffic: traffic(self.plan, workload, load),
            site: &site,
            work: self.folder.path(),
            lab: &self.plan.folder,
            cores: &self.plan.server_cores,
            ceiling: &command,
        })
    }

    /// The command of a subject and the configuration written for it, with placeholders for what
    /// each start chooses.
    pub fn shown(&self, subject: usize) -> (Vec<String>, String) {
        let planned = &self.plan.subjects[subject];
        let (command, configuration) = self.shown_alone(subject, planned);
        if planned.beside.is_empty() {
            return (command, configuration);
        }
        let second = planned.beside.join(" ");
        (command, format!("# second process: {second}\n{configuration}"))
    }

    fn shown_alone(&self, subject: usize, planned: &PlannedSubject) -> (Vec<String>, String) {
        let program = self.found[subject].as_ref().ok().and_then(|found| found.program.clone());
        let program = program.unwrap_or_default();
        let launch = match &planned.start {
            SubjectStart::Adapter(adapter, settings) if !program.as_os_str().is_empty() => {
                (adapter.launch)(&Setup {
                    program: &program,
                    port: 0,
                    folder: Path::new("{folder}"),
                    site: Path::new("{site}"),
                    app: planned.app.as_deref().and_then(Path::file_name).map(Path::new),
                    settings,
                    log: planned.log,
                    traffic: traffic(self.plan, 0, 0),
                })
            }
            SubjectStart::Command(command) => return (command.clone(), String::new()),
            SubjectStart::Ceiling => {
                let command = self.ceiling.iter().map(|word| shown_word(word));
                return (command.collect(), CEILING.to_owned());
            }
            _ => return (Vec::new(), String::new()),
        };
        let commands =
            launch.parts.iter().flat_map(|part| part.command.iter().map(|word| shown_word(word)));
        let files = launch.files.iter().map(|(name, text)| format!("# {name}\n{text}"));
        (commands.collect(), files.collect())
    }

    /// Writes a file of the stage.
    pub fn file(&self, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.folder.path().join(name);
        fs::write(&path, content)?;
        Ok(path)
    }

    fn site(&self) -> PathBuf {
        Path::new(self.folder.path()).join(SITE)
    }
}

/// The configuration of the ceiling in a record.
const CEILING: &str = "\
# One thread, a backlog of 4096. Content from 16 KiB on is sent by sendfile(2).
# The kernel hands connections over with their first bytes (TCP_DEFER_ACCEPT, 1 s).
";

/// Folders of installed programs: paths in these are recorded, as they are the same on other
/// machines.
const SYSTEM: [&str; 4] = ["/usr/", "/bin/", "/sbin/", "/opt/"];

/// A word of a command as a record has it: of a path that this machine alone has, the name of the
/// file.
pub(super) fn shown_word(word: &str) -> String {
    let is_own = word.starts_with('/') && !SYSTEM.iter().any(|place| word.starts_with(place));
    let name = Path::new(word).file_name().filter(|_| is_own);
    name.map_or(word.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The folder of the generated files. No subject can have the name: it would be a path.
const SITE: &str = "@site";

/// The load that the server will receive.
fn traffic(plan: &Plan, workload: usize, load: usize) -> Traffic {
    let of = &plan.workloads[workload];
    let tree = of.tree.map(|tree| &plan.trees[tree]);
    let load = &of.loads[load.min(of.loads.len().saturating_sub(1))];
    Traffic {
        content_bytes_max: tree.map_or(of.expected.length.unwrap_or(0), |tree| tree.bytes_max),
        files: tree.map_or(1, |tree| u64::from(tree.files)),
        connections: load.point().connections,
        connections_max: u64::from(load.connections) + u64::from(load.idle_connections),
    }
}

/// Where the kernel has the default of a namespace.
const CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Sets it. The namespace of the system, which other programs use, is left alone.
pub(super) fn apply_congestion(control: &str) -> Result<(), String> {
    let fail = |why: &str| format!("cannot set congestion control {control}: {why}");
    let current = fs::read_to_string(CONTROL).map_err(|error| fail(&error.to_string()))?;
    if current.trim() == control {
        return Ok(());
    }
    if !*HAS_OWN_NAMESPACE {
        return Err(fail(
            "the network namespace is that of the system (run the lab with bench/lab, in a namespace of its own)",
        ));
    }
    fs::write(CONTROL, control).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => {
            fail("it is not in net.ipv4.tcp_allowed_congestion_control (add it with sysctl)")
        }
        _ => fail(&error.to_string()),
    })
}

/// Whether the network namespace differs from that of process 1 or, where that may not be read, of
/// the parent process. Determined once: the parent may end before the lab does.
static HAS_OWN_NAMESPACE: LazyLock<bool> = LazyLock::new(|| {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let others = namespace("1").or_else(|| namespace(&parent_id().to_string()));
    let own = namespace("self");
    own.is_some() && others.is_some() && own != others
});

/// The congestion controls of a plan that cannot be set, each with the reason.
pub(super) fn unusable_congestion(plan: &Plan) -> Vec<(String, String)> {
    let controls = plan.workloads.iter();
    let controls: BTreeSet<&String> =
        controls.filter_map(|workload| workload.congestion.as_ref()).collect();
    let refused = |control: &String| Some((control.clone(), apply_congestion(control).err()?));
    controls.into_iter().filter_map(refused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_does_not_name_the_folders_of_its_machine() {
        for (word, expected) in [
            ("/srv/ada/vervet/target/release/vervet", "vervet"),
            ("/usr/sbin/nginx", "/usr/sbin/nginx"),
            ("{folder}/nginx.conf", "{folder}/nginx.conf"),
            ("-c", "-c"),
            ("/", "/"),
        ] {
            assert_eq!(shown_word(word), expected);
        }
    }
}
