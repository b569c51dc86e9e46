//! The recipes of the guide work: each is served and asked, and answers what the guide shows.

use std::path::Path;

use vervet_testkit::PATIENCE;
use vervet_testkit::docs::NotRun;
use vervet_testkit::recipes::recipes;

/// Recipes that the guide promises in its first sentence.
const RECIPES_MIN: usize = 10;

/// The blocks that are shown and not run.
const NOT_RUN: &[NotRun] = &[
    NotRun {
        file: "docs/guide.md",
        first_line: "cp packaging/systemd/vervet.service packaging/systemd/vervet.socket /etc/systemd/system/",
        why: "there is no systemd to be told in a test; crates/cli/tests/systemd.rs checks the units",
    },
    NotRun {
        file: "docs/guide.md",
        first_line: "make dist",
        why: "needs a daemon of containers; crates/cli/tests/container.rs follows the file without one",
    },
];

#[test]
fn every_recipe_gives_what_the_guide_shows() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recipes = recipes(&repository, "docs/guide.md", NOT_RUN);
    assert!(recipes.len() >= RECIPES_MIN, "{}", recipes.len());
    let binary = Path::new(env!("CARGO_BIN_EXE_vervet"));
    let failures: Vec<_> =
        recipes.iter().filter_map(|recipe| recipe.cook(binary, PATIENCE).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
