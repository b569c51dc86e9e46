//! The table of docs/load.md: each flag of ab, wrk and weighttp has its equal, or the reason why it
//! has none.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use vervet_testkit::{find_program, skip};

/// What the help of weighttp 0.5 names; no distribution has the program.
const WEIGHTTP: &str = "-n -t -c -k -K -6 -i -m -H -b -B -C -F -T -A -P -X -p -u -d -l -r -q -h -V";

/// The rows of the table: the flags of ab, of wrk and of weighttp, and what stands for them here.
fn rows() -> Vec<[String; 4]> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/load.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, table) = text.split_once("| ab | wrk | weighttp | here |\n").unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>().try_into().unwrap()
    })
    .collect()
}

/// The flags between backticks, without what follows them there.
fn flags(cell: &str) -> Vec<String> {
    let quoted = cell.split('`').skip(1).step_by(2);
    let words = quoted.filter_map(|text| text.split_whitespace().next());
    words.filter(|word| word.starts_with('-')).map(str::to_owned).collect()
}

fn column(number: usize) -> BTreeSet<String> {
    rows().iter().flat_map(|row| flags(&row[number])).collect()
}

fn help(program: &Path, flag: &str) -> String {
    let output = Command::new(program).arg(flag).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8(both).unwrap()
}

#[test]
fn each_flag_of_ab_stands_in_the_table() {
    let Some(ab) = find_program("ab") else {
        skip!("needs ab (apache2-utils)");
    };
    let text = help(&ab, "-h");
    let lines = text.lines().filter_map(|line| line.strip_prefix("    -"));
    let its: BTreeSet<String> = lines.map(|line| format!("-{}", &line[..1])).collect();
    assert!(its.len() > 20, "{text}");
    assert_eq!(column(0), its);
}

#[test]
fn each_flag_of_wrk_stands_in_the_table() {
    let Some(wrk) = find_program("wrk") else {
        skip!("needs wrk");
    };
    let text = help(&wrk, "--help");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('-'));
    // By the short name where there is one.
    let first = |line: &str| line.split([',', ' ']).next().unwrap().to_owned();
    let its: BTreeSet<String> = lines.map(first).collect();
    assert!(its.len() > 5, "{text}");
    assert_eq!(column(1), its);
}

#[test]
fn each_flag_of_weighttp_stands_in_the_table() {
    let its: BTreeSet<String> = WEIGHTTP.split(' ').map(str::to_owned).collect();
    assert_eq!(column(2), its);
}

#[test]
fn the_equivalent_flags_exist() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_vervet")).args(["load", "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words: BTreeSet<&str> =
        text.split(|c: char| c.is_whitespace() || ",[]<>:;".contains(c)).collect();
    for row in rows() {
        assert!(!row[3].is_empty(), "{row:?}");
        for flag in flags(&row[3]) {
            assert!(words.contains(flag.as_str()), "{flag} of {row:?}");
        }
    }
}
