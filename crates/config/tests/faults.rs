//! Faults in declarations are found without a document that meets them.

use crate::common::Document;
use vervet_config::{Named, Text, Time, faults};

vervet_config::section! {
    struct Inner short(nothing) {
        /// Documented.
        a: Time = "10x",
        b: Text,
    }
}

vervet_config::section! {
    /// Documented.
    struct Outer {
        /// The default is out of bounds.
        high: u16 = 70 in 1..=60,
        /// The bounds are not times.
        late: Time = "1s" in 1..=2,
        /// The bounds are the wrong way round.
        turned: Option<u8> = _ in 9..=1,
        /// Not of this type.
        word: bool = "yes",
        /// No value of TOML.
        odd: Text = odd,
        /// Itself and others.
        inner: Vec<Named<Option<Inner>>>,
        /// Itself.
        again: Vec<Outer>,
    }
}

#[test]
fn finds_what_is_wrong_with_declarations() {
    assert_eq!(
        faults::<Outer>(),
        [
            "Outer.high: the default is out of bounds",
            "Outer: `1`: `late` is given an integer",
            "Outer: `2`: `late` is given an integer",
            "Outer.turned: the bounds are the wrong way round",
            "Outer: `\"yes\"`: `word` is given a text",
            "Outer.odd: `odd` is not a TOML value",
            "Inner is short for a directive that it does not have",
            "Inner has no documentation",
            "Inner.b has no documentation",
            "Inner: `\"10x\"`: `a` cannot be `10x`: unknown unit of time `x`",
        ]
    );
}

#[test]
fn right_declarations_have_none() {
    assert_eq!(faults::<Document>(), [""; 0]);
}
