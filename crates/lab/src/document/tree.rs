//! `[tree.NAME]`: files that are made for the lab.

use vervet_config::{Size, Text, section};

section! {
    /// Files that are made for the lab, the same ones from the same seed. They are served below `/NAME/`.
    pub struct Tree {
        /// How many.
        pub files: u32 = 1 in 1..=1_000_000,
        /// The size of each, or of the smallest.
        pub size: Size = "100B" in 0..="1GiB",
        /// The size of the largest; sizes between are drawn evenly.
        pub size_max: Option<Size> = _ in 0..="1GiB",
        /// What every file holds, in the place of drawn bytes.
        pub content: Option<Text>,
    }
}
