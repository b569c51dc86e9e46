//! What the documentation shows can be typed: every block of commands of the README and of `docs/`
//! is run.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use vervet_testkit::docs::{Block, NotRun, Runner, pages, to_run};

/// The blocks that are shown and not run here.
const NOT_RUN: &[NotRun] = &[
    NotRun {
        file: "README.md",
        first_line: "make run",
        why: "builds the release program; scripts/dist starts one",
    },
    NotRun { file: "README.md", first_line: "make test", why: "this test is a part of it" },
];

/// Pages whose blocks belong together: tests of their own run them.
const ELSEWHERE: &[&str] = &["docs/guide.md", "docs/lab-report.md", "docs/migrate-from-nginx.md"];

/// How long one block may take.
const BLOCK_TIME_MAX: Duration = Duration::from_secs(30);

/// Blocks of one page that run at a time: each has a copy of the repository and a network of its
/// own.
const PARALLEL_BLOCKS: usize = 2;

/// One test for each page.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];

        $(
            #[test]
            fn $test() {
                check($page);
            }
        )*
    };
}

pages! {
    blocks_of_the_readme_work: "README.md",
    blocks_of_lab_work: "docs/lab.md",
    blocks_of_load_work: "docs/load.md",
    blocks_of_load_scenarios_work: "docs/load-scenarios.md",
    blocks_of_protect_work: "docs/protect.md",
    blocks_of_reports_work: "docs/reports/README.md",
    blocks_of_watch_work: "docs/watch.md",
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks() -> Vec<Block> {
    to_run(pages(&repository()), NOT_RUN)
}

/// Runs all blocks of a page.
#[track_caller]
fn check(page: &str) {
    let mut blocks = blocks();
    blocks.retain(|block| block.file == page);
    assert!(!blocks.is_empty(), "{page} shows no commands");
    let repository = repository();
    let runner = Runner {
        binary: Path::new(env!("CARGO_BIN_EXE_vervet")),
        repository: &repository,
        patience: BLOCK_TIME_MAX,
    };
    let count = blocks.len();
    let waiting = Mutex::new(blocks.into_iter());
    let run = || {
        let next = || waiting.lock().unwrap().next();
        let results = std::iter::from_fn(next).map(|block| runner.run(&block));
        results.filter_map(Result::err).collect::<Vec<_>>()
    };
    let failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..PARALLEL_BLOCKS).map(|_| scope.spawn(run)).collect();
        let failures = threads.into_iter().map(|thread| thread.join().unwrap());
        failures.flatten().collect()
    });
    let failed = failures.len();
    assert!(failures.is_empty(), "{failed} of {count} blocks:\n{}", failures.join("\n"));
}

#[test]
fn each_page_with_commands_has_its_test() {
    for block in blocks() {
        let page = block.file.as_str();
        let is_known = PAGES.contains(&page) || ELSEWHERE.contains(&page);
        assert!(is_known, "{page} needs a test here");
    }
}
