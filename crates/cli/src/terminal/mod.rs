//! What live views of a terminal share: whether lines can be drawn over, how wide they are, graphs
//! in a line, and the cursor, which is back however the program ends.

mod graph;
mod output;
mod screen;

pub(crate) use graph::{beside, squeezed};
#[cfg(test)]
pub(crate) use output::Size;
pub(crate) use output::{Colours, Output, show_cursor_on_panic};
pub(crate) use screen::{Line, Paint, Screen};
