//! Runs the recipes of a guide: each chapter of a page is a folder with its files, a server, and
//! commands with the output that the page shows.
//!
//! A recipe is a chapter (`## …`) and its blocks, in order. A block after a line that ends with a
//! name in backquotes and a colon is a file of that name; a block of `toml` without a name is
//! `vervet.toml`. A block of `sh` is run in the folder, and a following block of `text` is its
//! expected output, in which `…` stands for any text. Before the first block of `sh`, if there is a
//! `vervet.toml`, `vervet check` must accept it, and `vervet run` is started. If possible, all of
//! it runs in a network namespace, so that ports are free.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::child::Child;
use crate::docs::{NotRun, has_own_network, insist};
use crate::tree::TempTree;
use crate::wait::{PATIENCE, wait_for};

/// What is served.
const CONFIGURATION: &str = "vervet.toml";

/// One chapter of the guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The heading of the chapter.
    pub title: String,
    /// The page, relative to the root of the repository.
    pub file: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// The first line of the block, counted from 1.
    line: usize,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File { name: String, text: String },
    Run { script: String, printed: Option<String> },
}

struct Block<'p> {
    language: &'p str,
    /// The last line before it that is not empty.
    before: &'p str,
    line: usize,
    text: String,
}

/// The chapters of a page that have blocks. Blocks of `console` are shown and not run: each must
/// stand in `not_run`, and each entry of that page must be there.
#[track_caller]
pub fn recipes(repository: &Path, file: &str, not_run: &[NotRun]) -> Vec<Recipe> {
    let page = fs::read_to_string(repository.join(file))
        .unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    recipes_of(file, &page, not_run)
}

#[track_caller]
fn recipes_of(file: &str, page: &str, not_run: &[NotRun]) -> Vec<Recipe> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut shown: Vec<String> = Vec::new();
    let mut title = String::new();
    for part in parts(page) {
        let block = match part {
            PagePart::Heading(heading) => {
                heading.clone_into(&mut title);
                continue;
            }
            PagePart::Block(block) => block,
        };
        if block.language == "console" {
            shown.push(block.text.lines().next().unwrap_or_default().to_owned());
            continue;
        }
        if recipes.last().is_none_or(|recipe| recipe.title != title) {
            recipes.push(Recipe { title: title.clone(), file: file.to_owned(), steps: Vec::new() });
        }
        let recipe = recipes.last_mut().expect("one was just put there");
        recipe.take(&block);
    }
    let listed = not_run.iter().filter(|entry| entry.file == file);
    let listed: Vec<_> = listed.map(|entry| entry.first_line).collect();
    assert_eq!(shown, listed, "{file}: blocks of `console`, which are not run");
    recipes
}

enum PagePart<'p> {
    Heading(&'p str),
    Block(Block<'p>),
}

fn parts(page: &str) -> Vec<PagePart<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut before = "";
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => {
                parts.extend(open.take().map(PagePart::Block));
                // A name applies to the next block only.
                before = "";
            }
            (Some(block), None) => block.text.extend([line, "\n"]),
            (None, Some(language)) => {
                open = Some(Block { language, before, line: index + 2, text: String::new() });
            }
            (None, None) => {
                parts.extend(line.strip_prefix("## ").map(PagePart::Heading));
                before = if line.is_empty() { before } else { line };
            }
        }
    }
    parts
}

impl Recipe {
    #[track_caller]
    fn take(&mut self, block: &Block<'_>) {
        let (line, text) = (block.line, block.text.clone());
        let kind = match (block.language, name_before(block.before)) {
            ("sh", _) => Kind::Run { script: text, printed: None },
            ("text", None) => return self.expect(line, text),
            ("toml", None) => Kind::File { name: CONFIGURATION.to_owned(), text },
            (_, Some(name)) => Kind::File { name: name.to_owned(), text },
            (other, None) => panic!("{}:{line}: nothing reads a block of `{other}`", self.file),
        };
        self.steps.push(Step { line, kind });
    }

    #[track_caller]
    fn expect(&mut self, line: usize, text: String) {
        match self.steps.last_mut().map(|step| &mut step.kind) {
            Some(Kind::Run { printed, .. }) if printed.is_none() => *printed = Some(text),
            _ => panic!("{}:{line}: a block of `text` stands behind one of `sh`", self.file),
        }
    }

    /// Does all of it with the built `vervet`; commands have `patience` to print what they are
    /// expected to. The error says which line of the page does not hold, and what came instead.
    pub fn cook(&self, binary: &Path, patience: Duration) -> Result<(), String> {
        let bin = TempTree::new().symlink("vervet", binary);
        let mut kitchen = Kitchen { folder: TempTree::new(), bin, server: None, patience };
        for step in &self.steps {
            kitchen.step(step).map_err(|error| format!("{}:{}: {error}", self.file, step.line))?;
        }
        if kitchen.server.is_some() {
            return Ok(());
        }
        kitchen.check().map_err(|error| format!("{}, {}: {error}", self.file, self.title))
    }
}

/// What stands in backquotes at the end of a line that ends with a colon.
fn name_before(line: &str) -> Option<&str> {
    line.strip_suffix("`:")?.rsplit('`').next()
}

struct Kitchen {
    folder: TempTree,
    bin: TempTree,
    server: Option<Child>,
    patience: Duration,
}

impl Kitchen {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match &step.kind {
            Kind::File { name, text } => {
                self.folder.write(name, text);
                Ok(())
            }
            Kind::Run { script, printed } => {
                self.serve()?;
                self.run(script, printed.as_deref())
            }
        }
    }

    /// Where it holds a configuration: that it is valid.
    fn check(&self) -> Result<(), String> {
        if !self.folder.join(CONFIGURATION).exists() {
            return Ok(());
        }
        let mut command = Command::new(self.bin.join("vervet"));
        command.args(["check", CONFIGURATION]);
        let output = output(self.prepared(&mut command));
        let said = String::from_utf8_lossy(&output.stderr);
        let fine = format!("vervet: {CONFIGURATION} is valid\n");
        if output.status.success() && said == fine {
            return Ok(());
        }
        Err(format!("{CONFIGURATION} is not fine:\n{said}"))
    }

    fn serve(&mut self) -> Result<(), String> {
        if self.server.is_some() || !self.folder.join(CONFIGURATION).exists() {
            return Ok(());
        }
        self.check()?;
        let mut command = isolated();
        command.arg("exec vervet run");
        let mut server =
            Child::spawn(std::mem::replace(self.prepared(&mut command), Command::new("true")));
        let ready = wait_for(PATIENCE, || {
            let is_serving = |line: &crate::Line| line.text.contains("serving at");
            if server.lines().iter().any(is_serving) {
                return Some(true);
            }
            server.exit().map(|_| false)
        });
        if ready != Some(true) {
            return Err(format!("it does not serve: {:#?}", server.lines()));
        }
        self.server = Some(server);
        Ok(())
    }

    /// Runs commands until they print what is expected: what a signal asks for takes a moment.
    fn run(&mut self, script: &str, printed: Option<&str>) -> Result<(), String> {
        let mut printed_last = String::new();
        let done = wait_for(self.patience, || {
            let mut command = self.beside_server();
            command.arg(script);
            let output = output(self.prepared(&mut command));
            let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
            let said = String::from_utf8_lossy(&output.stderr);
            let fits = printed.is_none_or(|expected| fits(expected, &text));
            printed_last = format!("{text}{said}({})\n", output.status);
            (output.status.success() && fits).then_some(())
        });
        let server = self.server.as_ref();
        let lines = server.map_or_else(Vec::new, Child::lines);
        done.ok_or_else(|| {
            let expected = printed.unwrap_or("success\n");
            format!(
                "{script}expected:\n{expected}printed:\n{printed_last}the server said: {lines:#?}"
            )
        })
    }

    /// A shell in the network of the server.
    fn beside_server(&self) -> Command {
        let server = self.server.as_ref().map(|server| server.id().to_string());
        let Some(id) = server.filter(|_| has_own_network()) else {
            let mut command = Command::new("bash");
            command.arg("-ec");
            return command;
        };
        let mut command = Command::new("nsenter");
        command.args(["--preserve-credentials", "--user", "--net", "--target", &id]);
        command.args(["bash", "-ec"]);
        command
    }

    fn prepared<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.bin.path().display()))
            .env("HOME", self.folder.path())
            .env("NO_COLOR", "1");
        insist(command);
        command
    }
}

/// A shell in a network of its own, which takes its script as the next argument and becomes what
/// that executes.
fn isolated() -> Command {
    if has_own_network() {
        let mut command = Command::new("unshare");
        let script = "ip link set lo up; eval \"$0\"";
        command.args(["--map-root-user", "--net", "bash", "-ec", script]);
        return command;
    }
    let mut command = Command::new("bash");
    command.arg("-ec");
    command
}

#[track_caller]
fn output(command: &mut Command) -> Output {
    command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// Whether a text is what is expected, `…` standing for anything.
fn fits(expected: &str, text: &str) -> bool {
    let mut pieces = expected.trim().split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.trim().strip_prefix(first) else {
        return false;
    };
    let mut has_gap = false;
    for piece in pieces {
        has_gap = true;
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty() || (has_gap && expected.trim().ends_with('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_stands_for_anything() {
        let rows = [
            ("a\n", "a", true),
            ("a", "b", false),
            ("a", "ab", false),
            ("a…", "abc", true),
            ("a…c", "abc\n", true),
            ("a…c", "abcd", false),
            ("a\n…\nz", "a\nb\nz", true),
            ("…z", "abz", true),
            ("…a…", "xyz", false),
        ];
        for (expected, text, holds) in rows {
            assert_eq!(fits(expected, text), holds, "{expected:?} for {text:?}");
        }
    }

    const PAGE: &str = "# Page\n\n## One\n\n```toml\nx = 1\n```\n\nThe page `www/a.html`:\n\n```html\n<p>\n```\n\n\
                        ```sh\necho a\n```\n\n```text\na\n```\n\n## Two\n\n```console\nreboot\n```\n";

    const REBOOT: NotRun =
        NotRun { file: "a.md", first_line: "reboot", why: "the machine is needed" };

    #[test]
    fn takes_files_and_commands_in_their_order() {
        let file = |name: &str, text: &str| Kind::File { name: name.into(), text: text.into() };
        let run = Kind::Run { script: "echo a\n".into(), printed: Some("a\n".into()) };
        let steps =
            [(6, file("vervet.toml", "x = 1\n")), (12, file("www/a.html", "<p>\n")), (16, run)];
        let steps = steps.map(|(line, kind)| Step { line, kind });
        let recipe = Recipe { title: "One".into(), file: "a.md".into(), steps: steps.into() };
        assert_eq!(recipes_of("a.md", PAGE, &[REBOOT]), [recipe]);
    }

    #[test]
    #[should_panic(expected = "which are not run")]
    fn a_block_that_nobody_runs_has_to_be_listed() {
        recipes_of("a.md", PAGE, &[]);
    }

    #[test]
    #[should_panic(expected = "a.md:4: nothing reads a block of `yaml`")]
    fn rejects_a_block_that_nothing_reads() {
        recipes_of("a.md", "## One\n\n```yaml\nx: 1\n```\n", &[]);
    }

    #[track_caller]
    fn check_fails(page: &str, expected: &str) {
        let recipe = &recipes_of("a.md", page, &[])[0];
        let error = recipe.cook(Path::new("/bin/false"), Duration::ZERO).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_configuration_with_a_mistake_fails() {
        check_fails("## One\n\n```toml\nx = 1\n```\n", "vervet.toml is not fine");
    }

    #[test]
    fn commands_that_fail_or_print_something_else_fail() {
        check_fails("## One\n\n```sh\necho seen; false\n```\n", "a.md:4: ");
        let page = "## One\n\n```sh\necho b\n```\n\n```text\na\n```\n";
        check_fails(page, "expected:\na\nprinted:\nb\n");
    }
}
