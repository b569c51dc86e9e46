//! Live views of a terminal: its capabilities, lines that are redrawn, graphs, and the cursor.

mod output;
mod screen;

#[cfg(test)]
pub(crate) use output::Size;
pub(crate) use output::{Colours, Output, show_cursor_on_panic};
pub(crate) use screen::{Line, Paint, Screen, condensed, with_graph};
