//! The commands of the documentation, taken out of it and run, so that no page shows one that does
//! not work.
//!
//! A block is what stands between a line of three backquotes with `sh` and the closing line. It
//! runs in a copy of the repository, with the built `vervet` first in `PATH`, where possible in a
//! network of its own that has nothing but loopback (so ports are free and nothing leaves the
//! machine), and with everything that it started killed at the end. The block of `toml` before it
//! on its page, if there is one, lies there as `vervet.toml`.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::child::Child;
use crate::tree::TempTree;
use crate::wait::wait_for;

/// One block of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The page, relative to the root of the repository.
    pub file: String,
    /// The line of the first command, counted from 1.
    pub line: usize,
    /// The commands of the block.
    pub script: String,
    /// The configuration that the page shows before them.
    pub configuration: Option<String>,
}

/// A block that is not run, and why. It is known by its page and its first line.
#[derive(Debug, Clone, Copy)]
pub struct NotRun {
    /// The page, relative to the root of the repository.
    pub file: &'static str,
    /// The first line of the block.
    pub first_line: &'static str,
    /// Why it is not run here.
    pub why: &'static str,
}

impl Block {
    /// All blocks of one page.
    pub fn all_of(file: &str, page: &str) -> Vec<Self> {
        let mut blocks = Vec::new();
        let mut configuration = None;
        let mut open: Option<(&str, Self)> = None;
        for (index, line) in page.lines().enumerate() {
            match (&mut open, line.trim().strip_prefix("```")) {
                (Some(_), Some(_)) => match open.take() {
                    Some(("sh", block)) => blocks.push(block),
                    Some(("toml", block)) => configuration = Some(block.script),
                    _ => {}
                },
                (Some((_, block)), None) => block.script.extend([line, "\n"]),
                (None, Some(language)) => {
                    let block = Self {
                        file: file.to_owned(),
                        line: index + 2,
                        script: String::new(),
                        configuration: configuration.clone(),
                    };
                    open = Some((language, block));
                }
                (None, None) => {}
            }
        }
        blocks
    }

    /// The first line of its commands.
    pub fn first_line(&self) -> &str {
        self.script.lines().next().unwrap_or_default()
    }

    /// Whether its last command is a server in the foreground: such a block has succeeded once it
    /// tells its address.
    pub fn ends_serving(&self) -> bool {
        let mut lines = self.script.lines().map(str::trim);
        let last =
            lines.rfind(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
        let serves = ["vervet serve", "vervet run"];
        serves.iter().any(|command| last.starts_with(command)) && !last.ends_with('&')
    }
}

/// The pages of a repository whose blocks are run: the README, what lies in `docs`, and the README
/// of its reports.
#[track_caller]
pub fn pages(repository: &Path) -> Vec<Block> {
    let reports = PathBuf::from("docs/reports/README.md");
    let mut files = vec![PathBuf::from("README.md")];
    files.extend(Some(reports).filter(|file| repository.join(file).is_file()));
    let docs = fs::read_dir(repository.join("docs")).into_iter().flatten().flatten();
    files.extend(docs.map(|entry| Path::new("docs").join(entry.file_name())));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let blocks = files.iter().flat_map(|file| {
        let page = fs::read_to_string(repository.join(file));
        let page = page.unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        Block::all_of(&file.to_string_lossy(), &page)
    });
    blocks.collect()
}

/// The blocks that are to be run. Panics when an entry of `not_run` fits none: the list must not
/// outlive the pages.
#[track_caller]
pub fn to_run(blocks: Vec<Block>, not_run: &[NotRun]) -> Vec<Block> {
    let fits = |entry: &NotRun, block: &Block| {
        entry.file == block.file && entry.first_line == block.first_line()
    };
    for entry in not_run {
        let there = blocks.iter().any(|block| fits(entry, block));
        assert!(
            there,
            "no block of {} begins with {:?}: take the entry out",
            entry.file, entry.first_line
        );
    }
    blocks.into_iter().filter(|block| !not_run.iter().any(|entry| fits(entry, block))).collect()
}

/// What blocks are run with.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The path of the built `vervet`.
    pub binary: &'a Path,
    /// The root of the repository; blocks see a copy of its tracked files.
    pub repository: &'a Path,
    /// How long one block may take.
    pub patience: Duration,
}

impl Runner<'_> {
    /// Runs one block. The error says which, how it ended, and what it wrote.
    pub fn run(&self, block: &Block) -> Result<(), String> {
        let copy = TempTree::new();
        self.copy_into(&copy);
        if let Some(configuration) = &block.configuration {
            copy.write("vervet.toml", configuration);
        }
        let bin = TempTree::new().symlink("vervet", self.binary);
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = isolated_shell();
        command.arg(&block.script).current_dir(copy.path()).process_group(0);
        command.env("PATH", format!("{}:{path}", bin.path().display()));
        command.env("HOME", copy.path());
        insist(&mut command);
        let mut shell = Child::spawn(command);
        let ended = wait_for(self.patience, || {
            let serves = || shell.lines().iter().any(|line| line.text.contains("http://"));
            if block.ends_serving() && serves() {
                return Some(Ok(()));
            }
            let exit = shell.exit()?;
            let good = exit.success() && !block.ends_serving();
            Some(if good { Ok(()) } else { Err(format!("ended with {exit}")) })
        });
        let group =
            Pid::from_raw(i32::try_from(shell.id()).expect("a process number")).expect("not zero");
        // None of the group may be left, in which case there is nothing to kill.
        let _ = kill_process_group(group, Signal::KILL);
        let ended = ended.unwrap_or_else(|| Err(format!("still ran after {:?}", self.patience)));
        ended.map_err(|how| self.report(block, &how, &shell))
    }

    fn report(&self, block: &Block, how: &str, shell: &Child) -> String {
        let mut wrote = String::new();
        for line in shell.lines() {
            wrote.extend([
                "    ", &line.text, "
",
            ]);
        }
        let Block { file, line, script, .. } = block;
        format!(
            "{file}:{line}: the block {how} with {}\n{script}it wrote:\n{wrote}",
            self.binary.display()
        )
    }

    fn copy_into(&self, copy: &TempTree) {
        let listed = Command::new("git")
            .args(["-c", "safe.directory=*", "-C"])
            .arg(self.repository)
            .args(["ls-files", "-z"])
            .output();
        let listed = listed.expect("git lists its files").stdout;
        assert!(!listed.is_empty(), "git lists no files: blocks would run in an empty folder");
        for file in
            String::from_utf8(listed).expect("file names that are text").split_terminator('\0')
        {
            let from = self.repository.join(file);
            // A tracked file may have been removed in the working tree.
            if from.is_file() {
                let to = copy.join(file);
                fs::create_dir_all(to.parent().expect("a file lies in a folder"))
                    .expect("a folder in the copy");
                fs::copy(&from, &to).unwrap_or_else(|error| panic!("cannot copy {file}: {error}"));
            }
        }
    }
}

/// Lets a server started as root, also in a user namespace, keep running as root.
pub(crate) fn insist(command: &mut Command) {
    if rustix::process::geteuid().is_root() || has_own_network() {
        command.env("VERVET_USER", "root");
    }
}

/// A shell that stops at the first error and takes its script as the next argument.
fn isolated_shell() -> Command {
    const STRICT: &str = "set -euo pipefail; eval \"$0\"";
    if has_own_network() {
        let mut command = Command::new("unshare");
        let script = format!("ip link set lo up; {STRICT}");
        command.args(["--map-root-user", "--net", "bash", "-c", &script]);
        return command;
    }
    let mut command = Command::new("bash");
    command.args(["-c", STRICT]);
    command
}

/// Whether a network namespace can be created: containers often forbid it.
pub(crate) fn has_own_network() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "ip", "link", "set", "lo", "up"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::PATIENCE;

    const PAGE: &str = "# Page\n\n```sh\necho one\n```\n\n```toml\nx = 1\n```\n\n- item\n  ```sh\n  vervet serve .\n  ```\n";

    fn block(script: &str) -> Block {
        Block { file: "README.md".into(), line: 1, script: script.into(), configuration: None }
    }

    fn run(script: &str, patience: Duration) -> Result<(), String> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        let binary = repository.join("tests/data/fake-vervet");
        Runner { binary: &binary, repository, patience }.run(&block(script))
    }

    #[track_caller]
    fn fails(script: &str, patience: Duration, expected: &str) {
        let error = run(script, patience).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_block_that_fails_is_shown_with_what_it_wrote() {
        fails("echo seen; false; echo unseen\n", PATIENCE, "    seen\n");
        fails("false | true\n", PATIENCE, "ended with exit status: 1");
        fails("echo $unset_variable\n", PATIENCE, "unset_variable");
    }

    #[test]
    fn a_block_that_does_not_end_fails() {
        fails("sleep 60\n", Duration::from_millis(50), "still ran after");
    }

    #[test]
    fn a_server_that_ends_by_itself_fails() {
        fails("vervet() { true; }\nvervet serve .\n", PATIENCE, "ended with exit status: 0");
    }

    #[test]
    fn commands_run_in_a_copy_of_the_repository() {
        run("test -f Cargo.toml\ntouch made-by-a-block\n", PATIENCE).unwrap();
        assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("made-by-a-block").exists());
    }

    #[test]
    fn a_server_in_the_foreground_has_to_tell_its_address() {
        run("# a comment\nvervet serve .\n\n", PATIENCE).unwrap();
    }

    #[test]
    fn what_a_block_leaves_in_the_background_is_killed() {
        let tree = TempTree::new();
        let note = tree.join("pid");
        run(&format!("sleep 60 &\necho $! > {}\n", note.display()), PATIENCE).unwrap();
        let pid = fs::read_to_string(note).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        // Killed, it may wait as a zombie for its new parent.
        let gone = || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        assert!(crate::wait_until(PATIENCE, gone), "{pid} still runs");
    }

    #[test]
    fn takes_the_shell_blocks_of_a_page() {
        let blocks = Block::all_of("a.md", PAGE);
        let found: Vec<_> =
            blocks.iter().map(|block| (block.line, block.script.as_str())).collect();
        assert_eq!(found, [(4, "echo one\n"), (13, "  vervet serve .\n")]);
        assert_eq!(blocks.iter().map(Block::ends_serving).collect::<Vec<_>>(), [false, true]);
        assert!(!block("vervet serve . &\n").ends_serving());
        assert!(block("vervet run\n").ends_serving());
        let configurations: Vec<_> = blocks.iter().map(|block| &block.configuration).collect();
        assert_eq!(configurations, [&None, &Some("x = 1\n".to_owned())]);
    }

    #[test]
    fn the_list_of_blocks_that_are_not_run_fits() {
        let entry =
            NotRun { file: "README.md", first_line: "make test", why: "this runs within it" };
        let run = to_run(vec![block("make test\n"), block("true\n")], &[entry]);
        assert_eq!(run, [block("true\n")]);
    }

    #[test]
    #[should_panic(expected = "take the entry out")]
    fn a_stale_entry_of_that_list_is_refused() {
        let entry =
            NotRun { file: "README.md", first_line: "make test", why: "this runs within it" };
        to_run(vec![block("true\n")], &[entry]);
    }
}
