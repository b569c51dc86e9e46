//! What the documentation shows can be typed: every block of commands of the README and of `docs/` is run.

use std::path::Path;
use std::time::Duration;

use vervet_testkit::docs::{NotRun, Runner, pages, to_run};

/// The blocks that are shown and not run here.
const NOT_RUN: &[NotRun] = &[
    NotRun {
        file: "README.md",
        first_line: "make run",
        why: "builds the release program; scripts/dist starts one",
    },
    NotRun {
        file: "README.md",
        first_line: "make test",
        why: "this test is a part of it",
    },
    NotRun {
        file: "README.md",
        first_line: "make bench",
        why: "takes minutes and the machine for itself",
    },
];

/// Pages whose blocks belong together: tests of their own run them.
const ELSEWHERE: &[&str] = &[
    "docs/guide.md",
    "docs/lab-report.md",
    "docs/migrate-from-nginx.md",
];

/// How long one block may take.
const BLOCK_TIME_MAX: Duration = Duration::from_secs(30);

#[test]
fn every_block_of_the_documentation_works() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = Path::new(env!("CARGO_BIN_EXE_vervet"));
    let runner = Runner {
        binary,
        repository: &repository,
        patience: BLOCK_TIME_MAX,
    };
    let mut blocks = to_run(pages(&repository), NOT_RUN);
    blocks.retain(|block| !ELSEWHERE.contains(&block.file.as_str()));
    assert!(!blocks.is_empty(), "the documentation shows nothing");
    let failures: Vec<_> = blocks
        .iter()
        .filter_map(|block| runner.run(block).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} blocks:\n{}",
        failures.len(),
        blocks.len(),
        failures.join("\n")
    );
}

#[test]
fn the_page_of_the_readme_is_the_one_that_it_serves() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file| std::fs::read_to_string(repository.join(file)).unwrap();
    let page = read("examples/pages/hello.html");
    assert!(read("README.md").contains(&format!("```jinja\n{page}```")));
}
