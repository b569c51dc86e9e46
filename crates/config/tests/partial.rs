//! What is kept of an invalid document, so that further mistakes can be found.
use vervet_config::{Text, read_text, section};

section! {
    /// A pier with one required directive.
    pub struct Pier {
        /// What it is called.
        pub name: Option<Text>,
        /// How deep the water is.
        pub depth: u32 = 3 in 1..=30,
    }
}

section! {
    /// A ship that is kept without its invalid directives.
    pub struct Ship in part {
        /// What it is called.
        pub name: Option<Text>,
        /// How deep it goes.
        pub draught: u32 = 2 in 1..=30,
        /// Where it lies.
        pub pier: Option<Pier>,
    }
}

section! {
    /// A harbour.
    pub struct Harbour {
        /// Its piers.
        pub pier: Vec<Pier>,
        /// Its ships.
        pub ship: Vec<Ship>,
    }
}

#[track_caller]
fn partial(text: &str, findings: usize) -> Harbour {
    let reading = read_text::<Harbour>("harbour.toml", text);
    assert_eq!(reading.diagnostics.len(), findings, "{}", reading.to_text());
    assert!(reading.value.is_none());
    reading.partial.unwrap()
}

#[test]
fn a_section_with_an_invalid_directive_is_dropped() {
    let harbour = partial("pier = [{name = 1}, {name = 'b', depth = 'x'}, {name = 'c'}]", 2);
    let names: Vec<_> = harbour.pier.iter().map(|pier| &*pier.name).collect();
    assert_eq!(names, [&Some("c".to_owned())]);
}

#[test]
fn a_section_in_part_keeps_its_valid_directives() {
    let harbour = partial(
        "ship = [{name = 1, draught = 7}, {name = 'b', draught = 'x'}, {pier = {depth = 'x'}}]",
        3,
    );
    let [first, second, third] = &harbour.ship.value()[..] else {
        panic!("{:?}", harbour.ship);
    };
    assert!(first.name.is_unread() && !first.pier.is_unread());
    assert_eq!(*first.draught, 7);
    assert!(!second.name.is_unread());
    // The default, with the span of the invalid value.
    assert_eq!((*second.draught, second.draught.is_default()), (2, false));
    assert!(third.pier.is_unread() && !third.name.is_unread());
}
