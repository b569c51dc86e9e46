//! `docs/logs.md` names every variable, as the program does.

use std::path::Path;

use vervet_server::access_log::{Argument, VARIABLES, Variable};

fn row(variable: &Variable) -> String {
    let argument = match variable.argument {
        Argument::None => String::new(),
        Argument::Name => ":NAME".to_owned(),
        Argument::OneOf(_) => ":STYLE".to_owned(),
    };
    let nginx = match variable.nginx {
        "" => String::new(),
        name => format!("`{name}`"),
    };
    format!(
        "| `{{{}{argument}}}` | {nginx} | {} |",
        variable.name, variable.meaning
    )
}

#[test]
fn the_guide_has_a_row_for_each_variable_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/logs.md");
    let text = std::fs::read_to_string(path).unwrap();
    let found: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("| `{"))
        .collect();
    let expected: Vec<_> = VARIABLES.iter().map(row).collect();
    assert_eq!(
        found,
        expected,
        "the table should be\n{}",
        expected.join("\n")
    );
}
