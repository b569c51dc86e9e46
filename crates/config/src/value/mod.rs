//! The types of directives that are not particular to one of them.

mod list;
mod named;
mod number;
mod path;
mod size;
mod text;
mod time;

pub use named::{Name, Named};
pub use path::Path;
pub use size::Size;
pub use text::{FromText, Text};
pub use time::Time;
