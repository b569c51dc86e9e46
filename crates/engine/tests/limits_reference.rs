//! `docs/limits.md` is generated from the table; `VERVET_REGENERATE=1` writes it.

use std::fs;
use std::path::Path;

use vervet_engine::limits::limits_markdown;

#[test]
fn the_reference_of_the_limits_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    if std::env::var_os("VERVET_REGENERATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, limits_markdown()).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed,
        limits_markdown(),
        "run the tests of vervet-engine with VERVET_REGENERATE=1"
    );
}
