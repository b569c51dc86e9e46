//! `cores`: who runs where.

use vervet_config::section;

section! {
    /// Which cores the server has, and which the generator. Neither takes from the other when they are apart.
    pub struct Cores {
        /// The cores of every subject, by their number in /proc/cpuinfo.
        pub server: Vec<u32> = [0],
        /// The cores of the generator.
        pub generator: Vec<u32> = [1],
    }
}
