//! Who is told what was seen, as it comes.

use std::io;

use vervet_watch::{Head, Sample, Summary};

/// Writes down a watch in one way.
pub(crate) trait View {
    /// The watch begins.
    fn begin(&mut self, head: &Head) -> io::Result<()>;
    /// A sample was taken.
    fn sample(&mut self, sample: &Sample) -> io::Result<()>;
    /// That was all.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}
